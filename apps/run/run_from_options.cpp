// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_from_options.hpp"

#include <CLI/CLI.hpp>

#include "apps/bag/max_chunk.hpp"

namespace cardan::apps {

void add_run_from_options(CLI::App& command, replay::RunFromOptions& o) {
  auto* const from = command.add_option("--from", o.files,
                                        "Replay this recording to the components, in one process, as fast as they can, "
                                        "with the same result each time; repeatable");
  from->allow_extra_args(false);
  command
      .add_option("--without", o.without,
                  "With --from: leave out this component, or all of this process, such as a driver whose topics are in "
                  "the recording; repeatable")
      ->needs(from);
  command.add_option("--output", o.output, "With --from: write what the components publish to this file (MCAP)")
      ->needs(from);
  command.add_flag("--force", o.force, "With --output: replace the file if it exists")->needs(from);
  command
      .add_option("--start", o.start, "With --from: seconds after the first message to start at, or a date (RFC 3339)")
      ->check(CLI::Validator(replay::problem_of_recorded_time, "SECONDS|DATE"))
      ->needs(from);
  command.add_option("--until", o.until, "With --from: seconds after the first message to end at, or a date")
      ->check(CLI::Validator(replay::problem_of_recorded_time, "SECONDS|DATE"))
      ->needs(from);
  command
      .add_option(
          "--max-gap", o.max_gap,
          "With --from: skip times of more than this many seconds without a message, as when the clock was set; "
          "0: none")
      ->check(CLI::Range(0.0, 4e9))
      ->capture_default_str()
      ->needs(from);
  add_max_chunk(&command);
}

}  // namespace cardan::apps
