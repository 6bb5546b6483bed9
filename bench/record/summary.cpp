// SPDX-License-Identifier: Apache-2.0
#include "bench/record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/record/sensors.hpp"
#include "bench/results/statistics.hpp"

namespace cardan::bench::recording {
namespace {

using Figure = std::optional<double>;

const Row* find(const Rows& rows, Part part, Peer peer, Schedule schedule = Schedule::Absolute, char scene = 0) {
  for (const Row& row : rows)
    if (row.part == part && row.peer == peer && row.schedule == schedule && row.scene == scene && !row.runs.empty())
      return &row;
  return nullptr;
}

Figure ratio(const Figure& a, const Figure& b) {
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b;
}
Figure greater(const Figure& a, const Figure& b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

/// The median over the rounds of the ratio of two rows' figures in the same round.
template <class Take>
Figure round_by_round(const Row* ours, const Row* theirs, Take take) {
  if (ours == nullptr || theirs == nullptr) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours->runs.size(), theirs->runs.size()); ++i)
    if (const auto r = ratio(take(ours->runs[i]), take(theirs->runs[i])); r) ratios.push_back(*r);
  if (ratios.empty()) return std::nullopt;
  return median(ratios);
}

/// Against the rosbag2 row that is better for it: the greater of both ratios of what is to be small.
template <class Take>
Figure against_rosbag2(const Rows& rows, Part part, Take take, char scene = 0) {
  const Row* const own = find(rows, part, Peer::Cardan, Schedule::Absolute, scene);
  return greater(round_by_round(own, find(rows, part, Peer::Rosbag2, Schedule::Absolute, scene), take),
                 round_by_round(own, find(rows, part, Peer::Rosbag2Topics, Schedule::Absolute, scene), take));
}

Figure rate_of(const RunFigures& run) { return run.bytes_per_second(); }
Figure cost_of(const RunFigures& run) { return run.file_bytes == 0 ? Figure() : Figure(run.cpu_s_per_gb()); }
Figure calls_of(const RunFigures& run) {
  if (!run.system_calls_ms || run.recorded == 0) return std::nullopt;
  return *run.system_calls_ms / static_cast<double>(run.recorded);
}
Figure task_std(const RunFigures& run) { return run.tasks.empty() ? Figure() : Figure(summarize(run.tasks).std); }
Figure pipeline_std(const RunFigures& run) {
  return run.end_to_end_ms.empty() ? Figure() : Figure(summarize(run.end_to_end_ms).std);
}
Figure p99_of(const Row* row, std::vector<double> RunFigures::* samples) {
  if (row == nullptr || row->pooled(samples).empty()) return std::nullopt;
  return summarize(row->pooled(samples)).p99;
}

/// The most cameras that a peer recorded whole before the first number that it did not.
Figure most_cameras(const Rows& rows, Peer peer, Schedule schedule) {
  std::map<std::uint32_t, bool> whole;
  for (const Row& row : rows)
    if (row.part == Part::Cameras && row.peer == peer && row.schedule == schedule && !row.runs.empty())
      whole[row.cameras] = row.median_of([](const RunFigures& run) { return run.whole() ? 1.0 : 0.0; }) > 0.5;
  if (whole.empty()) return std::nullopt;
  double most = 0;
  for (const auto& [count, recorded] : whole) {
    if (!recorded) break;
    most = count;
  }
  return most;
}

Figure most_cameras(const Rows& rows, Peer peer) {
  return greater(most_cameras(rows, peer, Schedule::Absolute), most_cameras(rows, peer, Schedule::IntegerMs));
}

nlohmann::ordered_json figure_json(const Figure& value) {
  if (!value) return nullptr;
  return std::round(*value * 1e4) / 1e4;
}

}  // namespace

RecordSummary summarize_rows(const Rows& rows) {
  RecordSummary s;
  const Row* const disk = find(rows, Part::Rate, Peer::Fio);
  s.rate_vs_fio = round_by_round(find(rows, Part::Rate, Peer::Cardan), disk, rate_of);
  s.rosbag2_vs_fio_buffered =
      round_by_round(find(rows, Part::Rate, Peer::Rosbag2), find(rows, Part::Rate, Peer::FioBuffered), rate_of);

  s.cameras = most_cameras(rows, Peer::Cardan);
  if (disk != nullptr)
    s.cameras_disk = std::floor(disk->median_of([](const RunFigures& run) { return run.bytes_per_second(); }) /
                                bytes_per_second(cameras(1)));
  const Figure rosbag2 = greater(most_cameras(rows, Peer::Rosbag2), most_cameras(rows, Peer::Rosbag2Topics));
  s.cameras_vs_rosbag2 = ratio(s.cameras, rosbag2);

  if (const Row* const mix = find(rows, Part::Mix, Peer::Cardan); mix != nullptr) {
    std::uint64_t lost = 0;
    for (const RunFigures& run : mix->runs) lost += run.made - std::min(run.made, run.recorded);
    s.lost = static_cast<double>(lost);
    s.memory_mib = mix->median_of([](const RunFigures& run) { return std::max(run.memory_mib, run.own_mib); });
  }

  s.path_time_vs_rosbag2 = against_rosbag2(rows, Part::Phases, calls_of);
  s.cpu_per_gb_vs_rosbag2 = against_rosbag2(rows, Part::Phases, cost_of);
  s.task_std_vs_rosbag2 = against_rosbag2(rows, Part::Task, task_std);
  s.task_std_vs_alone =
      round_by_round(find(rows, Part::Task, Peer::Cardan), find(rows, Part::Task, Peer::Alone), task_std);

  const Row* const recorded = find(rows, Part::Bystander, Peer::Cardan);
  const Row* const unrecorded = find(rows, Part::Bystander, Peer::Unrecorded);
  s.publish_p99_vs_unrecorded =
      ratio(p99_of(recorded, &RunFigures::publish_us), p99_of(unrecorded, &RunFigures::publish_us));
  s.transport_p99_vs_unrecorded =
      ratio(p99_of(recorded, &RunFigures::transport_us), p99_of(unrecorded, &RunFigures::transport_us));

  for (const char scene : {'A', 'B', 'C'}) {
    const Row* const cycle = find(rows, Part::Pipeline, Peer::Cardan, Schedule::Absolute, scene);
    const Row* const asap = find(rows, Part::Pipeline, Peer::CardanAsap, Schedule::Absolute, scene);
    s.pipeline_std_vs_asap = greater(s.pipeline_std_vs_asap, round_by_round(cycle, asap, pipeline_std));
    s.pipeline_std_vs_rosbag2 =
        greater(s.pipeline_std_vs_rosbag2, against_rosbag2(rows, Part::Pipeline, pipeline_std, scene));
  }
  return s;
}

