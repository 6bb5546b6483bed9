// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/player.hpp"

namespace cardan {
class Runtime;
}

namespace cardan::record {

struct SimulateOptions {
  /// Components, or processes with all of theirs, that are not there: drivers that wait for hardware. Their topics come
  /// from the files.
  std::vector<std::string> without{};
  /// Only messages recorded from this time after the files' first message on …
  std::chrono::nanoseconds start{0};
  /// … and before that.
  std::chrono::nanoseconds until = std::chrono::nanoseconds::max();
  /// Instead of these: log times, nanoseconds since 1970.
  std::optional<std::uint64_t> start_at{}, until_at{};
  /// If no message comes for longer than this in the recording, the next one comes at once, and no timer runs in
  /// between: its clock was set, or nothing was recorded for long. 0: such time passes as any other.
  std::chrono::nanoseconds max_gap = std::chrono::minutes{10};
  std::string output{};  ///< file for all that the components publish; empty: none
  bool replace = false;  ///< if it is there already
  /// Called before on_start() of each component.
  std::function<void(const std::string& component)> on_begin{};
  /// Called with the runtime when all components have declared, before the first callback, and with null before it
  /// goes: for an observer of callbacks on another thread, or when the process crashes.
  std::function<void(const Runtime* runtime)> on_runtime{};
  /// Called now and then with the part of the recorded time that is done, 0 to 1; false: stop there.
  std::function<bool(double done)> progress{};
};

/// A topic of a simulation.
struct SimulatedTopic {
  std::string topic{}, type{};
  std::uint64_t messages = 0;
  std::uint64_t failed = 0;  ///< that could not be given to the components, or not be written
  std::string failure{};     ///< the first of them, in words; or why none is written
};

/// A service whose server is not in the simulation, and that the files answer.
struct SimulatedService {
  std::string service{};
  std::uint64_t asked = 0, answered = 0;  ///< questions of the components
  std::uint64_t recorded = 0;             ///< answers in the files
  std::uint64_t malformed = 0;            ///< events in the files that cannot be read
};

/// A fusion of a component.
struct SimulatedFusion {
  std::string component{}, fusion{};
  std::uint64_t fired = 0;       ///< sets
  bool every_input_had = false;  ///< samples
  std::string silent{};          ///< it had samples and made no set: why, in words
};

/// A chain of the configuration, at the output of a component that ends it. Ages are of the recording's clock: what
/// callbacks compute takes no time of it.
struct SimulatedChain {
  std::string component{}, chain{};
  std::uint64_t in_time = 0, late = 0, unknown = 0;  ///< publications; without a budget all known ones are in time
  std::int64_t age_p50 = 0, age_p99 = 0, age_greatest = 0;  ///< nanoseconds; -1: no publication was known
};

/// Exceptions that left a component's callbacks.
struct SimulatedFailures {
  std::string component{};
  std::uint64_t exceptions = 0;
};

/// An input of a component that was given nothing.
struct EmptyInput {
  std::string component{}, input{}, topic{};
};

struct SimulateReport {
  std::vector<SimulatedTopic> fed{};        ///< from the files to the components
  std::vector<SimulatedTopic> made{};       ///< by the components
  std::vector<LeftOut> left_out{};          ///< channels that components read and could not be given
  std::vector<std::string> recomputed{};    ///< topics of the files that the components publish themselves
  std::vector<std::string> problems{};      ///< damage in the files, with its place
  std::vector<std::string> unfinished{};    ///< files that end in the middle, and where
  std::uint64_t callbacks = 0;              ///< that ran
  std::uint64_t failures = 0;               ///< exceptions that left one
  std::vector<SimulatedFailures> failed{};  ///< whose they were
  std::vector<EmptyInput> empty_inputs{};
  std::uint64_t dropped = 0;      ///< samples that newer ones pushed out of an input's queue
  std::int64_t simulated_ns = 0;  ///< recorded time
  std::uint64_t gaps = 0;         ///< in it that were skipped
  std::int64_t skipped_ns = 0;    ///< by them in all
  std::vector<SimulatedService> services{};
  std::vector<SimulatedFusion> fusions{};
  std::vector<SimulatedChain> chains{};  ///< that end in components of it
  std::uint64_t output_bytes = 0;
  bool stopped = false;  ///< by `progress`
};

/// Runs a configuration's components on what files hold, in one thread and on the files' clock (log times): for each
/// message, all that follows from it is done before the next one comes, and timers run at their times between them. The
/// same files give the same output, byte for byte, as long as components look at no other clock and at nothing else
/// that changes. It ends with the last message. A topic that a component publishes is not taken from the files.
/// A service that components ask and none answers is answered from the files, if they have its events with contents: a
/// question with the content of a recorded one gets its answer, when it was recorded.
/// Recorded static transforms are, but for frames that the configuration places. The output has the samples of the
/// components, and the transforms of the configuration, in the order in which they were published, as ROS 2 has them
/// (CDR), encoded objects as they are encoded. Throws Error: InvalidArgument (no such component, no MCAP file, the
/// output is there), System (the disk), and what components throw when they start. One at a time in a process; blocks
/// until it is done.
[[nodiscard]] SimulateReport simulate(const config::Configuration& configuration, const std::vector<std::string>& files,
                                      const SimulateOptions& options);

}  // namespace cardan::record
