// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cardan/runtime/host/control_client.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

/// Adds `cardan component list|stats|restart|log`. Callbacks throw CLI::RuntimeError with the exit code when that is
/// not 0, or Error.
void add_component_command(CLI::App& app);
/// Adds `cardan param list|get|set|save`, likewise.
void add_param_command(CLI::App& app);
/// Adds `cardan host`, which `cardan run` starts for each process; not shown in the help.
void add_host_command(CLI::App& app);

/// All components that run in the domain; what did not answer is said on standard error.
std::vector<host::ComponentReport> components_there(host::ControlClient& client);

/// Exit code and words when no component is called `name`; names those that look like it.
int no_such_component(const std::vector<host::ComponentReport>& components, const std::string& name);

}  // namespace cardan::apps
