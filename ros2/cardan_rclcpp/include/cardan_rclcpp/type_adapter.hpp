// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cardan/local_message.hpp"
#include "cardan/sample.hpp"
#include "cardan_rclcpp/convert.hpp"
#include "rclcpp/type_adapter.hpp"

// Cardan's messages as types of rclcpp's own publishers and subscriptions (REP-2007). This way goes over ROS 2's
// middleware with its copies; within one process and with intra-process communication it copies nothing.

namespace cardan::ros {

/// A message that may have come from Cardan or from ROS 2, read-only and shared like a `shared_ptr`:
/// `rclcpp::TypeAdapter<cardan::ros::Shared<cardan::Image>, sensor_msgs::msg::Image>`.
/// Made from a sample it holds that sample, without a copy. Empty after default construction.
/// Thread safety: as shared_ptr.
template <Message T>
class Shared {
 public:
  Shared() noexcept = default;
  /// Keeps the sample, which counts among the subscription's `holds`. Allocates a few bytes.
  Shared(Sample<T> sample) {  // NOLINT(google-explicit-constructor): so that publish(sample) works
    if (!sample) return;
    auto kept = std::make_shared<const Sample<T>>(std::move(sample));
    message_ = std::shared_ptr<const T>(kept, kept->get());
  }
  Shared(LocalMessage<T> message) {  // NOLINT(google-explicit-constructor): so that publish(message) works
    auto kept = std::make_shared<const LocalMessage<T>>(std::move(message));
    message_ = std::shared_ptr<const T>(kept, &**kept);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return message_ != nullptr; }
  const T& operator*() const noexcept { return *message_; }
  const T* operator->() const noexcept { return message_.get(); }
  [[nodiscard]] const T* get() const noexcept { return message_.get(); }

 private:
  std::shared_ptr<const T> message_;
};

}  // namespace cardan::ros

/// An empty `Shared` becomes an empty message.
template <cardan::Message T>
struct rclcpp::TypeAdapter<cardan::ros::Shared<T>, typename cardan::ros::RosType<T>::type> {
  using is_specialized = std::true_type;
  using custom_type = cardan::ros::Shared<T>;
  using ros_message_type = cardan::ros::RosMessage<T>;

  static void convert_to_ros_message(const custom_type& from, ros_message_type& to) {
    if (from)
      cardan::ros::to_ros(*from, to);
    else
      to = ros_message_type();
  }
  /// Throws cardan::Error (Limit) for texts that Cardan's message has no room for.
  static void convert_to_custom(const ros_message_type& from, custom_type& to) {
    cardan::LocalMessage<T> message(cardan::ros::bytes_of<T>(from));
    cardan::ros::from_ros(from, *message);
    to = std::move(message);
  }
};

namespace cardan::ros {

/// For `rclcpp::Node::create_publisher<cardan::ros::Adapted<cardan::Image>>(…)` and `create_subscription`.
template <Message T>
using Adapted = rclcpp::TypeAdapter<Shared<T>, RosMessage<T>>;

}  // namespace cardan::ros
