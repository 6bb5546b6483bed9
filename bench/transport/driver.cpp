// SPDX-License-Identifier: Apache-2.0
// The bench alone, without the rest of the command `cardan`: what the tests start.
#include <CLI/CLI.hpp>

#include "apps/bench/bench.hpp"
#include "bench/transport/transport.hpp"

int main(int argc, char** argv) {
  CLI::App app{"The benchmarks of Cardan"};
  cardan::apps::add_bench_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : cardan::bench::kUsage;
  }
  return 0;
}
