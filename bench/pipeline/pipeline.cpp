// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/pipeline/options.hpp"
#include "bench/pipeline/report.hpp"
#include "bench/pipeline/run.hpp"
#include "bench/pipeline/stages.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/results/words.hpp"
#include "bench/temporary_folder.hpp"
#include "bench/transport/progress.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace perception {
namespace {

class PipelineBench {
 public:
  explicit PipelineBench(PipelineOptions options) {
    report_.options = std::move(options);
    report_.left_out = report_.options.left_out;
  }

  int run() {
    if (!has_stages(*options().chain)) return say_nothing_is_measured();
    report_.inputs = stages_module(*options().chain).look(options().inputs);
    for (const Mix& mix : options().mixes) report_.rows.push_back({.mix = mix, .runs = {}});
    std::vector<Contender> used;
    for (const Mix& mix : options().mixes) used.insert(used.end(), mix.links.begin(), mix.links.end());
    const auto companions =
        start_companions(used, run_directory_.path(), [this](const std::string& words) { fail(words); });
    progress_.line(fmt::format("{} ways to make the links × {} rounds: about {}; {}", options().mixes.size(),
                               options().runs, name_of_duration(expected_left(0, 0)), name_of_inputs(report_)));
    const CpuTicks before = read_cpu_ticks();
    for (std::uint32_t round = 0; round < options().runs && !signals_.interrupted(); ++round) {
      const std::vector<std::size_t> order = order_of(options().mixes.size(), round);
      for (std::size_t i = 0; i < order.size() && !signals_.interrupted(); ++i) run_mix(round, i, order[i]);
    }
    std::erase_if(report_.rows, [](const PipelineRow& row) { return row.runs.empty(); });
    report_.host = describe_host();
    report_.steal_percent = steal_percent(before, read_cpu_ticks());
    report_.interrupted = signals_.interrupted();
    return finish();
  }

 private:
  [[nodiscard]] const PipelineOptions& options() const noexcept { return report_.options; }
  [[nodiscard]] double expected_left(std::uint32_t round, std::size_t done) const {
    const double runs = static_cast<double>(options().runs - round) * static_cast<double>(options().mixes.size()) -
                        static_cast<double>(done);
    return runs * expected_seconds(options());
  }

  /// Built without OpenCV or PCL, the part is left out, and the others of `cardan bench all` are not to blame for it.
  int say_nothing_is_measured() {
    report_.left_out.push_back(sentence_without_stages(*options().chain));
    report_.host = describe_host();
    return finish();
  }

  void fail(std::string words) {
    progress_.line("failed: " + words);
    report_.failures.push_back(std::move(words));
  }

  // One run, repeated while the hypervisor takes too much.
  void run_mix(std::uint32_t round, std::size_t done, std::size_t index) {
    const Mix& mix = options().mixes[index];
    const std::string name = fmt::format("{} {}", bench::name_of(mix.contender.peer), mix.setup());
    auto best = least_disturbed([&](int attempt) -> std::optional<PipelineRun> {
      progress_.now(fmt::format("round {}/{} · {}{} · about {} left", round + 1, options().runs, name,
                                attempt > 0 ? " (again: steal)" : "", name_of_duration(expected_left(round, done))));
      PipelineOutcome outcome =
          run_pipeline_once(mix, options(), report_.inputs.link_bytes, run_directory_.path(), signals_);
      if (outcome.interrupted) return std::nullopt;
      if (outcome.failure.empty()) return std::move(outcome.run);
      fail(fmt::format("round {} {}: {}", round + 1, name, outcome.failure));
      return std::nullopt;
    });
    if (!best) return;
    const double p50 = summarize(best->whole).p50;
    PipelineRow& row = report_.rows[index];
    row.stolen = row.stolen || best->steal_percent > kMostStealPercent;
    row.runs.push_back(std::move(*best));
    progress_.plain(fmt::format("round {}/{} {}: {} p50 {} ms", round + 1, options().runs, name, options().chain->whole,
                                three_digits(p50)));
  }

  int finish() {
    std::uint64_t lost = 0;
    for (const PipelineRow& row : report_.rows) lost += lost_by_cardan(row, *options().chain);
    const std::string loss = fmt::format(
        "links made by `cardan` lost {} messages. Topics here have depth 1: a stage that is slower than its input gets "
        "the newest message, and counts the others as lost. Use a lower --rate",
        lost);
    return bench::finish(report_, to_table(report_), options().json, to_json(report_), lost > 0 ? loss : "");
  }

  PipelineReport report_;
  QuietSignals signals_;
  const TemporaryFolder run_directory_;  // so that the bench neither sees nor disturbs what runs on this computer
  Progress progress_;
};

}  // namespace
}  // namespace perception

int run_pipeline_bench(const PipelineArguments& arguments, const std::vector<int>& cpus) {
  using namespace perception;
  if (arguments.role_fd >= 0) {
    const Chain* const chain = find_chain(arguments.chain);
    return play_stage(arguments.role_fd, static_cast<std::uint32_t>(std::max(arguments.role_index, 0)),
                      chain != nullptr ? *chain : camera_chain(), arguments.inputs);
  }
  return exit_code_of("pipeline", [&] { return PipelineBench(parse_pipeline(arguments, cpus)).run(); });
}

}  // namespace cardan::bench
