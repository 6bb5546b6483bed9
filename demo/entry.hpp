// SPDX-License-Identifier: Apache-2.0
// How `cardan demo` calls the street's library. It is loaded when it is asked for: a command that linked with OpenCV
// would need a tenth of a second more for everything else, the restart of a crashed process among it.
#pragma once

#include "demo/demo.hpp"
#include "demo/processes/roles.hpp"

extern "C" {
/// run_demo() and run_role().
int cardan_street_demo(const cardan::street::DemoOptions& options, const std::function<void()>& on_start);
int cardan_street_role(const cardan::street::RoleOptions& options);
}

namespace cardan::street {
inline constexpr const char* kLibrary = "libstreet_components.so";
}
