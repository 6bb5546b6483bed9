// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/detail/atomic.hpp"

/// Frames that a subscriber refuses because they are damaged, malformed, or too old: what they may cost the subscriber,
/// and when a publisher that sends nothing else is cut off.
namespace cardan::detail {

/// The limit of one take() on refused frames before it returns empty.
class RefusalBudget {
 public:
  static constexpr std::uint32_t kFrames = 64;
  static constexpr std::uint64_t kBytes = 1U << 20;  ///< a take reads these and at most one payload more
  static constexpr std::uint32_t kTooOld = 4096;     ///< frames older than the lifespan; nothing in them is read

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

/// Damaged or malformed frames of one stream in a row, without a good one between them. Bad memory damages a slot or
/// two of many; a stream of only such frames is useless.
/// Any thread; the counts of several threads may be slightly too low.
class RefusalsInARow {
 public:
  static constexpr std::uint32_t kMost = 64;
  static constexpr std::uint64_t kMostBytes = 256U << 20;  ///< for large frames fewer,
  static constexpr std::uint32_t kFewest = 8;              ///< but never fewer than these

  /// Counts one more frame of `bytes` bytes; `received` is the number of good frames taken from the stream. Returns
  /// true if the stream must be cut off.
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
