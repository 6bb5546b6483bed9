// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cardan/endpoint_options.hpp"
#include "cardan_rclcpp/detail/bell.hpp"
#include "rclcpp/callback_group.hpp"
#include "rclcpp/node_interfaces/node_base_interface.hpp"
#include "rclcpp/node_interfaces/node_logging_interface.hpp"
#include "rclcpp/node_interfaces/node_topics_interface.hpp"
#include "rclcpp/node_interfaces/node_waitables_interface.hpp"
#include "rclcpp/timer.hpp"
#include "rclcpp/version.h"
#include "rclcpp/waitable.hpp"

namespace cardan::ros::detail {

/// The parts of a node that a subscription or a publisher needs, whatever kind of node it is (Node, LifecycleNode, a
/// class that contains one).
struct NodeParts {
  rclcpp::node_interfaces::NodeBaseInterface::SharedPtr base;
  rclcpp::node_interfaces::NodeTopicsInterface::SharedPtr topics;
  rclcpp::node_interfaces::NodeWaitablesInterface::SharedPtr waitables;
  rclcpp::node_interfaces::NodeLoggingInterface::SharedPtr logging;

  template <class Node>
  static NodeParts of(Node& node) {
    if constexpr (requires { node.get_node_base_interface(); })
      return {node.get_node_base_interface(), node.get_node_topics_interface(), node.get_node_waitables_interface(),
              node.get_node_logging_interface()};
    else
      return of(*node);  // a pointer of any kind
  }
  /// The name after the node's namespace and the remappings of its launch file. Throws rclcpp's exceptions for a name
  /// that ROS 2 does not allow.
  [[nodiscard]] std::string resolve(const char* topic) const { return topics->resolve_topic_name(topic); }
};

/// A subscription as an executor sees it: ready when its ring is due. Independent of the message type.
/// Thread safety: as rclcpp::Waitable; `end` from any thread.
class SubscriptionWaitable : public rclcpp::Waitable, public std::enable_shared_from_this<SubscriptionWaitable> {
 public:
  ~SubscriptionWaitable() override;
  SubscriptionWaitable(const SubscriptionWaitable&) = delete;
  SubscriptionWaitable& operator=(const SubscriptionWaitable&) = delete;

  /// Waits until no callback runs on another thread, and lets no further one begin. Then lets the subscriber, its
  /// samples and the callback go. The rest is never ready: executors keep it until they next look at their nodes.
  void end() noexcept;
  /// How often a sample could not be taken because the application held as many as `holds` announces.
  [[nodiscard]] std::uint64_t held_up() const noexcept { return held_up_.load(std::memory_order_relaxed); }

  // rclcpp::Waitable. Releases up to Iron pass pointers, newer ones references.
  std::size_t get_number_of_ready_guard_conditions() override { return 1; }
#if RCLCPP_VERSION_GTE(28, 0, 0)
  void add_to_wait_set(rcl_wait_set_t& wait_set) override { join(wait_set); }
  bool is_ready(const rcl_wait_set_t& /*wait_set*/) override { return ring_->due(); }
  void execute(const std::shared_ptr<void>& data) override { run(data); }
#else
  void add_to_wait_set(rcl_wait_set_t* wait_set) override { join(*wait_set); }
  bool is_ready(rcl_wait_set_t* /*wait_set*/) override { return ring_->due(); }
  void execute(std::shared_ptr<void>& data) override { run(data); }
#endif
  std::shared_ptr<void> take_data() override;
  std::shared_ptr<void> take_data_by_entity_id(std::size_t /*id*/) override { return take_data(); }
  void set_on_ready_callback(std::function<void(std::size_t, int)> callback) override;
  void clear_on_ready_callback() override;
  // Pure virtual from Kilted on, unknown before: hence not marked as an override.
  std::vector<std::shared_ptr<rclcpp::TimerBase>> get_timers() const { return {}; }

 protected:
  /// `reentrant`: several callbacks may run at once.
  SubscriptionWaitable(const NodeParts& node, std::string topic, bool reentrant);

  /// The next sample in its own box. Null: none; `why` says whether to ask again. One thread at a time, never
  /// after let_go().
  virtual std::shared_ptr<void> take_one(Reason& why) = 0;
  /// Hands over what owns the subscriber and the callback. No callback runs but one on this thread, which keeps itself.
  virtual std::array<std::shared_ptr<void>, 2> let_go() noexcept = 0;
  /// Calls the application with the sample of a box.
  virtual void call(void* box) = 0;
  /// The next event that has not been reported.
  virtual std::optional<Event> next_event() = 0;
  /// Listens to the subscriber's descriptor. The last step of a constructor.
  void listen(int fd);
  /// Before the subscriber goes. The first step of a destructor. Nothing is taken any more.
  void stop_listening() noexcept;

 private:
  /// The data of an executor between take_data() and the end of execute(). An executor that is cancelled drops it
  /// without execute(): then the sample goes back, and the next executor gets it.
  struct Taken {
    std::weak_ptr<SubscriptionWaitable> from;
    std::shared_ptr<void> box;  // protected by `take_`
    bool executed = false;

    ~Taken();
  };

  void join(rcl_wait_set_t& wait_set);
  void run(const std::shared_ptr<void>& data);
  void finished(Taken& taken) noexcept;
  [[nodiscard]] bool begin_call();
  void end_call() noexcept;
  void complain_about_holds();
  void report(const Event& event) const;

  std::string topic_;
  rclcpp::Logger logger_;
  const bool reentrant_;
  std::shared_ptr<Ring> ring_;
  std::mutex take_;  // protects the next four
  std::shared_ptr<Bell> bell_;
  std::uint64_t number_ = 0;   // at the bell; 0: does not listen, and has no subscriber
  std::vector<Taken*> taken_;  // by executors, and not yet gone from them
  std::vector<std::shared_ptr<void>> given_back_;
  std::atomic<std::uint64_t> held_up_{0};
  std::int64_t complained_at_ = 0;

  std::mutex calls_mutex_;
  std::condition_variable calls_done_;
  std::vector<std::thread::id> calls_;  // threads that are in a callback
  bool ended_ = false;
};

}  // namespace cardan::ros::detail
