// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "src/system/host/control_client.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

/// All components of the domain; processes that did not answer, or answer other users only, are reported on standard
/// error. `files`: launchers also say which of their files have changed.
host::DomainComponents components_there(host::ControlClient& client, bool files = false);

/// The same of a domain; none where nothing runs yet (nothing_runs_yet()).
host::DomainComponents components_there(const std::string& domain, bool files = false);

/// Exit code and words when no component is called `name`, or its process is down; names those that look like it.
int no_such_component(const host::DomainComponents& there, const std::string& name);

/// `cardan component restart`: the exit code. Of a process that is down: starts it.
int restart_component(const std::string& domain, const std::string& name, bool json);

/// `cardan run --stop|--restart PROCESS…`, one after the other: the exit code. One that cannot be stopped or restarted
/// does not keep the others from it.
int order_processes(const std::string& domain, const std::vector<std::string>& processes, bool starts);

}  // namespace cardan::apps
