// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::apps {

/// Adds `cardan completion bash|zsh|fish`.
void add_completion_command(CLI::App& app);

}  // namespace cardan::apps
