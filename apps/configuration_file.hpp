// SPDX-License-Identifier: Apache-2.0
// What `cardan run`, `check` and `graph` share.
#pragma once

#include <string>
#include <vector>

#include "cardan/config/configuration.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

/// "--var name=value", again for more.
void add_variables_option(CLI::App& command, std::vector<std::string>& variables);

/// The command that asks the components of the file what they declare, for launcher::DeclareOptions.
[[nodiscard]] std::vector<std::string> asking_command(const std::string& file,
                                                      const std::vector<std::string>& variables);

/// Each problem as a line on standard error: "FILE:line:col: error: cause — remedy".
void show(const std::vector<config::Problem>& problems, const std::string& file);

}  // namespace cardan::apps
