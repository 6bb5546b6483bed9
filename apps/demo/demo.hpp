// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::apps {

/// Adds `cardan demo`. Its callback throws CLI::RuntimeError with the exit code when that is not 0.
void add_demo_command(CLI::App& app);

}  // namespace cardan::apps
