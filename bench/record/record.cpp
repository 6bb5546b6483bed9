// SPDX-License-Identifier: Apache-2.0
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/exit_code.hpp"
#include "bench/record/parts.hpp"
#include "bench/record/record_bench.hpp"
#include "bench/transport/report.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace recording {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
void on_stop(int) { stop_asked = 1; }
bool is_stopped() { return stop_asked != 0; }

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = on_stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int run_bench(const RecordOptions& options) {
  RecordBench bench(options, is_stopped);
  bench.run();
  fmt::print("{}", to_table(bench.rows(), bench.circumstances()));
  if (!options.json.empty()) {
    auto json = to_json(bench.rows(), bench.circumstances());
    json["measurements"] = bench::to_json(measurements_of(bench.rows(), options.seconds));
    write_json(options.json, json);
  }
  if (is_stopped()) {
    fmt::print(stderr, "interrupted: what is above is what was measured until then\n");
    return kFailed;
  }
  if (!bench.circumstances().failures.empty()) return kFailed;
  if (const std::uint64_t lost = bench.lost_within_reach(); lost > 0) {
    fmt::print(stderr, "Cardan's recorder lost or damaged {} messages at loads that the disk can take\n", lost);
    return kWithLoss;
  }
  return kOk;
}

}  // namespace
}  // namespace recording

int run_record_bench(const RecordArguments& arguments, const std::vector<int>& cpus) {
  if (!arguments.part.empty()) return recording::play_recording_part(arguments.part.c_str());
  return exit_code_of("record", [&] {
    const recording::RecordOptions options = recording::parse_options(arguments, cpus);
    recording::catch_signals();
    return recording::run_bench(options);
  });
}

}  // namespace cardan::bench
