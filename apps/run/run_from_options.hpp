// SPDX-License-Identifier: Apache-2.0
// The options of `cardan run FILE --from BAG`.
#pragma once

#include "src/replay/run_from.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

/// Adds the options to `cardan run`; all of them need the first one.
void add_run_from_options(CLI::App& command, replay::RunFromOptions& options);

}  // namespace cardan::apps
