// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <thread>

#include "bench/transport/area.hpp"
#include "cardan/cardan.hpp"

namespace cardan::bench {

/// A payload whose size is known only when the bench starts.
struct Frame {
  shm::vector<std::uint64_t> words;
};

/// What an application with 128 bytes to say uses: a plain struct.
struct SmallFrame {
  std::array<std::uint64_t, 16> words;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::Frame, "cardan_bench/msg/Frame", words);
CARDAN_MESSAGE(cardan::bench::SmallFrame, "cardan_bench/msg/SmallFrame", words);

namespace cardan::bench {
inline constexpr std::chrono::seconds kSetUpLimit{10};
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
  topic.options.waiting = waiting_of(area.header().contender, area.header().cell);
  return topic;
}

// Set-up only: discovery and attach are not part of what is measured.
template <class Condition>
void wait_until(const char* what, Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + kSetUpLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw Error(ErrorCode::Unavailable, fmt::format("{} within {} s", what, kSetUpLimit.count()),
                  "try `cardan doctor`");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

}  // namespace cardan::bench
