// SPDX-License-Identifier: Apache-2.0
// The work of `cardan run` besides supervising.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cardan/configuration.hpp"
#include "src/config/check.hpp"
#include "src/system/launcher/log_file.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::apps {

/// Reports what `cardan check` reports of the file, with the changes of the command line; false: that has an
/// error. `asks`: also what only the components know. Warnings go to `say`; of a file with
/// an error all goes to standard error as `check` does it, and to `refuse`, a line each. Blocks until the components
/// have answered. `declared`: where to put what they declare.
bool passes_check(const config::Configuration& configuration, std::vector<config::Problem> in_text,
                  const std::string& file, bool asks, const std::function<void(LogLevel, const std::string&)>& say,
                  const std::function<void(const std::string&)>& refuse, config::Declarations* declared = nullptr);

/// A line of `cardan run` itself, now.
launcher::LogLine own_line(LogLevel level, std::string_view text);

/// A line of the merged log as a file has it, with the date.
std::string file_text(const launcher::LogLine& line);

/// "NAME" or "NAME@SECONDS": a process or component that is to crash. One thread.
class PlannedCrash {
 public:
  /// Throws Error (InvalidArgument).
  PlannedCrash(const std::string& text, const config::Configuration& configuration, std::string domain);
  PlannedCrash(const PlannedCrash&) = delete;
  PlannedCrash& operator=(const PlannedCrash&) = delete;
  ~PlannedCrash();

  /// Lets it crash once its time has come and it runs: as a callback of the component, so that the report is about it.
  /// If that does not happen, by a signal to its busiest thread.
  void look(const launcher::Supervisor& supervisor);

 private:
  std::string process_, component_, domain_;
  double seconds_ = 5;
  std::int64_t due_ns_ = 0;  ///< from the first look on
  pid_t pid_ = 0;            ///< as on_start() gave it
  std::int64_t told_ns_ = 0;
  std::thread asks_;
};

}  // namespace cardan::apps
