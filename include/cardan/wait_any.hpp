// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cardan/any_subscriber.hpp"
#include "cardan/detail/deadline.hpp"
#include "cardan/detail/duration.hpp"
#include "cardan/subscriber.hpp"

namespace cardan {
namespace detail {
class BoundFd;
}

/// A periodic timer for wait_any(). It uses absolute deadlines of the steady clock and does not drift.
/// Thread safety: one thread at a time.
class Timer {
 public:
  /// The first period starts now. Throws Error (Limit) if `period` is not above zero, or no descriptor is left.
  explicit Timer(std::chrono::nanoseconds period);
  Timer(Timer&& other) noexcept;
  Timer& operator=(Timer&& other) noexcept;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  /// Number of periods that have passed since the last call; 0: none. Never blocks; one system call.
  std::uint64_t expired() noexcept;
  /// Readable once a period has passed, until expired() is called. -1 for a moved-from timer.
  [[nodiscard]] int fd() const noexcept;

 private:
  std::unique_ptr<detail::BoundFd> fd_;
};

/// A foreign descriptor among the things that wait_any() waits for. It is ready when it is readable or has hung up.
struct Readable {
  int fd;
};

/// Returned by wait_any() when nothing became ready: a stop was requested, or the time was up.
inline constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

namespace detail {
inline constexpr std::size_t kMostWaitedFor = 64;

std::size_t wait_any_of(std::span<SubscriberCore* const> subscribers, std::span<const std::size_t> subscriber_at,
                        std::span<const int> foreign, std::span<const std::size_t> foreign_at,
                        std::int64_t deadline_ns) noexcept;

class AnySet {
 public:
  template <class T>
  void add(const Subscriber<T>& s) {
    add(EndOf::of(s).core());
  }
  void add(const AnySubscriber& s) { add(EndOf::of(s).core()); }
  void add(const Timer& t) { add(Readable{t.fd()}); }
  void add(Readable r) {
    foreign_at_[foreigners_] = next_++;
    foreign_[foreigners_++] = r.fd;
  }
  std::size_t wait(std::int64_t deadline_ns) noexcept {
    return wait_any_of({cores_.data(), subscribers_}, {subscriber_at_.data(), subscribers_},
                       {foreign_.data(), foreigners_}, {foreign_at_.data(), foreigners_}, deadline_ns);
  }

 private:
  void add(SubscriberCore& core) {
    subscriber_at_[subscribers_] = next_++;
    cores_[subscribers_++] = &core;
  }
  std::array<SubscriberCore*, kMostWaitedFor> cores_{};
  std::array<std::size_t, kMostWaitedFor> subscriber_at_{};
  std::array<int, kMostWaitedFor> foreign_{};
  std::array<std::size_t, kMostWaitedFor> foreign_at_{};
  std::size_t subscribers_ = 0, foreigners_ = 0, next_ = 0;
};
}  // namespace detail

/// Waits until one of up to 64 subscribers, timers and descriptors is ready. Returns its index among the arguments (the
/// first of several), or kNothing when a stop was requested. Subscribers alone take one futex call; with descriptors
/// and timers it is one ppoll.
/// Any thread; blocks.
template <class... Things>
std::size_t wait_any(const Things&... things) noexcept {
  static_assert(sizeof...(things) <= detail::kMostWaitedFor);
  detail::AnySet set;
  (set.add(things), ...);
  return set.wait(0);
}

/// As above, with a time limit (kNothing when it is up).
template <class... Things>
std::size_t wait_any_for(std::chrono::nanoseconds timeout, const Things&... things) noexcept {
  static_assert(sizeof...(things) <= detail::kMostWaitedFor);
  detail::AnySet set;
  (set.add(things), ...);
  return set.wait(detail::deadline_after(timeout));
}

}  // namespace cardan
