// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::apps {

/// A subcommand of `cardan`. Each source under apps/<name>/ registers its own, which is all there is to adding one:
///
///   const Command kCommand{300, add};  // `add` calls app.add_subcommand(); 300: its place in the help
///
/// Callbacks throw CLI::RuntimeError with the exit code when that is not 0, or Error. Before main(), one thread.
class Command {
 public:
  using Add = void (*)(CLI::App& app);
  Command(int place, Add add);
  /// Adds all that are linked, in the order of their places.
  static void add_all(CLI::App& app);
};

}  // namespace cardan::apps
