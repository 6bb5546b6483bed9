// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/detail/duration.hpp"
#include "cardan/fusion_policy.hpp"

namespace cardan {

/// Options of a component's input.
struct InputOptions {
  /// Samples that may wait for the callback. If there are more, the oldest is dropped and counted. Each costs the
  /// publisher a slot. 0: the topic's depth.
  std::uint32_t depth = 0;
  /// Samples that the component keeps after its callback has returned (in a member, in another thread). Each costs the
  /// publisher a slot. A component that keeps more takes slots that others need.
  std::uint32_t keeps = 1;
  /// Allows this callback to run at the same time as the component's other callbacks (not as itself). Then the
  /// component must guard its own state.
  bool overlaps = false;
  /// Publications of a callback rest on the samples of this input that it was given or has read, and are as old as the
  /// oldest of them (Sample::origin_age(), docs/chains.md). False: for calibration, maps and feedback, which would make
  /// everything as old as they are.
  bool rests_on = true;
  /// Name in statistics and in the configuration's `callbacks`. Empty: the topic as the code names it.
  std::string name{};
};

/// Options of Context::latest().
struct LatestOptions {
  /// As InputOptions::name, for a component that also reads the topic in another way.
  std::string name{};
  /// As InputOptions::rests_on, of what get() returns to a callback.
  bool rests_on = true;
};

/// Options of Context::service().
struct AnswerOptions {
  /// Questions that wait for the callback or are kept by the component to be answered later, at most 200, in addition
  /// to the one in the callback. More of them wait at their clients.
  std::uint32_t holds = 8;
  /// As InputOptions::overlaps.
  bool overlaps = false;
  /// Name in statistics and in the configuration's `callbacks`. Empty: the service as the code names it.
  std::string name{};
};

/// Options of Context::client().
struct AskOptions {
  /// Name of the callbacks with its answers, as AnswerOptions::name.
  std::string name{};
};

/// Handling of a timer's periods that were over before it could run.
enum class Overrun : std::uint8_t {
  Skip,     ///< leaves them out: the next call is at the next point of the grid. For control loops.
  CatchUp,  ///< calls once for each: the number of calls is right, their times are not. For simulations and counters.
};

/// Options of a component's timer.
struct TimerOptions {
  /// Skip keeps the times of the calls right, CatchUp their number.
  Overrun overrun = Overrun::Skip;
  /// When the first call is due, after the start. 0: one period.
  std::chrono::nanoseconds delay{0};
  /// Name in statistics and the configuration's `callbacks`; empty: "timer", "timer2", …
  std::string name{};
};

/// Options that differ from input to input of Context::fuse().
struct FuseInput {
  /// Name in statistics and the configuration's `callbacks`; empty: the topic as the code names it. A component whose
  /// code reads a topic twice has to give one of them another name.
  std::string name{};
  /// As InputOptions::depth: samples that wait for the fusion; 0: the topic's depth.
  std::uint32_t depth = 0;
};

/// Options of Context::fuse().
struct FuseOptions {
  /// Name in statistics and messages; empty: "fusion", "fusion2" …
  std::string name{};
  /// In the order of the topics: `.inputs = {{.name = "left"}, {.name = "right", .depth = 20}}`.
  PerInput<FuseInput> inputs{};
};

}  // namespace cardan
