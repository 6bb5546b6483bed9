// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::apps {

/// The option --max-chunk, which every command has that unpacks chunks of recordings: sets the limit of this process.
void add_max_chunk(CLI::App* command);

}  // namespace cardan::apps
