// SPDX-License-Identifier: Apache-2.0
#include "bench/record/rows.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/results/words.hpp"

namespace cardan::bench::recording {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6;

constexpr double kSteps = 1e4;  // milliseconds need one digit more than microseconds

Json number(double value) { return rounded(value, kSteps); }

Json summary_of(const std::vector<double>& samples) {
  Json out{{"count", samples.size()}};
  out.update(bench::to_json(summarize(samples), kSteps));
  return out;
}

template <class Figure>
Json by_run(const Row& row, Figure figure) {
  Json all = Json::array();
  for (const RunFigures& run : row.runs) all.push_back(number(figure(run)));
  return all;
}

// The median of what only some recorders tell.
Json told(const Row& row, std::optional<double> RunFigures::* figure) {
  std::vector<double> values;
  for (const RunFigures& run : row.runs)
    if (run.*figure) values.push_back(*(run.*figure));
  return values.empty() ? Json(nullptr) : number(median(values));
}

void add_recording(Json& out, const Row& row) {
  const auto sum = [&](auto figure) {
    std::uint64_t all = 0;
    for (const RunFigures& run : row.runs) all += figure(run);
    return all;
  };
  out["made"] = sum([](const RunFigures& r) { return r.made; });
  out["skipped"] = sum([](const RunFigures& r) { return r.skipped; });
  out["recorded"] = sum([](const RunFigures& r) { return r.recorded; });
  out["share"] = number(row.median_of([](const RunFigures& r) { return r.share(); }));
  out["share_by_run"] = by_run(row, [](const RunFigures& r) { return r.share(); });
  out["damaged"] = sum([](const RunFigures& r) { return r.damaged; });
  std::map<std::string, std::uint64_t> causes;
  for (const RunFigures& run : row.runs)
    for (const auto& [cause, count] : run.lost_by_cause)
      if (count > 0) causes[cause] += count;
  out["lost_by_cause"] = causes;
  out["recorder_cpu_s"] = {
      {"user", number(row.median_of([](const RunFigures& r) { return r.recorder_cpu.user; }))},
      {"system", number(row.median_of([](const RunFigures& r) { return r.recorder_cpu.system; }))}};
  out["producers_cpu_s"] = number(row.median_of([](const RunFigures& r) { return r.producers_cpu_s; }));
  out["memory_mib"] = number(row.median_of([](const RunFigures& r) { return r.memory_mib; }));
  out["own_mib"] = number(row.median_of([](const RunFigures& r) { return r.own_mib; }));
  out["held_mib"] = number(row.median_of([](const RunFigures& r) { return r.held_mib; }));
  out["time_ms"] = {{"handling", told(row, &RunFigures::handling_ms)},
                    {"encoding", told(row, &RunFigures::encoding_ms)},
                    {"system_calls", told(row, &RunFigures::system_calls_ms)}};
  out["path_ms"] = {{"p50", told(row, &RunFigures::path_p50_ms)}, {"p99", told(row, &RunFigures::path_p99_ms)}};
}

}  // namespace

std::string_view name_of(Part part) noexcept {
  constexpr std::array<std::string_view, kParts> kNames{"rate", "phases",    "cameras", "mix",
                                                        "task", "bystander", "pipeline"};
  return kNames.at(static_cast<std::size_t>(part));
}

namespace {
// By the value of Peer.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kPeers{{{"none", "alone"},
                                                                                {"none", "unrecorded"},
                                                                                {"fio", "io_uring, O_DIRECT"},
                                                                                {"fio", "buffered"},
                                                                                {"cardan", "cycle"},
                                                                                {"cardan", "asap"},
                                                                                {"speed", "copies"},
                                                                                {"rosbag2", "no transport"},
                                                                                {"rosbag2", "cardan topics"},
                                                                                {"rosbag", "ROS 1"}}};
}  // namespace

std::string_view name_of(Peer peer) noexcept { return kPeers[static_cast<std::size_t>(peer)].first; }
std::string_view how_of(Peer peer) noexcept { return kPeers[static_cast<std::size_t>(peer)].second; }

double Row::median_value(std::vector<double> values) { return median(std::move(values)); }

std::vector<double> Row::pooled(std::vector<double> RunFigures::* samples) const {
  std::vector<double> all;
  for (const RunFigures& run : runs) all.insert(all.end(), (run.*samples).begin(), (run.*samples).end());
  return all;
}

double Row::deviation(std::vector<double> RunFigures::* samples) const {
  return median_of([&](const RunFigures& run) { return summarize(run.*samples).std; });
}

Json to_json(const Row& row) {
  Json out;
  out["part"] = name_of(row.part);
  out["peer"] = name_of(row.peer);
  out["how"] = how_of(row.peer);
  const bool sensors = row.peer != Peer::Alone && row.peer != Peer::Fio && row.peer != Peer::FioBuffered;
  if (sensors) {
    out["schedule"] = name_of(row.schedule);
    out["cameras"] = row.cameras;
    out["offered_mb_s"] = number(row.bytes_per_second / kMega);
  }
  if (row.scene != 0) out["scene"] = std::string(1, row.scene);
  out["runs"] = row.runs.size();
  out["seconds"] = number(row.median_of([](const RunFigures& r) { return r.seconds; }));
  if (!row.runs.empty() && !row.runs.front().mode.empty()) out["mode"] = row.runs.front().mode;
  if (sensors && row.peer != Peer::Unrecorded) add_recording(out, row);
  if (row.median_of([](const RunFigures& r) { return static_cast<double>(r.file_bytes); }) > 0) {
    out["file_mb"] =
        number(row.median_of([](const RunFigures& r) { return static_cast<double>(r.file_bytes) / kMega; }));
    out["rate_mb_s"] = number(row.median_of([](const RunFigures& r) { return r.bytes_per_second() / kMega; }));
    out["rate_mb_s_by_run"] = by_run(row, [](const RunFigures& r) { return r.bytes_per_second() / kMega; });
    // With a task or a pipeline the recording's CPU time is not told from theirs.
    if (row.part != Part::Task && row.part != Part::Bystander && row.part != Part::Pipeline)
      out["cpu_s_per_gb"] = number(row.median_of([](const RunFigures& r) { return r.cpu_s_per_gb(); }));
  }
  const auto add_samples = [&](const char* name, std::vector<double> RunFigures::* samples) {
    const std::vector<double> all = row.pooled(samples);
    if (all.empty()) return;
    out[name] = summary_of(all);
    out[name]["std_by_run"] = by_run(row, [&](const RunFigures& r) { return summarize(r.*samples).std; });
  };
  add_samples("publish_us", &RunFigures::publish_us);
  add_samples("transport_us", &RunFigures::transport_us);
  add_samples("tasks_per_33_ms", &RunFigures::tasks);
  add_samples("end_to_end_ms", &RunFigures::end_to_end_ms);
  if (row.part == Part::Pipeline)
    out["pipeline_missed"] = row.median_of([](const RunFigures& r) { return static_cast<double>(r.pipeline_missed); });
  out["steal_percent"] = number(row.median_of([](const RunFigures& r) { return r.steal_percent; }));
  out["stolen"] = row.stolen;
  return out;
}

}  // namespace cardan::bench::recording
