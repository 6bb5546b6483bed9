// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "bench/transport/area.hpp"
#include "bench/transport/role.hpp"
#include "cardan/cardan.hpp"

namespace cardan::bench {

/// A payload whose size is known only when the bench starts.
struct Frame {
  shm::vector<std::uint64_t> words;
};

/// The message of an application with 128 bytes to say: a plain struct.
struct SmallFrame {
  std::array<std::uint64_t, 16> words;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::Frame, "cardan_bench/msg/Frame", words);
CARDAN_MESSAGE(cardan::bench::SmallFrame, "cardan_bench/msg/SmallFrame", words);

namespace cardan::bench {
// Long enough for a frame that is filled at 1 GB/s, a quarter of what memory gives.
inline std::chrono::nanoseconds longest_fill(std::size_t bytes) {
  return std::max<std::chrono::nanoseconds>(std::chrono::milliseconds{5}, std::chrono::nanoseconds(bytes));
}
// With soon() the loan's ring comes much too early: the reader gives up quickly and is rung again near the end.
inline constexpr std::chrono::microseconds kSoonLimit{200};

inline Waiting waiting_of(const Contender& contender, const Cell& cell) {
  switch (contender.wait) {
    case Wait::Spin:
      return spin_then_block(std::chrono::hours{1});  // a bench ends before
    case Wait::Prewake:
      return prewake(longest_fill(cell.bytes));
    case Wait::Soon:
      return prewake(kSoonLimit);
    case Wait::Anticipate:
      return anticipate();
    case Wait::Block:
    case Wait::Poll:
      break;
  }
  return block();
}

template <class T>
Topic<T> topic_of(const Area& area) {
  Topic<T> topic{area.header().topic, {}};
  if constexpr (shm::has_vectors<T>) topic.options.max_bytes = area.header().cell.bytes;
  topic.options.reliable = area.header().contender.peer == kCardanReliable;
  topic.options.waiting = waiting_of(area.header().contender, area.header().cell);
  return topic;
}

}  // namespace cardan::bench
