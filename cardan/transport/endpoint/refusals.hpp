// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/base/atomic.hpp"

/// Frames that a reader refuses: damaged, malformed, or too old. What they may cost it, and when a publisher of nothing
/// else is cut off.
namespace cardan::detail {

/// What one take() may spend on frames that it refuses, before it comes back without one.
class RefusalBudget {
 public:
  static constexpr std::uint32_t kFrames = 64;
  static constexpr std::uint64_t kBytes = 1U << 20;  ///< once reached it ends: these and one payload at most
  static constexpr std::uint32_t kTooOld = 4096;     ///< older than the lifespan: nothing of them is read

  void damaged(std::uint64_t bytes) noexcept {
    bytes_ += bytes;
    if (++frames_ >= kFrames || bytes_ >= kBytes) spent_ = true;
  }
  void too_old() noexcept {
    if (++too_old_ >= kTooOld) spent_ = true;
  }
  [[nodiscard]] bool spent() const noexcept { return spent_; }

 private:
  bool spent_ = false;
  std::uint32_t frames_ = 0, too_old_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Damaged or malformed frames of one stream without a good one between them. Bad memory damages a slot or two of
/// many; a stream that gives only such frames gives nothing. Any thread; counts of several threads may be a few too
/// low.
class RefusalsInARow {
 public:
  static constexpr std::uint32_t kMost = 64;
  static constexpr std::uint64_t kMostBytes = 256U << 20;  ///< of large frames fewer,
  static constexpr std::uint32_t kFewest = 8;              ///< but not after less than these

  /// One more, of so many bytes, when `received` good ones of the stream have been taken. True: that is enough.
  [[nodiscard]] bool add(std::uint64_t bytes, std::uint64_t received) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    if (received_.exchange(received, relaxed) != received) {
      frames_.store(0, relaxed);
      bytes_.store(0, relaxed);
    }
    const std::uint32_t frames = frames_.fetch_add(1, relaxed) + 1;
    const std::uint64_t all = bytes_.fetch_add(bytes, relaxed) + bytes;
    return too_many(frames, all);
  }
  [[nodiscard]] bool enough() const noexcept {
    return too_many(frames_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr bool too_many(std::uint32_t frames, std::uint64_t bytes) noexcept {
    return frames >= kMost || (bytes > kMostBytes && frames >= kFewest);
  }

  Atomic<std::uint64_t> received_{0}, bytes_{0};
  Atomic<std::uint32_t> frames_{0};
};

}  // namespace cardan::detail
