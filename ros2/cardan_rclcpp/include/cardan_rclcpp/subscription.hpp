// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "cardan/subscriber.hpp"
#include "cardan_rclcpp/convert.hpp"
#include "cardan_rclcpp/detail/waitable.hpp"

namespace cardan::ros {

struct SubscriptionOptions {
  /// The group whose rules the callback follows. Null: the node's default group, one callback at a time. In a reentrant
  /// group several callbacks run at once; each needs one of `endpoint.holds`.
  rclcpp::CallbackGroup::SharedPtr callback_group{};
  /// Cardan's own options. `holds`: samples that this node has at once, that of the callback included.
  SubscriberOptions endpoint{};
};

namespace detail {

template <class Callback, class T>
constexpr bool kTakesRosMessage = [] {
  if constexpr (HasRosType<T>)
    return std::is_invocable_v<Callback&, const RosMessage<T>&>;
  else
    return false;
}();

template <Message T, class Callback>
class TypedWaitable final : public SubscriptionWaitable {
 public:
  TypedWaitable(const NodeParts& node, const std::string& name, bool reentrant, const Topic<T>& topic,
                Callback callback, SubscriberOptions options)
      : SubscriptionWaitable(node, name, reentrant),
        subscriber_(std::make_shared<Subscriber<T>>(Topic<T>{name.c_str(), topic.options}, std::move(options))),
        callback_(std::make_shared<Callback>(std::move(callback))) {
    listen(subscriber_->fd());
  }
  ~TypedWaitable() override { stop_listening(); }

  [[nodiscard]] const Subscriber<T>& subscriber() const noexcept { return *subscriber_; }

 private:
  std::shared_ptr<void> take_one(Reason& why) override {
    Sample<T> sample = subscriber_->take();
    if (!sample) {
      why = subscriber_->reason();
      return nullptr;
    }
    return std::make_shared<Sample<T>>(std::move(sample));
  }

  std::array<std::shared_ptr<void>, 2> let_go() noexcept override {
    return {std::exchange(subscriber_, nullptr), std::exchange(callback_, nullptr)};
  }

  void call(void* box) override {
    const std::shared_ptr<Callback> own = callback_;  // a callback may end its subscription
    Callback& callback = *own;
    Sample<T> sample = std::move(*static_cast<Sample<T>*>(box));
    if constexpr (std::is_invocable_v<Callback&, Sample<T>>) {
      callback(std::move(sample));
    } else if constexpr (std::is_invocable_v<Callback&, const T&>) {
      callback(*sample);
    } else {
      RosMessage<T> message;
      to_ros(*sample, message);
      sample.reset();
      callback(message);
    }
  }

  std::optional<Event> next_event() override { return subscriber_->event(); }

  std::shared_ptr<Subscriber<T>> subscriber_;  // null after let_go()
  std::shared_ptr<Callback> callback_;
};

}  // namespace detail

/// Receives Cardan messages of type T in an rclcpp node, in whatever executor spins the node. The callback gets one of
///
/// - `cardan::Sample<T>`: the message in the publisher's memory, without a copy, kept as long as the sample;
/// - `const T&`: the same, valid until the callback returns;
/// - `const sensor_msgs::msg::Image&` or whatever ROS message belongs to T: a copy, for code that stays as it is.
///
/// An exception of a callback leaves `spin()`, as with rclcpp's own subscriptions. The subscription can be moved. It
/// may outlive its node. Its destructor waits for a callback that runs on another thread: afterwards none runs, and the
/// shared memory, the samples and the callback are released, whatever the executor still refers to.
/// Thread safety: one thread at a time, except the counters. Set-up allocates and blocks for about 1 ms.
template <Message T>
class Subscription {
 public:
  /// `node`: an rclcpp::Node or LifecycleNode, or a pointer to one (`this`). The topic's name follows the namespace and
  /// the remappings of the node. Throws cardan::Error as cardan::Subscriber does, and rclcpp's exceptions for names.
  template <class Node, class Callback>
  Subscription(Node&& node, const Topic<T>& topic, Callback callback, SubscriptionOptions options = {}) {
    static_assert(std::is_invocable_v<Callback&, Sample<T>> || std::is_invocable_v<Callback&, const T&> ||
                      detail::kTakesRosMessage<Callback, T>,
                  "the callback of a cardan::ros::Subscription<T> takes a cardan::Sample<T>, a const T&, or T's ROS "
                  "message (then include the header of its conversion)");
    using Waitable = detail::TypedWaitable<T, Callback>;
    const detail::NodeParts parts = detail::NodeParts::of(node);
    if (options.endpoint.holds == 0) options.endpoint.holds = 1;
    const auto group = options.callback_group ? options.callback_group : parts.base->get_default_callback_group();
    const bool reentrant = group->type() == rclcpp::CallbackGroupType::Reentrant;
    auto waitable = std::make_shared<Waitable>(parts, parts.resolve(topic.name), reentrant, topic, std::move(callback),
                                               std::move(options.endpoint));
    parts.waitables->add_waitable(waitable, options.callback_group);
    subscriber_ = &waitable->subscriber();
    waitable_ = std::move(waitable);
    base_ = parts.base;
    waitables_ = parts.waitables;
    group_ = options.callback_group;
  }
  Subscription() noexcept = default;
  Subscription(Subscription&& other) noexcept { swap(other); }
  Subscription& operator=(Subscription&& other) noexcept {
    Subscription(std::move(other)).swap(*this);
    return *this;
  }
  ~Subscription() {
    if (!waitable_) return;
    // The node's waitables refer to its base without owning it: both must be there, or there is nothing to leave.
    const auto base = base_.lock();
    const auto waitables = waitables_.lock();
    if (base && waitables) waitables->remove_waitable(waitable_, group_.lock());
    waitable_->end();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return waitable_ != nullptr; }
  // Not for an empty subscription.
  [[nodiscard]] std::uint64_t received() const { return subscriber_->received(); }
  [[nodiscard]] std::uint64_t missed() const { return subscriber_->missed(); }  ///< lost since the attach, exact
  [[nodiscard]] std::uint64_t bad() const { return subscriber_->bad(); }        ///< malformed messages
  [[nodiscard]] std::size_t publishers() const noexcept { return subscriber_->publishers(); }
  /// The name after namespace and remappings.
  [[nodiscard]] const std::string& topic() const noexcept { return subscriber_->topic(); }
  /// How often a sample had to wait because this node held as many as `endpoint.holds` announces.
  [[nodiscard]] std::uint64_t held_up() const noexcept { return waitable_->held_up(); }

 private:
  void swap(Subscription& other) noexcept {
    std::swap(waitable_, other.waitable_);
    std::swap(subscriber_, other.subscriber_);
    std::swap(base_, other.base_);
    std::swap(waitables_, other.waitables_);
    std::swap(group_, other.group_);
  }

  std::shared_ptr<detail::SubscriptionWaitable> waitable_;
  const Subscriber<T>* subscriber_ = nullptr;  // in the waitable
  std::weak_ptr<rclcpp::node_interfaces::NodeBaseInterface> base_;
  std::weak_ptr<rclcpp::node_interfaces::NodeWaitablesInterface> waitables_;
  std::weak_ptr<rclcpp::CallbackGroup> group_;
};

}  // namespace cardan::ros
