// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/exit_code.hpp"
#include "bench/pipeline/options.hpp"
#include "bench/pipeline/report.hpp"
#include "bench/pipeline/run.hpp"
#include "bench/pipeline/stages.hpp"
#include "bench/results/words.hpp"
#include "bench/temporary_folder.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/progress.hpp"
#include "bench/transport/report.hpp"
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
    start_companions();
    progress_.line(fmt::format("{} ways to make the links × {} rounds: about {}; {}", options().mixes.size(),
                               options().runs, name_of_duration(expected_left(0, 0)), name_of_inputs(report_)));
    const CpuTicks before = read_cpu_ticks();
    for (std::uint32_t round = 0; round < options().runs && !signals_.interrupted(); ++round) {
      // Rotated, so that nobody always follows the same neighbour or always comes first.
      std::vector<std::size_t> order(options().mixes.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(round % order.size()), order.end());
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

  void start_companions() {
    std::vector<Contender> used;
    for (const Mix& mix : options().mixes) used.insert(used.end(), mix.links.begin(), mix.links.end());
    for (const Peer& peer : peers_of(used)) {
      const PeerKind& kind = kind_of(peer);
      if (kind.start_companion == nullptr) continue;
      try {
        companions_.push_back(kind.start_companion(run_directory_.path()));
      } catch (const Error& e) {  // its runs will say that they were not ready; the others continue
        fail(fmt::format("{}: {}", bench::name_of(peer), e.what()));
      }
    }
  }

  void fail(std::string words) {
    progress_.line("failed: " + words);
    report_.failures.push_back(std::move(words));
  }

  // One run, repeated while the hypervisor takes too much.
  void run_mix(std::uint32_t round, std::size_t done, std::size_t index) {
    const Mix& mix = options().mixes[index];
    const std::string name = fmt::format("{} {}", bench::name_of(mix.contender.peer), mix.setup());
    PipelineOutcome best;
    for (int attempt = 0; attempt <= kMostRepetitions; ++attempt) {
      progress_.now(fmt::format("round {}/{} · {}{} · about {} left", round + 1, options().runs, name,
                                attempt > 0 ? " (again: steal)" : "", name_of_duration(expected_left(round, done))));
      PipelineOutcome outcome =
          run_pipeline_once(mix, options(), report_.inputs.link_bytes, run_directory_.path(), signals_);
      if (outcome.interrupted) return;
      if (!outcome.failure.empty()) return fail(fmt::format("round {} {}: {}", round + 1, name, outcome.failure));
      if (attempt == 0 || outcome.run.steal_percent < best.run.steal_percent) best = std::move(outcome);
      if (best.run.steal_percent <= kMostStealPercent) break;
    }
    const double p50 = summarize(best.run.whole).p50;
    PipelineRow& row = report_.rows[index];
    row.stolen = row.stolen || best.run.steal_percent > kMostStealPercent;
    row.runs.push_back(std::move(best.run));
    progress_.plain(fmt::format("round {}/{} {}: {} p50 {} ms", round + 1, options().runs, name, options().chain->whole,
                                three_digits(p50)));
  }

  int finish() {
    fmt::print("{}", to_table(report_));
    if (!options().json.empty()) write_json(options().json, to_json(report_));
    if (report_.interrupted) {
      progress_.line("interrupted: what is above is what was measured until then");
      return kFailed;
    }
    if (!report_.failures.empty()) return kFailed;
    std::uint64_t lost = 0;
    for (const PipelineRow& row : report_.rows) lost += lost_by_cardan(row, *options().chain);
    if (lost == 0) return kOk;
    progress_.line(fmt::format(
        "links made by `cardan` lost {} messages. Topics here have depth 1: a stage that is slower than its "
        "input gets the newest message, and counts the others as lost. Use a lower --rate",
        lost));
    return kWithLoss;
  }

  PipelineReport report_;
  QuietSignals signals_;
  const TemporaryFolder run_directory_;  // so that the bench neither sees nor disturbs what runs on this computer
  Progress progress_;
  std::vector<std::shared_ptr<void>> companions_;  // daemons of peers
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
