// SPDX-License-Identifier: Apache-2.0
// The two ends of `cardan bench v2x`, whatever carries their messages: one asks, the other sends each message back.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench::v2x {

/// A carrier of messages of a fixed size to the other one and back. Not thread safe.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void send(std::uint64_t number) = 0;
  /// The number of the next message. Empty: none came by `until` (steady, ns).
  virtual std::optional<std::uint64_t> receive(std::int64_t until) = 0;
};

inline constexpr std::int64_t kSlice = 50'000'000;  // between two looks at a signal, ns

/// Greets until the other answers, says that it is ready, and at the order asks `hz` times a second for `seconds`.
/// `late_ms` after the order, so that several do not send at once. Reports {sent, round_trip_ns: [of each answer]}.
inline void ask(Stage& stage, Channel& channel, const nlohmann::json& job) {
  constexpr std::int64_t kGreetEvery = 200'000'000;
  constexpr std::int64_t kAnswersWithin = 2'000'000'000;  // after the last question
  const double hz = job.at("hz");
  const auto count = static_cast<std::uint64_t>(job.at("seconds").get<double>() * hz);
  for (bool met = false; !met;) {
    if (stage.end_asked()) return Stage::report({{"sent", 0}});
    channel.send(0);
    met = channel.receive(now_ns() + kGreetEvery).has_value();
  }
  stage.ready();
  if (!stage.wait_for_go()) return Stage::report({{"sent", 0}});
  std::vector<std::int64_t> sent(count + 1, 0);
  std::vector<std::int64_t> round_trip_ns;
  std::uint64_t repeated = 0;
  const auto take = [&](std::uint64_t number) {
    const std::int64_t now = now_ns();
    if (number == 0 || number > count || sent[number] <= 0) {
      repeated += number != 0 ? 1 : 0;  // an answer to a greeting does not count
      return;
    }
    round_trip_ns.push_back(now - sent[number]);
    sent[number] = -1;
  };
  const std::int64_t start = now_ns() + job.at("late_ms").get<std::int64_t>() * 1'000'000;
  std::uint64_t asked = 0;
  for (std::uint64_t n = 1; n <= count && !stage.end_asked(); ++n) {
    const std::int64_t beat = start + static_cast<std::int64_t>(static_cast<double>(n - 1) * 1e9 / hz);
    while (now_ns() < beat)
      if (const auto number = channel.receive(beat)) take(*number);
    sent[n] = now_ns();
    channel.send(n);
    asked = n;
  }
  const std::int64_t end = now_ns() + kAnswersWithin;
  while (round_trip_ns.size() < asked && now_ns() < end && !stage.end_asked())
    if (const auto number = channel.receive(std::min(end, now_ns() + kSlice))) take(*number);
  stage.done();
  stage.wait_for_end();
  Stage::report({{"sent", asked}, {"repeated", repeated}, {"round_trip_ns", round_trip_ns}});
}

/// Sends each message back until the end is ordered.
inline void answer(Stage& stage, Channel& channel) {
  while (!stage.end_asked())
    if (const auto number = channel.receive(now_ns() + kSlice)) channel.send(*number);
  Stage::report({{"answered", true}});
}

}  // namespace cardan::bench::v2x
