// SPDX-License-Identifier: Apache-2.0
// `cardan play`, and `cardan run FILE --from BAG`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cardan/config/configuration.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

struct RunFromOptions {
  std::vector<std::string> files;
  std::vector<std::string> without;
  std::string output;
  bool force = false;
  double start = 0;  ///< seconds from the files' first message
  std::optional<double> seconds{};
  std::string json{};                      ///< file for a summary
  std::string reports = "out";             ///< folder of the crash reports
  double grace = 5;                        ///< seconds that a callback gets to come back when the end was asked for
  std::string command = "/proc/self/exe";  ///< the program `cardan`, which writes the report of a crash
};

/// Adds the options to `cardan run`; all of them need the first one.
void add_run_from_options(CLI::App& command, RunFromOptions& options);
int run_from(const config::Configuration& configuration, const RunFromOptions& options);

}  // namespace cardan::apps
