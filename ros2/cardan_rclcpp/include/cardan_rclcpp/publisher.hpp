// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "cardan/publisher.hpp"
#include "cardan_rclcpp/convert.hpp"
#include "cardan_rclcpp/detail/waitable.hpp"

namespace cardan::ros {

/// Publishes Cardan messages of type T from an rclcpp node: `auto frame = out.loan(); fill(*frame);
/// out.publish(std::move(frame));`. It needs no executor, and may outlive its node.
/// Thread safety: one thread at a time, which the callbacks of one mutually exclusive group are; two threads need two
/// publishers. publish() is wait-free (best effort); that of a ROS message copies it.
template <Message T>
class Publisher {
 public:
  /// `node`: an rclcpp::Node or LifecycleNode, or a pointer to one (`this`). The topic's name follows the namespace and
  /// the remappings of the node. Throws cardan::Error as cardan::Publisher does, and rclcpp's exceptions for names.
  template <class Node>
  Publisher(Node&& node, const Topic<T>& topic, const PublisherOptions& options = {})
      : publisher_(Topic<T>{detail::NodeParts::of(node).resolve(topic.name).c_str(), topic.options}, options) {}

  /// A slot with a freshly constructed T. Empty when all loans are out.
  [[nodiscard]] Loan<T> loan() noexcept { return publisher_.loan(); }
  /// As cardan::Publisher::publish.
  bool publish(Loan<T>&& loan) noexcept { return publisher_.publish(std::move(loan)); }
  bool publish(const T& message) noexcept
    requires std::is_trivially_copyable_v<T>
  {
    return publisher_.publish(message);
  }
  /// Publishes a copy of a ROS message, for code that stays as it is. Returns false as above, or when all loans are
  /// out. Throws cardan::Error (Limit) or std::length_error for a message that does not fit; then nothing is published.
  template <class Ros>
    requires detail::IsRosMessageOf<Ros, T>
  bool publish(const Ros& message) {
    Loan<T> copy = loan();
    if (!copy) return false;
    from_ros(message, *copy);
    return publish(std::move(copy));
  }

  [[nodiscard]] std::uint64_t published() const noexcept { return publisher_.published(); }
  [[nodiscard]] std::size_t subscribers() const { return publisher_.subscribers(); }
  /// The name after namespace and remappings.
  [[nodiscard]] const std::string& topic() const noexcept { return publisher_.topic(); }

 private:
  cardan::Publisher<T> publisher_;
};

}  // namespace cardan::ros
