// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cardan/messages/geometry.hpp"

namespace cardan::detail {

using FrameIndex = std::uint16_t;
inline constexpr FrameIndex kNoFrame = 0xffff;

/// Of a frame in its parent, at a time.
struct Place {
  std::int64_t stamp = 0;
  Transform transform{};
  FrameIndex parent = kNoFrame;
};

/// The places of one frame, by their stamps: a ring that grows up to a limit.
class History {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// 0: the oldest.
  [[nodiscard]] const Place& at(std::size_t i) const noexcept { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  [[nodiscard]] const Place& oldest() const noexcept { return at(0); }
  [[nodiscard]] const Place& newest() const noexcept { return at(count_ - 1); }
  /// How many places have a stamp of at most this one.
  [[nodiscard]] std::size_t until(std::int64_t stamp) const noexcept;

  /// False: it is there already, or older than `kept_ns` before the newest. Drops the oldest when there are more than
  /// `most`. Throws std::bad_alloc.
  bool insert(const Place& place, std::int64_t kept_ns, std::size_t most);
  void clear() noexcept { first_ = count_ = 0; }

 private:
  [[nodiscard]] Place& slot(std::size_t i) noexcept { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  void grow();

  std::vector<Place> ring_;  ///< its size is a power of two
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace cardan::detail
