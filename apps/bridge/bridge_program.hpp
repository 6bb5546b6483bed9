// SPDX-License-Identifier: Apache-2.0
// The common part of the programs cardan-bridge-KIND: options, rules, the live view, the report at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/bridge/bridge.hpp"
#include "src/bridge/rules.hpp"

namespace CLI {
class App;
}

namespace cardan::apps {

/// The options that every kind has. Those that are given override the file.
struct BridgeOptions {
  std::string file;
  std::vector<std::string> topics, exclude, types, in, rename;
  std::string name_space, domain, network, access;
  double max_hz = -1;
  double seconds = 0;  ///< 0: until a signal
  bool reliable = false, best_effort = false, owner = false;
  bool json = false, quiet = false;
  /// Of a bridge that `cardan run` starts: "ready" goes there once it works, or why it never will; −1: none.
  int ready_fd = -1;
};
void add_bridge_options(CLI::App& app, BridgeOptions& options);

/// The rules of the file and the options together. Shows what is wrong with the file, and throws CLI::RuntimeError
/// (kUsage) then. Throws Error (InvalidArgument): the file cannot be read, or an option makes no sense.
[[nodiscard]] bridge::Rules rules_of(const BridgeOptions& options);

/// Runs the bridge until a signal, and shows each second what it carries: a table on a terminal, with --json one object
/// per line. `network`: of its statistics. Returns the exit code: kLoss if something was lost or refused, unless
/// `cardan run` started it, for which only 0 is an end in order.
[[nodiscard]] int run_bridge(const BridgeOptions& options, const bridge::Rules& rules, const std::string& network,
                             bridge::Bridge& bridge);

/// `main` of a bridge: parses, makes it, runs it. `add` adds its own options; `make` makes it.
struct BridgeProgram {
  std::string name;         ///< "dds"
  std::string description;  ///< one line
  std::string examples;
  std::function<void(CLI::App&)> add;
  /// Before the rules are read.
  std::function<void(BridgeOptions&)> prepare{};
  /// May change the rules by its own options.
  std::function<std::unique_ptr<bridge::Bridge>(bridge::Rules&)> make;
  /// The name of the network, once it is made.
  std::function<std::string(const bridge::Rules&)> network;
};
[[nodiscard]] int bridge_main(const BridgeProgram& program, int argc, char** argv);

}  // namespace cardan::apps
