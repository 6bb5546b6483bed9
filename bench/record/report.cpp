// SPDX-License-Identifier: Apache-2.0
#include "bench/record/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench::recording {
namespace {

/// By the value of Part: the title of its table, and the head of its columns.
struct TableOf {
  const char* title;
  std::string head;
};
const TableOf& table_of(Part part) {
  static const std::string kHeadOfCameras =
      fmt::format("{:>9}{:>12}{:>9}{:>9}{:>10}{:>9}{:>11}{:>9}{:>10}", "cameras", "schedule", "made", "skipped",
                  "recorded", "share %", "CPU s/GB", "own MiB", "held MiB");
  static const std::array<TableOf, kParts> kTables{{
      {"How fast a file grows, everything on disk at the end",
       fmt::format("{:>10}{:>10}{:>12}{:>10}", "MB/s", "MB", "CPU s/GB", "steal %")},
      {"Where a message's time goes (SPEED's Fig. 7): one camera, 5,529,600 B at 36 Hz",
       fmt::format("{:>11}{:>11}{:>11}{:>12}{:>10}{:>10}{:>9}", "handling", "encoding", "sys calls", "CPU s/GB",
                   "path p50", "path p99", "share %")},
      {"Cameras on one topic (SPEED's Fig. 8): 5,529,600 B at 36 Hz each", kHeadOfCameras},
      {"Eight cameras and all other sensors (SPEED's Fig. 9)", kHeadOfCameras},
      {"A task of 10 ms of CPU while 1 GB/s are recorded (SPEED's Fig. 10): tasks done in each 33 ms",
       fmt::format("{:>9}{:>9}{:>9}{:>10}{:>9}", "mean", "std", "least", "share %", "MB/s")},
      {"A camera's publisher and another reader, while it is recorded",
       fmt::format("{:>13}{:>9}{:>15}{:>9}{:>9}", "publish p50", "p99", "transport p50", "p99", "share %")},
      {"From sensor to actuator (SPEED's Fig. 11), in three scenes",
       fmt::format("{:>7}{:>9}{:>9}{:>9}{:>9}{:>9}", "scene", "mean", "std", "p99", "missed", "share %")},
  }};
  return kTables.at(static_cast<std::size_t>(part));
}

double share_percent(const Row& row) {
  return 100 * row.median_of([](const RunFigures& run) { return run.share(); });
}
double mb_per_second(const Row& row) {
  return row.median_of([](const RunFigures& run) { return run.bytes_per_second() / 1e6; });
}
double cpu_per_gb(const Row& row) {
  return row.median_of([](const RunFigures& run) { return run.cpu_s_per_gb(); });
}

// Milliseconds for each message, or a blank where the recorder does not tell.
std::string per_message(const Row& row, std::optional<double> RunFigures::* figure) {
  std::vector<double> values;
  for (const RunFigures& run : row.runs)
    if (run.*figure && run.recorded > 0) values.push_back(*(run.*figure) / static_cast<double>(run.recorded));
  return values.empty() ? "–" : fmt::format("{:.3f}", median(values));
}
std::string told_ms(const Row& row, std::optional<double> RunFigures::* figure) {
  std::vector<double> values;
  for (const RunFigures& run : row.runs)
    if (run.*figure) values.push_back(*(run.*figure));
  return values.empty() ? "–" : three_digits(median(values));
}

std::string share_or_none(const Row& row) {
  return row.peer == Peer::Alone || row.peer == Peer::Unrecorded ? "–" : fmt::format("{:.2f}", share_percent(row));
}

std::string cells_of(const Row& row) {
  const auto total = [&](auto figure) {
    std::uint64_t sum = 0;
    for (const RunFigures& run : row.runs) sum += figure(run);
    return sum;
  };
  const auto made = total([](const RunFigures& run) { return run.made; });
  const auto recorded = total([](const RunFigures& run) { return run.recorded; });
  const auto skipped = total([](const RunFigures& run) { return run.skipped; });
  switch (row.part) {
    case Part::Rate:
      return fmt::format("{:>10.0f}{:>10.0f}{:>12.3f}{:>10.1f}", mb_per_second(row),
                         row.median_of([](const RunFigures& run) { return static_cast<double>(run.file_bytes) / 1e6; }),
                         cpu_per_gb(row), row.median_of([](const RunFigures& run) { return run.steal_percent; }));
    case Part::Phases:
      return fmt::format("{:>11}{:>11}{:>11}{:>12.3f}{:>10}{:>10}{:>9.2f}", per_message(row, &RunFigures::handling_ms),
                         per_message(row, &RunFigures::encoding_ms), per_message(row, &RunFigures::system_calls_ms),
                         cpu_per_gb(row), told_ms(row, &RunFigures::path_p50_ms),
                         told_ms(row, &RunFigures::path_p99_ms), share_percent(row));
    case Part::Cameras:
    case Part::Mix:
      return fmt::format("{:>9}{:>12}{:>9}{:>9}{:>10}{:>9.2f}{:>11.3f}{:>9.1f}{:>10.1f}", row.cameras,
                         name_of(row.schedule), made, skipped, recorded, share_percent(row), cpu_per_gb(row),
                         row.median_of([](const RunFigures& run) { return run.memory_mib; }),
                         row.median_of([](const RunFigures& run) { return run.held_mib; }));
    case Part::Task: {
      const Summary tasks = summarize(row.pooled(&RunFigures::tasks));
      return fmt::format("{:>9.3f}{:>9.4f}{:>9.3f}{:>10}{:>9.0f}", tasks.mean, row.deviation(&RunFigures::tasks),
                         tasks.min, share_or_none(row), mb_per_second(row));
    }
    case Part::Bystander: {
      const Summary publish = summarize(row.pooled(&RunFigures::publish_us));
      const Summary transport = summarize(row.pooled(&RunFigures::transport_us));
      return fmt::format("{:>13}{:>9}{:>15}{:>9}{:>9}", three_digits(publish.p50), three_digits(publish.p99),
                         three_digits(transport.p50), three_digits(transport.p99), share_or_none(row));
    }
    case Part::Pipeline:
      break;
  }
  const Summary latency = summarize(row.pooled(&RunFigures::end_to_end_ms));
  return fmt::format("{:>7}{:>9.2f}{:>9.3f}{:>9.2f}{:>9.0f}{:>9}", std::string(1, row.scene), latency.mean,
                     row.deviation(&RunFigures::end_to_end_ms), latency.p99,
                     row.median_of([](const RunFigures& run) { return static_cast<double>(run.pipeline_missed); }),
                     share_or_none(row));
}

}  // namespace

