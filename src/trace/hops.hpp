// SPDX-License-Identifier: Apache-2.0
// From a topic to another one, hop by hop: where the time of each frame went.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "src/trace/trace_words.hpp"

namespace cardan::trace {

/// Times of one hop of one frame, ns. They add up to the time from the publication that caused it to its own.
struct HopTimes {
  std::int64_t transport = 0;  ///< published → in a queue, or taken
  std::int64_t waiting = 0;    ///< → the callback begins
  std::int64_t running = 0;    ///< → published
  std::int64_t caused_ns = 0;  ///< its begin, steady clock
  std::uint32_t cpu = 0;       ///< where the callback began, as TraceEvent::cpu
  std::uint64_t sequence = 0;  ///< of its own publication
  [[nodiscard]] std::int64_t all() const noexcept { return transport + waiting + running; }
};

/// A publication on the last topic, and its way from the first one. If several of its grounds lead there, the oldest
/// publication counts; of those that lead to the same one, the ground that arrived last.
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
    auto operator<=>(const Hop&) const = default;
  };
  std::vector<Hop> hops;
  std::vector<TracedFrame> frames;
};

struct TracedChain {
  std::vector<TracedWay> ways;    ///< at most 64, the most used one first
  std::uint64_t from_others = 0;  ///< publications on the last topic that do not rest on the first one
  std::uint64_t incomplete = 0;   ///< a part of their way was not traced
  std::uint64_t more_ways = 0;    ///< frames of further ways: 64 ways are told apart
  std::uint64_t disputed = 0;     ///< publications on any topic, in a stream that another process publishes: left out
};

/// The first and the last topic of a chain.
struct ChainTopics {
  std::string from, to;
};

/// `events`: as sort_by_time() leaves them.
[[nodiscard]] std::vector<TracedChain> find_chains(const std::vector<detail::TracedEvent>& events,
                                                   const TraceWords& words, const std::vector<ChainTopics>& chains);
/// The same for one.
[[nodiscard]] TracedChain find_chain(const std::vector<detail::TracedEvent>& events, const TraceWords& words,
                                     const std::string& from, const std::string& to);

/// A callback, and how long it ran.
struct RanCallback {
  std::string name;
  std::int64_t ns = 0;
};
/// The callbacks of a trace, by the processor where they began: one pass over the events for all questions. What began
/// before a gap of its thread is left out, because its end may be lost.
/// Thread safety: as a const object of the standard library.
class RanCallbacks {
 public:
  /// `events`: as sort_by_time() leaves them. `words` outlive this.
  RanCallbacks(const std::vector<detail::TracedEvent>& events, const TraceWords& words);
  /// The callbacks that ran on a processor between two times, the longest first. Those with the name `but` are left
  /// out. Of more than 65,536 runs the others do not count: those of the threads that ran the most.
  [[nodiscard]] std::vector<RanCallback> on(std::uint32_t cpu, std::int64_t from, std::int64_t to,
                                            const std::string& but) const;
  /// The callbacks that ran on the processor of a hop while it waited for its callback. If it ran longer than it
  /// waited: the others that ran then.
  [[nodiscard]] std::vector<RanCallback> meanwhile(const HopTimes& hop, const std::string& by) const;

 private:
  struct Ran {
    std::uint32_t cpu = 0;
    std::tuple<std::uint32_t, std::uint32_t, std::uint8_t> thread{};  ///< process, ring, owner
    std::int64_t begun_ns = 0;
    std::int64_t ended_ns = std::numeric_limits<std::int64_t>::max();  ///< after the trace
    std::uint64_t callback = 0;
  };
  const TraceWords& words_;
  std::vector<Ran> ran_;  ///< by processor, thread, and time
};

/// The value below which `percent` of the values lie; 0: there are none.
[[nodiscard]] std::int64_t percentile_of(std::vector<std::int64_t> values, double percent);

}  // namespace cardan::trace
