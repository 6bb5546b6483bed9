// SPDX-License-Identifier: Apache-2.0
#include "bench/record/record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/record/parts.hpp"
#include "bench/record/record_bench.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/results/occasion.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace recording {
namespace {

int run_bench(const RecordOptions& options) {
  RecordBench bench(options, is_stopped);
  bench.run();
  auto json = to_json(bench.rows(), bench.circumstances());
  json["measurements"] = bench::to_json(measurements_of(bench.rows(), options.seconds));
  const std::uint64_t lost = bench.lost_within_reach();
  const std::string loss =
      fmt::format("Cardan's recorder lost or damaged {} messages at loads that the disk can take", lost);
  return finish(bench.circumstances(), to_table(bench.rows(), bench.circumstances()), options.json, json,
                lost > 0 ? loss : "");
}

}  // namespace
}  // namespace recording

int run_record_bench(const RecordArguments& arguments, const std::vector<int>& cpus) {
  if (!arguments.part.empty()) return recording::play_recording_part(arguments.part.c_str());
  return exit_code_of("record", [&] {
    const recording::RecordOptions options = recording::parse_options(arguments, cpus);
    catch_stop();
    return recording::run_bench(options);
  });
}

}  // namespace cardan::bench