nlohmann::ordered_json to_json(const RecordSummary& s) {
  return {{"rate_vs_fio", figure_json(s.rate_vs_fio)},
          {"rosbag2_vs_fio_buffered", figure_json(s.rosbag2_vs_fio_buffered)},
          {"cameras", figure_json(s.cameras)},
          {"cameras_disk", figure_json(s.cameras_disk)},
          {"cameras_vs_rosbag2", figure_json(s.cameras_vs_rosbag2)},
          {"lost", figure_json(s.lost)},
          {"path_time_vs_rosbag2", figure_json(s.path_time_vs_rosbag2)},
          {"cpu_per_gb_vs_rosbag2", figure_json(s.cpu_per_gb_vs_rosbag2)},
          {"memory_mib", figure_json(s.memory_mib)},
          {"task_std_vs_rosbag2", figure_json(s.task_std_vs_rosbag2)},
          {"task_std_vs_alone", figure_json(s.task_std_vs_alone)},
          {"publish_p99_vs_unrecorded", figure_json(s.publish_p99_vs_unrecorded)},
          {"transport_p99_vs_unrecorded", figure_json(s.transport_p99_vs_unrecorded)},
          {"pipeline_std_vs_asap", figure_json(s.pipeline_std_vs_asap)},
          {"pipeline_std_vs_rosbag2", figure_json(s.pipeline_std_vs_rosbag2)}};
}

std::vector<Verdict> judge(const RecordSummary& s) {
  std::vector<Verdict> all;
  const auto at_least = [&](const char* what, const Figure& found, double wanted) {
    all.push_back({what, fmt::format("≥ {:g}", wanted), found ? fmt::format("{:.3g}", *found) : "–",
                   found ? std::optional(*found >= wanted) : std::nullopt});
  };
  const auto at_most = [&](const char* what, const Figure& found, double wanted) {
    all.push_back({what, fmt::format("≤ {:g}", wanted), found ? fmt::format("{:.3g}", *found) : "–",
                   found ? std::optional(*found <= wanted) : std::nullopt});
  };
  at_least("rate, of fio's with io_uring and O_DIRECT", s.rate_vs_fio, 0.9);
  at_least("the rosbag2 peer's rate, of fio's buffered one", s.rosbag2_vs_fio_buffered, 0.9);
  // Three times that number may be more than the disk takes: then the limit is the disk.
  Verdict more{"cameras recorded to 99.9 %, of the rosbag2 peer's", "≥ 3, or all that the disk takes", "–",
               std::nullopt};
  if (s.cameras && s.cameras_vs_rosbag2) {
    more.found = fmt::format("{:.3g} ({:.0f} cameras{})", *s.cameras_vs_rosbag2, *s.cameras,
                             s.cameras_disk ? fmt::format("; the disk takes {:.0f}", *s.cameras_disk) : "");
    more.reached = *s.cameras_vs_rosbag2 >= 3 || (s.cameras_disk && *s.cameras >= *s.cameras_disk);
  } else if (s.cameras) {
    more.found = fmt::format("{:.0f} cameras, the peer none", *s.cameras);
    more.reached = *s.cameras > 0 ? std::optional(true) : std::nullopt;
  }
  all.push_back(more);
  at_most("messages lost of eight cameras and all other sensors", s.lost, 0);
  at_most("time in system calls on a message's way, of rosbag2's", s.path_time_vs_rosbag2, 0.05);
  at_most("CPU time of recording a GB, of rosbag2's", s.cpu_per_gb_vs_rosbag2, 0.2);
  at_most("the recorder's own memory at eight cameras, MiB", s.memory_mib, 64);
  at_most("deviation of the 10 ms task, of that with rosbag2", s.task_std_vs_rosbag2, 0.2);
  at_most("deviation of the 10 ms task, of that alone", s.task_std_vs_alone, 1.5);
  at_most("publish(), p99, of unrecorded", s.publish_p99_vs_unrecorded, 1.2);
  at_most("transport to another reader, p99, of unrecorded", s.transport_p99_vs_unrecorded, 1.2);
  at_most("deviation of the pipeline with cycle hints, of asap's, worst scene", s.pipeline_std_vs_asap, 1);
  at_most("the same, of rosbag2's, worst scene", s.pipeline_std_vs_rosbag2, 1.0 / 3);
  return all;
}

}  // namespace cardan::bench::recording
