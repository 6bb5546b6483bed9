// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cardan/message.hpp"
#include "cardan/shm_vector.hpp"

namespace cardan::bench::recording {

/// The message of rosbag2_performance_benchmarking: bytes. Its form in a file is CDR's of `uint8[] data`.
struct ByteArray {
  shm::vector<std::uint8_t> data;
};

/// In front of the bytes in a file: CDR's encapsulation and the number of bytes.
inline constexpr std::size_t kCdrPrefixBytes = 8;

/// The maker of a message, and its number.
struct PayloadId {
  std::uint16_t sensor = 0;
  std::uint64_t number = 0;  ///< from 1, below 2^48
  bool operator==(const PayloadId&) const = default;
};

/// Bytes from which on a payload is treated as a frame that came by DMA: its pages get the identity of the message, the
/// rest of them stays as it was written when the slot was used for the first time.
inline constexpr std::size_t kFrameBytes = 64 << 10;

/// Writes the payload. A sensor's frame comes into memory by DMA and costs its driver no pass over the bytes; as
/// rosbag2's benchmark, which sends the same bytes again and again, so each page gets only the message's identity. A
/// slot that holds no frame yet is written whole.
void write_payload(std::span<std::uint8_t> bytes, PayloadId id) noexcept;

/// Whether these are all bytes of one message, and of which: every page is looked at, `whole` says every word.
struct CheckedPayload {
  PayloadId id{};
  bool intact = false;
};
[[nodiscard]] CheckedPayload check_payload(std::span<const std::uint8_t> bytes, bool whole = true) noexcept;

}  // namespace cardan::bench::recording

CARDAN_MESSAGE(cardan::bench::recording::ByteArray, "cardan_bench/msg/ByteArray", data);
