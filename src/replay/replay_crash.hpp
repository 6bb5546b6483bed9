// SPDX-License-Identifier: Apache-2.0
// `cardan run --from` runs the components itself: nobody else sees it crash.
#pragma once

#include <string>
#include <vector>

namespace cardan {
class Runtime;
}

namespace cardan::replay {

/// From now on a crash of this process leaves a report in `folder` as `cardan run` writes them of its processes, of a
/// process "replay" of this system, by the program `command` (cardan); then the process dies as it would have. Set-up;
/// once.
void report_crashes_of_replay(const std::string& system, const std::string& folder, const std::string& command);

/// The runtime of the report: SimulateOptions::on_runtime.
void crashes_are_of(const Runtime* runtime);

/// `cardan host --write-report WORDS`, which the crashed process starts: the exit code. Standard input is what the
/// crash handler wrote.
int write_replay_report(const std::vector<std::string>& words);

}  // namespace cardan::replay
