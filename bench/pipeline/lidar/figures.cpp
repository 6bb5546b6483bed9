// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/figures.hpp"

#include "bench/pipeline/lidar/chain.hpp"

namespace cardan::bench::perception::lidar {
namespace {

double milliseconds(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e6; }

}  // namespace

PipelineRun evaluate_lidar(const Graph& graph) {
  PipelineRun run;
  const Cell& cell = graph.stages.header().cell;
  const std::size_t last = graph.links.size() - 1;
  std::int64_t first_pose = 0;
  std::int64_t last_pose = 0;
  std::uint64_t poses = 0;
  for (std::uint64_t n = std::uint64_t{cell.warmup} + 1; n <= cell.frames; ++n) {
    const Stamps sent = graph.links.front().published(0)[n];
    for (std::size_t i = 0; i < graph.links.size(); ++i) {
      const Stamps out = graph.links[i].published(0)[n];
      const Stamps in = graph.links[i].received(0, 0)[n];
      if (out.second == 0) continue;  // the loss of a link before this one
      StageFigures& stage = run.stages.at(i + 1);
      ++stage.due;
      if (in.first == 0 || in.second == 0) {
        ++stage.lost;
        continue;
      }
      stage.transport.push_back(milliseconds(in.first - out.second));
      stage.processing.push_back(milliseconds(in.second - in.first));
      stage.latency.push_back(milliseconds(in.second - out.second));
    }
    ++run.frames_due;
    const Stamps decided = graph.links[last].received(0, 0)[n];
    if (sent.second == 0 || decided.second == 0)
      ++run.frames_lost;
    else
      run.whole.push_back(milliseconds(decided.second - sent.second));
    if (const Stamps pose = graph.links[role_of(Stage::Localization)].published(0)[n]; pose.second != 0) {
      if (poses++ == 0) first_pose = pose.second;
      last_pose = pose.second;
    }
  }
  if (poses > 1) run.ndt_hz = 1e9 * static_cast<double>(poses - 1) / static_cast<double>(last_pose - first_pose);
  take_roles(graph, run);
  return run;
}

}  // namespace cardan::bench::perception::lidar
