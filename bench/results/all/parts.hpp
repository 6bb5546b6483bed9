// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cardan::bench {

/// A part of the bench, as a child process.
struct PartRun {
  std::string name{};                    ///< "sensors": also of its files
  std::string command{};                 ///< "transport", for `cardan bench transport`
  std::vector<std::string> arguments{};  ///< after the command
  double expected_seconds = 0;           ///< for the time that is left; it may take kLongest times as long
};

/// A part that takes longer than this many times what is expected, and five minutes, hangs.
inline constexpr double kLongest = 4;

/// Empty if no selection has this name. `peers`: those of the transport that this program has. `cpu_budget`: this
/// computer can limit the CPU time of processes; without, links at once have the whole computer.
[[nodiscard]] std::vector<PartRun> parts_of_selection(std::string_view selection, const std::vector<std::string>& peers,
                                                      bool cpu_budget);

/// "transport,sensors,readers".
[[nodiscard]] std::string names_of(const std::vector<PartRun>& parts);

/// How a part ended, as the state file keeps it.
struct PartState {
  std::string name{};
  std::vector<std::string> arguments{};
  int code = -1;        ///< exit code; −1: none, see `words`
  std::string words{};  ///< what went wrong; "": nothing
  double seconds = 0;
  [[nodiscard]] bool finished() const noexcept { return code == 0 || code == 3; }
};

/// The state file of a folder lists the parts that are done. read_state() returns an empty list if the file does not
/// exist. Both throw Error if the file is not a state or cannot be written.
[[nodiscard]] std::vector<PartState> read_state(const std::string& path);
void write_state(const std::string& path, const std::vector<PartState>& state);

}  // namespace cardan::bench
