// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "demo/options.hpp"

namespace cardan::street {

/// Runs demo/street.json as five processes with and without its priorities and as one, then the same over
/// Unix sockets; shows and reports. Exit codes: 0 done (also when Ctrl-C cut it short), 1 failed, 2 something that the
/// user named does not exist. `on_start` is called when all options have been accepted, before anything is
/// started.
int run_demo(const DemoOptions& options, const std::function<void()>& on_start);

}  // namespace cardan::street
