// SPDX-License-Identifier: Apache-2.0
// The rows of `cardan bench record` in the form of all results.
#include <fmt/format.h>

#include <algorithm>

#include "bench/record/rows.hpp"

namespace cardan::bench::recording {
namespace {

std::string command_of(const Row& row, double seconds) {
  const std::string_view peer = row.peer == Peer::Alone || row.peer == Peer::Unrecorded ? "cardan" : name_of(row.peer);
  std::string command =
      fmt::format("cardan bench record --only {} --peers {} --seconds {:g}", name_of(row.part), peer, seconds);
  if (row.part == Part::Cameras)
    command += fmt::format(" --cameras {} --schedule {}", row.cameras, name_of(row.schedule));
  return command;
}

std::string cell_of(const Row& row) {
  if (row.part == Part::Cameras) return fmt::format("cameras {} {}", row.cameras, name_of(row.schedule));
  if (row.part == Part::Pipeline) return fmt::format("pipeline {}", row.scene);
  return std::string(name_of(row.part));
}

}  // namespace

std::vector<Measurement> measurements_of(const Rows& rows, double seconds) {
  std::vector<Measurement> all;
  for (const Row& row : rows) {
    if (row.runs.empty()) continue;
    const Measurement frame{.part = "record",
                            .peer = std::string(name_of(row.peer)),
                            .setup = std::string(how_of(row.peer)),
                            .cell = cell_of(row),
                            .noisy = row.stolen,
                            .command = command_of(row, seconds)};
    const auto add = [&](const char* quantity, const char* unit, bool more_is_better, auto samples_of) {
      Measurement m = frame;
      m.quantity = quantity;
      m.unit = unit;
      m.more_is_better = more_is_better;
      for (const RunFigures& run : row.runs)
        if (std::vector<double> samples = samples_of(run); !samples.empty())
          m.runs.push_back(make_run(std::move(samples), run.steal_percent));
      if (!m.runs.empty()) all.push_back(std::move(m));
    };
    const auto given = [](bool is, double value) { return is ? std::vector<double>{value} : std::vector<double>{}; };
    const bool records = row.peer != Peer::Alone && row.peer != Peer::Unrecorded;
    const bool sensors = records && row.peer != Peer::Fio && row.peer != Peer::FioBuffered;
    const std::size_t first = all.size();
    if (sensors)
      add("recorded share", "%", true, [&](const RunFigures& r) { return given(r.made > 0, 100 * r.share()); });
    if (sensors && all.size() > first && row.part != Part::Rate) {  // there more is offered than any can write
      std::uint64_t made = 0;
      std::uint64_t recorded = 0;
      for (const RunFigures& run : row.runs) {
        made += run.made;
        recorded += std::min(run.recorded, run.made);
      }
      all[first].due = made;
      all[first].lost = made - recorded;
    }
    add("file's rate", "MB/s", true,
        [&](const RunFigures& r) { return given(r.file_bytes > 0, r.bytes_per_second() / 1e6); });
    // With a task or a pipeline, the recording's CPU time cannot be separated from theirs.
    if (row.part != Part::Task && row.part != Part::Bystander && row.part != Part::Pipeline)
      add("CPU per GB", "s/GB", false, [&](const RunFigures& r) { return given(r.file_bytes > 0, r.cpu_s_per_gb()); });
    if (row.part == Part::Phases) {
      const auto per_message = [&](std::optional<double> RunFigures::* figure) {
        return [&given, figure](const RunFigures& r) {
          const bool is = r.*figure && r.recorded > 0;
          return given(is, is ? *(r.*figure) / static_cast<double>(r.recorded) : 0);
        };
      };
      add("handling per message", "ms", false, per_message(&RunFigures::handling_ms));
      add("encoding per message", "ms", false, per_message(&RunFigures::encoding_ms));
      add("time in system calls per message", "ms", false, per_message(&RunFigures::system_calls_ms));
    }
    const auto samples = [](std::vector<double> RunFigures::* which) {
      return [which](const RunFigures& r) { return r.*which; };
    };
    add("publish", "us", false, samples(&RunFigures::publish_us));
    add("transport", "us", false, samples(&RunFigures::transport_us));
    add("tasks in 33 ms", "tasks", true, samples(&RunFigures::tasks));
    add("sensor to actuator", "ms", false, samples(&RunFigures::end_to_end_ms));
  }
  return all;
}

}  // namespace cardan::bench::recording
