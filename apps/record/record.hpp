// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::apps {

void add_record_command(CLI::App& app);

}  // namespace cardan::apps
