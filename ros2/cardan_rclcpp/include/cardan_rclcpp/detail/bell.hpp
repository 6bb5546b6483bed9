// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "rclcpp/guard_condition.hpp"

namespace cardan::ros::detail {

/// The waker of the executor of one subscription. The bell's thread shares it, so it may outlive the subscription.
/// Thread safety: any thread. Never blocks for long.
class Ring {
 public:
  explicit Ring(const rclcpp::Context::SharedPtr& context) : guard_(context) {}

  /// Says that a sample may be there, and wakes the executor.
  void ring() noexcept;
  /// Whether a sample may be there. Executors of all releases lose triggers of a guard condition now and then (one that
  /// comes while its callback group is busy); they do not lose this.
  [[nodiscard]] bool due() const noexcept { return due_.load(std::memory_order_acquire); }
  void clear() noexcept { due_.store(false, std::memory_order_release); }
  [[nodiscard]] rclcpp::GuardCondition& guard() noexcept { return guard_; }

 private:
  std::atomic<bool> due_{false};
  rclcpp::GuardCondition guard_;
};

/// One thread of the process waits for the descriptors of all its subscriptions and rings for them, because executors
/// cannot wait for descriptors. It exists as long as somebody has the bell.
/// Thread safety: any thread.
class Bell {
 public:
  /// The process's bell. Throws std::system_error without descriptors or threads.
  static std::shared_ptr<Bell> get();

  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell();

  /// From now on, rings once when `fd` becomes readable. Returns a number for the other functions.
  std::uint64_t add(int fd, std::shared_ptr<Ring> ring);
  /// Rings once more when `fd` is readable, at once if it is already.
  void arm(std::uint64_t number) noexcept;
  /// Rings in `kRetry`, whatever the descriptor says: for a subscription that could not take what is there.
  void ring_later(std::uint64_t number) noexcept;
  /// Before `fd` is closed.
  void remove(std::uint64_t number) noexcept;

  static constexpr std::chrono::milliseconds kRetry{5};

 private:
  struct Entry {
    int fd;
    std::shared_ptr<Ring> ring;
    std::int64_t ring_at = 0;  // steady clock, ns; 0: no
  };

  Bell();
  void run() noexcept;
  /// Rings those whose time has come. Returns how long to sleep at most, in milliseconds; -1: for ever.
  int ring_those_of_later();
  [[nodiscard]] std::shared_ptr<Ring> ring_of(std::uint64_t number);

  int epoll_ = -1;
  int wake_ = -1;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t last_ = 0;
  std::size_t later_ = 0;  // entries with a `ring_at`
  std::thread thread_;
};

}  // namespace cardan::ros::detail
