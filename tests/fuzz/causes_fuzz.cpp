// SPDX-License-Identifier: Apache-2.0
// Messages on /cardan/causes, and the ways that lead through them. Must hold: each publication is on a way or counted,
// each way has its times, and no time is negative.
#include <algorithm>

#include "cardan/error.hpp"
#include "src/record/recorded_chain.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::causes_target {
namespace {

using record::Causes, record::RecordedCauses, record::RecordedChain, record::RecordedWay;

void check(const RecordedWay& way) {
  require(way.topics.size() >= 2 && way.hops() <= RecordedCauses::kMostHops, "a way of no hops, or of too many");
  require(way.topics.front() == "/a" && way.topics.back() == "/c", "a way of other topics");
  require(way.times_ns.size() == way.frames.size() * way.hops(), "a hop without its time");
  require(std::all_of(way.times_ns.begin(), way.times_ns.end(), [](std::int64_t ns) { return ns >= 0; }),
          "an effect before its cause");
}

/// Messages: two bytes of length, eight of log time, and the bytes themselves.
void run(std::string_view input) {
  try {
    RecordedCauses causes;
    Input parts(input);
    while (!parts.empty()) {
      const std::size_t bytes = parts.number(2);
      const std::uint64_t log_time = parts.number(8);
      const std::string_view message = parts.rest().substr(0, bytes);
      (void)causes.add(std::as_bytes(std::span(message)), log_time);
      parts = Input(parts.rest().substr(message.size()));
    }
    const RecordedChain chain = causes.chain("/a", "/c");
    std::uint64_t frames = 0;
    for (const RecordedWay& way : chain.ways) {
      check(way);
      frames += way.frames.size();
    }
    require(frames + chain.from_others + chain.not_recorded + chain.lost + chain.other_user + chain.invalid ==
                chain.publications,
            "a publication without an account");
  } catch (const Error& e) {
    require(e.code() == ErrorCode::Limit && !e.remedy().empty(), "another error than that of a limit");
  }
}

std::string input_of(const Causes& causes) {
  const std::vector<std::byte> bytes = record::cdr_of(causes);
  std::string out{static_cast<char>(bytes.size()), static_cast<char>(bytes.size() >> 8)};
  out.append(8, '\1');
  return out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<std::string> seeds() {
  const Causes chain{.stamp_ns = 1'000'000'000,
                     .left_out = 1,
                     .publishers = {1, 2, 3, 0},
                     .topics = {"/a", "/b", "/c", "/c"},
                     .publisher = {0, 1, 2, 3},
                     .sequence = {1, 1, 1, 1},
                     .published_us = {-30, -20, -10, -5},
                     .age_us = {0, 10, 20, Causes::kUnknownAge},
                     .cause_publisher = {Causes::kNoCause, 0, 1, Causes::kNoCause},
                     .cause_sequence = {0, 1, 1, 0}};
  Causes circle = chain;
  circle.cause_publisher = {2, 2, 1, Causes::kNoCause};
  circle.published_us = {-10, -10, -10, -10};
  return {input_of(chain), input_of(circle), input_of(chain) + input_of(circle)};
}

}  // namespace
CARDAN_FUZZ_TARGET(causes, run, seeds)
}  // namespace cardan::fuzz::causes_target
