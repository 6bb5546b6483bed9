// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "bench/pipeline/lidar/figures.hpp"
#include "bench/results/statistics.hpp"
#include "bench/transport/host.hpp"
#include "bench/transport/run.hpp"

namespace cardan::bench::perception {
namespace {

double to_ms(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e6; }

std::vector<std::string> command_of_stage(const PipelineOptions& options) {
  std::vector<std::string> words{
      "bench", "pipeline", "--chain", std::string(options.chain->name), "--threads", std::to_string(options.threads)};
  for (const auto& [option, value] : {std::pair{"--camera", &options.camera},
                                      {"--detector", &options.detector},
                                      {"--lidar", &options.lidar},
                                      {"--from", &options.from},
                                      {"--topic", &options.topic}})
    if (!value->empty()) words.insert(words.end(), {option, *value});
  return words;
}

void evaluate_finder(const Graph& graph, Stage finder, std::uint64_t n, StageFigures& out) {
  const std::uint32_t place = place_of(finder);
  const Stamps sent = graph.link(Link::Pictures).published(0)[n];
  const Stamps got = graph.link(Link::Pictures).received(place, 0)[n];
  ++out.due;
  if (sent.second == 0 || got.first == 0) {
    ++out.lost;
    return;
  }
  out.transport.push_back(to_ms(got.first - sent.second));
  out.processing.push_back(to_ms(got.second - got.first));
  const Stamps given = graph.link(Link::Results).published(place)[n];
  const Stamps taken = graph.link(Link::Results).received(0, place)[n];
  if (given.second == 0 || taken.first == 0)
    ++out.results_lost;
  else
    out.results.push_back(to_ms(taken.first - given.second));
}

}  // namespace

double StageFigures::ratio_percent() const {
  const double processing_p50 = median(processing);
  return processing_p50 > 0 && !transport.empty() ? 100 * median(transport) / processing_p50 : 0;
}

PipelineRun evaluate_pipeline(const Graph& graph) {
  PipelineRun run;
  const Cell& cell = graph.stages.header().cell;
  for (std::uint64_t n = std::uint64_t{cell.warmup} + 1; n <= cell.frames; ++n) {
    for (const Stage finder : kFinders) evaluate_finder(graph, finder, n, run.stage(finder));
    const Stamps sent = graph.link(Link::Pictures).published(0)[n];
    const Stamps fused = graph.stages.received(kFusionReader, 0)[n];
    StageFigures& fusion = run.stage(Stage::Fusion);
    ++fusion.due;
    if (sent.second == 0 || fused.first == 0) {
      ++fusion.lost;
    } else {
      fusion.processing.push_back(to_ms(fused.second - fused.first));
      run.whole.push_back(to_ms(fused.second - sent.second));
    }
    const Stamps target = graph.link(Link::Targets).published(0)[n];
    const Stamps taken = graph.link(Link::Targets).received(0, 0)[n];
    if (target.second != 0 && taken.first != 0) run.targets.push_back(to_ms(taken.first - target.second));
  }
  run.frames_due = run.stage(Stage::Fusion).due;
  run.frames_lost = run.stage(Stage::Fusion).lost;
  take_roles(graph, run);
  return run;
}

void take_roles(const Graph& graph, PipelineRun& run) {
  const std::size_t stages =
      graph.stages.header().cell.scenario.publishers + graph.stages.header().cell.scenario.subscribers;
  for (std::size_t role = 0; role < stages; ++role) {
    const RoleSlot& slot = graph.stages.role(role);
    StageFigures& figures = run.stages.at(role);
    figures.torn = slot.torn;
    run.refused += slot.refused;
    if (slot.wall_ns > 0)
      figures.cpu_percent = 100 * static_cast<double>(slot.cpu_ns) / static_cast<double>(slot.wall_ns);
    if (slot.messages > 0) figures.found = static_cast<double>(slot.found) / static_cast<double>(slot.messages);
  }
  const RoleSlot& first = graph.stages.role(0);
  if (first.wall_ns > 0)
    run.achieved_rate_hz = 1e9 * static_cast<double>(first.messages) / static_cast<double>(first.wall_ns);
}

PipelineOutcome run_pipeline_once(const Mix& mix, const PipelineOptions& options,
                                  std::span<const std::size_t> link_bytes, const std::string& run_dir,
                                  QuietSignals& signals) {
  PipelineOutcome outcome;
  const CpuTicks start = read_cpu_ticks();
  const double own_before = seconds_of_children();
  try {
    Graph graph = make_graph(*options.chain, mix.links, link_bytes, options.rate_hz, options.frames, options.warmup);
    double steal = 0;
    outcome.failure =
        run_wired(graph.stages, std::move(graph.wiring), command_of_stage(options), run_dir, signals, steal);
    outcome.interrupted = signals.interrupted();
    if (outcome.failure.empty()) {
      outcome.run = options.chain == &camera_chain() ? evaluate_pipeline(graph) : lidar::evaluate_lidar(graph);
      outcome.run.steal_percent = steal;
      const double own = (seconds_of_children() - own_before) * static_cast<double>(::sysconf(_SC_CLK_TCK));
      outcome.run.other_load_percent = other_load_percent(start, read_cpu_ticks(), own);
    }
  } catch (const std::exception& e) {
    outcome.failure = e.what();
  }
  return outcome;
}

}  // namespace cardan::bench::perception
