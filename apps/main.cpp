// SPDX-License-Identifier: Apache-2.0
// The command `cardan`. Each subcommand has its own folder, and registers itself (command.hpp).
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/program.hpp"

namespace {

constexpr const char* kExamples = R"(Examples:
  cardan doctor                          what this computer allows and lacks for Cardan
  cardan topic list                      what is published now
  cardan top                             processes, topics and callbacks, live
  cardan topic stats --all               rates, latency and loss, live
  cardan topic echo /camera/front --once
  cardan component stats                 what the callbacks of `cardan run` cost, live
  cardan param set detector/threshold 0.6

Each subcommand explains itself: cardan help topic echo, or cardan topic echo --help
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 done with loss.
Environment: CARDAN_RUN_DIR (run directory), CARDAN_DOMAIN (domain).)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Cardan: zero-copy publish and subscribe for vehicle computers, in microseconds", "cardan"};
  app.footer(kExamples);
  app.set_version_flag("--version", "cardan " CARDAN_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  cardan::apps::Command::add_all(app);
  return cardan::apps::run_program(app, {argv + 1, argv + argc});
}
