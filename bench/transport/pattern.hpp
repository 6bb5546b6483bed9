// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace cardan::bench {

/// The sender and the number of a frame: the first word of every payload.
struct FrameId {
  std::uint32_t publisher = 0;  ///< from 0, below 65536
  std::uint64_t number = 0;     ///< from 1, below 2^48
};

/// Writes the whole payload: word 0 is the identity, every further word the identity mixed with its index, so that no
/// word of one frame fits into another.
void fill_frame(std::span<std::uint64_t> words, FrameId id) noexcept;

/// The same for the words from index `first` on, the ones before being filled already.
void fill_frame_from(std::span<std::uint64_t> words, std::size_t first, FrameId id) noexcept;

struct CheckedFrame {
  FrameId id;
  bool intact = false;  ///< every word belongs to `id`
};

/// Reads every word of the payload, also when the first one is wrong already: each reader does the same work.
CheckedFrame check_frame(std::span<const std::uint64_t> words) noexcept;

}  // namespace cardan::bench
