// SPDX-License-Identifier: Apache-2.0
// The common part of the commands that read a configuration.
#pragma once

#include <string>
#include <vector>

#include "src/system/plan/plan.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

/// "--var name=value", again for more.
void add_variables_option(CLI::App& command, std::vector<std::string>& variables);

/// All that the command line can change of a file.
void add_plan_options(CLI::App& command, plan::PlanOptions& options);

/// Each problem as a line on standard error: "FILE:line:col: error: cause — remedy".
void show(const std::vector<config::Problem>& problems, const std::string& file);

}  // namespace cardan::apps