std::string to_table(const Rows& rows, const RecordCircumstances& c) {
  std::string out = head_of(c) + c.file_system + "\n";
  for (const std::string& command : c.fio_commands) out += fmt::format("{}: {}\n", c.fio_version, command);
  for (int i = 0; i < kParts; ++i) {
    const auto part = static_cast<Part>(i);
    bool first = true;
    for (const Row& row : rows) {
      if (row.part != part || row.runs.empty()) continue;
      if (first)
        out += fmt::format("\n{}\n  {:<9}{:<20}{}\n", table_of(part).title, "peer", "how", table_of(part).head);
      first = false;
      out += fmt::format("  {:<9}{:<20}{}{}\n", name_of(row.peer), how_of(row.peer), cells_of(row),
                         row.stolen ? "  stolen" : "");
    }
    if (!first && part == Part::Phases)
      out +=
          "  ms for each message; of cardan and speed, handling is all CPU time of the recorder outside the kernel;\n"
          "  path: from a message's publication until it is on disk\n";
    if (!first && part == Part::Bystander) out += "  µs\n";
    if (!first && part == Part::Pipeline) out += "  ms, from the camera's publish to the command's\n";
  }
  std::string verdicts;
  for (const Verdict& v : judge(summarize_rows(rows)))
    if (v.reached)
      verdicts +=
          fmt::format("  {:<9}{:<68}{}   wanted {}\n", *v.reached ? "reached" : "missed", v.what, v.found, v.wanted);
  if (!verdicts.empty()) out += "\nWhat is wanted of the recorder\n" + verdicts;
  return out + tail_of(c);
}

nlohmann::ordered_json to_json(const Rows& rows, const RecordCircumstances& c) {
  nlohmann::ordered_json out = bench::to_json(static_cast<const Occasion&>(c));
  out["disk"] = {{"file_system", c.file_system}, {"fio", c.fio_version}, {"fio_commands", c.fio_commands}};
  out["summary"] = to_json(summarize_rows(rows));
  out["verdicts"] = nlohmann::ordered_json::array();
  for (const Verdict& v : judge(summarize_rows(rows)))
    out["verdicts"].push_back({{"what", v.what},
                               {"wanted", v.wanted},
                               {"found", v.found},
                               {"reached", v.reached ? nlohmann::ordered_json(*v.reached) : nullptr}});
  out["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    if (!row.runs.empty()) out["rows"].push_back(to_json(row));
  return out;
}

}  // namespace cardan::bench::recording
