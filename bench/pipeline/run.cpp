// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "bench/results/host.hpp"
#include "bench/results/statistics.hpp"
#include "bench/transport/run.hpp"

namespace cardan::bench::perception {
namespace {

double to_ms(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e6; }

std::vector<std::string> command_of_stage(const PipelineOptions& options) {
  std::vector<std::string> words{"bench", "pipeline", "--chain", std::string(options.chain->name)};
  for (std::string& word : options.inputs.words()) words.push_back(std::move(word));
  return words;
}

/// The figures of a stage for frame `n`.
void evaluate_stage(const Graph& graph, std::uint32_t role, std::uint64_t n, StageFigures& out) {
  const Chain& chain = *graph.chain;
  const LinkEnd in = *chain.input_of(role);
  const Area& link = graph.links[in.link];
  const Stamps sent = graph.links.front().published(0)[n];
  if (!chain.has_one_input(role)) {  // the fusion, which is the last one
    const Stamps done = stamps_of_end(graph.stages)[n];
    ++out.due;
    if (sent.second == 0 || done.first == 0)
      ++out.lost;
    else
      out.processing.push_back(to_ms(done.second - done.first));
    return;
  }
  const Stamps given = link.published(0)[n];
  const Stamps taken = link.received(in.place, 0)[n];
  if (given.second == 0 && in.link != 0) return;  // the loss of a link before this one
  ++out.due;
  if (given.second == 0 || taken.first == 0) {
    ++out.lost;
    return;
  }
  out.transport.push_back(to_ms(taken.first - given.second));
  out.processing.push_back(to_ms(taken.second - taken.first));
  const auto next = chain.output_of(role);
  const bool is_joined = next && chain.links[next->link].publishers.size() > 1;
  if (!is_joined) out.latency.push_back(to_ms(taken.second - given.second));
  if (!next) return;
  const Stamps result = graph.links[next->link].published(next->place)[n];
  const Stamps arrived = is_joined ? graph.links[next->link].received(0, next->place)[n] : Stamps{};
  if (result.second == 0 || (is_joined && arrived.first == 0))
    ++out.results_lost;
  else if (is_joined)
    out.results.push_back(to_ms(arrived.first - result.second));
}

/// How often a second the stage's output was published.
double rate_of(const Graph& graph, lidar::Stage stage) {
  const Cell& cell = graph.stages.header().cell;
  std::vector<std::int64_t> times;
  for (std::uint64_t n = std::uint64_t{cell.warmup} + 1; n <= cell.frames; ++n)
    if (const Stamps out = graph.links[role_of(stage)].published(0)[n]; out.second != 0) times.push_back(out.second);
  return times.size() < 2
             ? 0
             : 1e9 * static_cast<double>(times.size() - 1) / static_cast<double>(times.back() - times.front());
}

/// The counts of each process: CPU, torn, refused, found, the rate of the first.
void take_roles(const Graph& graph, PipelineRun& run) {
  for (std::size_t role = 0; role < graph.chain->stages.size(); ++role) {
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

}  // namespace

double StageFigures::ratio_percent() const {
  const double processing_p50 = median(processing);
  return processing_p50 > 0 && !transport.empty() ? 100 * median(transport) / processing_p50 : 0;
}

PipelineRun evaluate_pipeline(const Graph& graph) {
  PipelineRun run;
  const Cell& cell = graph.stages.header().cell;
  const auto targets = graph.chain->find_link("targets");
  for (std::uint64_t n = std::uint64_t{cell.warmup} + 1; n <= cell.frames; ++n) {
    for (std::uint32_t role = 1; role < graph.chain->stages.size(); ++role)
      evaluate_stage(graph, role, n, run.stages.at(role));
    const Stamps sent = graph.links.front().published(0)[n];
    const Stamps done = stamps_of_end(graph.stages)[n];
    ++run.frames_due;
    if (sent.second == 0 || done.second == 0)
      ++run.frames_lost;
    else
      run.whole.push_back(to_ms(done.second - sent.second));
    if (!targets) continue;
    const Stamps target = graph.links[*targets].published(0)[n];
    const Stamps taken = graph.links[*targets].received(0, 0)[n];
    if (target.second != 0 && taken.first != 0) run.targets.push_back(to_ms(taken.first - target.second));
  }
  if (graph.chain == &lidar_chain()) run.ndt_hz = rate_of(graph, lidar::Stage::Localization);
  take_roles(graph, run);
  return run;
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
      outcome.run = evaluate_pipeline(graph);
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
