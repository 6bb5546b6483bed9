// SPDX-License-Identifier: Apache-2.0
// From a topic to another one, hop by hop: where the time of each frame went.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/trace/chrome_trace.hpp"

namespace cardan::apps {

/// Times of one hop of one frame, ns. They add up to the time from the publication that caused it to its own.
struct HopTimes {
  std::int64_t transport = 0;  ///< published → in a queue, or taken
  std::int64_t waiting = 0;    ///< → the callback begins
  std::int64_t running = 0;    ///< → published
  std::uint64_t sequence = 0;  ///< of its own publication
  [[nodiscard]] std::int64_t all() const noexcept { return transport + waiting + running; }
};

/// A publication on the last topic, and its way from the first one.
struct TracedFrame {
  std::uint64_t sequence = 0;        ///< on the last topic
  std::int64_t time_ns = 0;          ///< its publication
  std::vector<HopTimes> hops{};      ///< from the first topic on
  std::uint64_t first_sequence = 0;  ///< on the first topic
  std::int64_t first_ns = 0;         ///< publication of that
  [[nodiscard]] std::int64_t all() const noexcept {
    std::int64_t sum = 0;
    for (const HopTimes& hop : hops) sum += hop.all();
    return sum;
  }
};

/// Frames that went through the same callbacks.
struct TracedWay {
  struct Hop {
    std::string by;  ///< the callback, or the program, that published
    std::string to;  ///< the topic
    bool operator==(const Hop&) const = default;
  };
  std::vector<Hop> hops;
  std::vector<TracedFrame> frames;
};

struct TracedChain {
  std::vector<TracedWay> ways;    ///< the most used one first
  std::uint64_t from_others = 0;  ///< publications on the last topic that do not rest on the first one
  std::uint64_t incomplete = 0;   ///< a part of their way was not traced
};

/// `events`: as sort_by_time() leaves them.
[[nodiscard]] TracedChain find_chain(const std::vector<detail::TracedEvent>& events, const TraceWords& words,
                                     const std::string& from, const std::string& to);

/// The value below which `percent` of the values lie; 0: there are none.
[[nodiscard]] std::int64_t percentile_of(std::vector<std::int64_t> values, double percent);

}  // namespace cardan::apps
