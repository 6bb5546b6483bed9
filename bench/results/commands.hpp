// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::bench {

/// Adds `all`, `compare` and `report` to `cardan bench`.
void add_result_commands(CLI::App& group);

}  // namespace cardan::bench
