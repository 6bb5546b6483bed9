// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "cardan/detail/atomic.hpp"
#include "cardan/endpoint_options.hpp"
#include "src/base/limiter.hpp"

namespace cardan::detail {

/// The most events of one other user's streams in ten seconds: enough for all of them to join, be shallow, and leave.
inline constexpr std::uint32_t kForeignEvents = 64;

/// The events of a subscriber: a callback, and a queue of the last 256.
/// Thread safety: emit() by the helper thread, the rest by any. emit() blocks as long as the callback does.
class EventQueue {
 public:
  /// `topic` and `on_event` must outlive it.
  EventQueue(const std::string& topic, const std::function<void(const Event&)>& on_event)
      : topic_(topic), on_event_(on_event) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// `whose`: the other user that caused it. Each user has kForeignEvents in a window of time, and they push no event
  /// of our own user out of the queue. Returns false if the event was left out.
  bool emit(Event event, std::optional<uid_t> whose);
  std::optional<Event> next();
  [[nodiscard]] bool empty() const noexcept { return !some_.load(std::memory_order_acquire); }

 private:
  struct Queued {
    Event event;
    bool foreign;
  };

  const std::string& topic_;
  const std::function<void(const Event&)>& on_event_;
  Atomic<bool> some_{false};
  std::mutex mutex_;
  std::deque<Queued> queue_;
  std::size_t foreign_ = 0;            ///< in the queue
  Limiter strangers_{kForeignEvents};  ///< helper thread
};

}  // namespace cardan::detail
