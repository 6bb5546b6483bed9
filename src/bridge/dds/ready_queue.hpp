// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cardan/detail/fd.hpp"

namespace cardan::bridge::dds {

/// Which of many topics have something to do: because somebody says so, their descriptor is readable, or their time has
/// come. It costs as much as there are topics with something to do, however many others there are.
/// Thread safety: one thread. No function blocks.
class ReadyQueue {
 public:
  using Id = std::int32_t;  ///< above 0

  /// Throws Error (Limit).
  ReadyQueue();

  /// It has something to do now.
  void add(Id id) { now_.insert(id); }
  /// It has something to do once `fd` is readable: reported once, by the next take() after that. Code that closes the
  /// descriptor need not say so. Returns false if the kernel has no room to watch it.
  [[nodiscard]] bool watch(Id id, int fd) noexcept;
  /// It has something to do at this time (steady clock, ns) instead of the time before. INT64_MAX: at none.
  void at(Id id, std::int64_t ns);
  /// It is gone. A descriptor that is still open may report it once more.
  void forget(Id id);

  /// Removes the ids that have something to do, and returns each once.
  [[nodiscard]] std::vector<Id> take(std::int64_t now);
  /// Readable when a watched descriptor is.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// When take() has something by time; INT64_MAX: unknown.
  [[nodiscard]] std::int64_t next_ns() const noexcept;

 private:
  static constexpr std::size_t kReadableAtOnce = 64;

  Fd epoll_;
  std::set<Id> now_;
  std::map<Id, std::int64_t> times_;
  std::set<std::pair<std::int64_t, Id>> by_time_;  ///< the same, ordered
};

}  // namespace cardan::bridge::dds
