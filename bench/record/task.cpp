// SPDX-License-Identifier: Apache-2.0
// SPEED's Fig. 10: a task of 10 ms of CPU again and again, and how many are done in each window of 33 ms.
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/record/parts.hpp"
#include "bench/record/work.hpp"
#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/cycle.hpp"

namespace cardan::bench::recording {
namespace {

constexpr std::int64_t kWindow = 33'000'000;
constexpr std::int64_t kTask = 10'000'000;
constexpr int kUnitsPerTask = kTask / kUnitNs;

}  // namespace

void play_task(const nlohmann::json& job) {
  Stage stage;
  const std::uint64_t steps = job.at("unit_steps");
  const double seconds = job.at("seconds");
  const auto windows = static_cast<std::size_t>(seconds * 1e9 / static_cast<double>(kWindow));
  std::vector<double> done(windows);
  Cycle cycle("task", std::chrono::nanoseconds(kTask));  // which never idles: the recorder has to get along with that
  stage.ready();
  if (!stage.wait_for_go()) return;

  // Fractions of a task: whole ones would hide what is shorter than 10 ms.
  std::uint64_t seed = 1;
  std::size_t window = 0;
  const std::int64_t start = now_ns();
  while (window < windows) {
    const auto run = cycle.run();
    for (int unit = 0; unit < kUnitsPerTask && window < windows; ++unit) {
      seed = do_unit(steps, seed);
      window = static_cast<std::size_t>((now_ns() - start) / kWindow);
      if (window < windows) done[window] += 1.0 / kUnitsPerTask;
    }
  }
  stage.done();
  stage.wait_for_end();
  Stage::report({{"tasks", done}, {"seed", seed}});
}

}  // namespace cardan::bench::recording
