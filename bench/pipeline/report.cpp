// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/pipeline/messages.hpp"
#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"
#include "bench/transport/report.hpp"

namespace cardan::bench::perception {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNotableRate = 0.95;  // of the rate that was asked for

bool is_finder(Stage stage) { return stage != Stage::Camera && stage != Stage::Fusion; }

std::string two_figures(const std::vector<double>& samples) {
  if (samples.empty()) return fmt::format("{:>9}{:>9}", "–", "–");
  const Summary s = summarize(samples);
  return fmt::format("{:>9}{:>9}", three_digits(s.p50), three_digits(s.p99));
}

std::string name_of_mix(const Mix& mix) {
  return fmt::format("{} {}", bench::name_of(mix.contender.peer), mix.setup());
}

std::string line_of(const PipelineRow& row, Stage stage) {
  std::string line = fmt::format("  {:<10}", name_of(stage));
  line += two_figures(row.pooled(stage, &StageFigures::transport));
  line += two_figures(row.pooled(stage, &StageFigures::processing));
  line += two_figures(row.pooled(stage, &StageFigures::results));
  line += fmt::format("{:>9}", is_finder(stage) ? fmt::format("{:.2f}", row.ratio_percent(stage)) : "");
  line += fmt::format("{:>8}", stage == Stage::Camera ? "" : std::to_string(row.sum(stage, &StageFigures::lost)));
  line += fmt::format("{:>7}", row.sum(stage, &StageFigures::torn));
  line += fmt::format("{:>8}", three_digits(row.median_of(stage, &StageFigures::found)));
  line += fmt::format("{:>8}", fmt::format("{:.1f}", row.median_of(stage, &StageFigures::cpu_percent)));
  return line + "\n";
}

Json json_of(const PipelineRow& row, Stage stage) {
  Json out{{"stage", name_of(stage)}};
  const auto samples = [&](const char* name, std::vector<double> StageFigures::* which) {
    const std::vector<double> all = row.pooled(stage, which);
    if (!all.empty()) out[name] = bench::to_json(summarize(all), 1e4);
  };
  samples("transport_ms", &StageFigures::transport);
  samples("processing_ms", &StageFigures::processing);
  samples("results_ms", &StageFigures::results);
  if (is_finder(stage)) {
    out["transport_to_processing_percent"] = rounded(row.ratio_percent(stage));
    out["results_lost"] = row.sum(stage, &StageFigures::results_lost);
  }
  if (stage != Stage::Camera) {
    out["due"] = row.sum(stage, &StageFigures::due);
    out["lost"] = row.sum(stage, &StageFigures::lost);
  }
  out["torn"] = row.sum(stage, &StageFigures::torn);
  out["found_per_frame"] = rounded(row.median_of(stage, &StageFigures::found));
  out["cpu_percent"] = rounded(row.median_of(stage, &StageFigures::cpu_percent));
  return out;
}

Json json_of(const PipelineRow& row) {
  Json out;
  out["peer"] = bench::name_of(row.mix.contender.peer);
  out["wait"] = bench::name_of(row.mix.contender.wait);
  out["links"] = Json::object();
  for (const Link link : kLinks) out["links"][std::string(name_of(link))] = bench::name_of(row.mix.link(link).peer);
  out["runs"] = row.runs.size();
  out["stages"] = Json::array();
  for (const Stage stage : kStages) out["stages"].push_back(json_of(row, stage));
  const std::vector<double> targets = row.pooled(&PipelineRun::targets);
  if (!targets.empty()) out["targets_ms"] = bench::to_json(summarize(targets), 1e4);
  const std::vector<double> whole = row.pooled(&PipelineRun::whole);
  if (!whole.empty()) out["camera_to_fusion_ms"] = bench::to_json(summarize(whole), 1e4);
  std::uint64_t refused = 0;
  std::vector<double> steal;
  std::vector<double> load;
  for (const PipelineRun& run : row.runs) {
    refused += run.refused;
    steal.push_back(run.steal_percent);
    load.push_back(run.other_load_percent);
  }
  out["refused"] = refused;
  out["achieved_rate_hz"] = rounded(row.achieved_rate_hz());
  out["steal_percent"] = rounded(median(steal));
  out["stolen"] = row.stolen;
  out["other_load_percent"] = rounded(median(load));
  return out;
}

// A path that the form of results does not allow in a command would make the whole file unreadable.
bool can_stand_in_command(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._/-").find(c) != std::string_view::npos;
  });
}

std::string command_of(const Mix& mix, const PipelineOptions& o) {
  const std::string_view wait =
      mix.contender.wait == Wait::Poll ? bench::name_of(Wait::Block) : bench::name_of(mix.contender.wait);
  std::string out =
      fmt::format("cardan bench pipeline --peers {} --waits {}", bench::name_of(mix.contender.peer), wait);
  if (!mix.chosen.empty()) out += " --links " + mix.chosen;
  for (const auto& [name, value] : {std::pair{"--camera", &o.camera}, {"--detector", &o.detector}}) {
    if (value->empty()) continue;
    if (!can_stand_in_command(*value)) return "";
    out += fmt::format(" {} {}", name, *value);
  }
  if (o.threads > 0) out += fmt::format(" --threads {}", o.threads);
  return out + fmt::format(" --rate {:g} --frames {} --runs {}", o.rate_hz, o.frames, o.runs);
}

}  // namespace

std::vector<double> PipelineRow::pooled(Stage stage, std::vector<double> StageFigures::* which) const {
  std::vector<double> all;
  for (const PipelineRun& run : runs) {
    const std::vector<double>& some = run.stage(stage).*which;
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<double> PipelineRow::pooled(std::vector<double> PipelineRun::* which) const {
  std::vector<double> all;
  for (const PipelineRun& run : runs) all.insert(all.end(), (run.*which).begin(), (run.*which).end());
  return all;
}

std::uint64_t PipelineRow::sum(Stage stage, std::uint64_t StageFigures::* which) const {
  std::uint64_t sum = 0;
  for (const PipelineRun& run : runs) sum += run.stage(stage).*which;
  return sum;
}

double PipelineRow::median_of(Stage stage, double StageFigures::* which) const {
  std::vector<double> values;
  for (const PipelineRun& run : runs) values.push_back(run.stage(stage).*which);
  return median(values);
}

double PipelineRow::achieved_rate_hz() const {
  std::vector<double> values;
  for (const PipelineRun& run : runs) values.push_back(run.achieved_rate_hz);
  return median(values);
}

double PipelineRow::ratio_percent(Stage stage) const {
  std::vector<double> values;
  for (const PipelineRun& run : runs)
    if (const double ratio = run.stage(stage).ratio_percent(); ratio > 0) values.push_back(ratio);
  return median(values);
}

std::uint64_t lost_by_cardan(const PipelineRow& row) {
  std::uint64_t lost = 0;
  for (const Stage finder : kFinders) {
    if (row.mix.link(Link::Pictures).peer == kCardan)
      lost += row.sum(finder, &StageFigures::lost) + row.sum(finder, &StageFigures::torn);
    if (row.mix.link(Link::Results).peer == kCardan) lost += row.sum(finder, &StageFigures::results_lost);
  }
  if (row.mix.link(Link::Results).peer == kCardan) lost += row.sum(Stage::Fusion, &StageFigures::torn);
  return lost;
}

std::string to_table(const PipelineReport& report) {
  std::string out = fmt::format("{} · {} CPUs · governor {} · {} · steal {:.1f} %\n", report.host.cpu, report.host.cpus,
                                report.host.governor, report.host.kernel, report.steal_percent);
  if (report.inputs.width > 0)
    out += fmt::format("{}, {} × {} at {:g} Hz · detector {} · times in ms, p50 and p99\n", report.inputs.camera,
                       report.inputs.width, report.inputs.height, report.options.rate_hz, report.inputs.detector);
  for (const PipelineRow& row : report.rows) {
    out += fmt::format("\n{}\n", name_of_mix(row.mix));
    out += fmt::format("  {:<10}{:>9}{:>9}{:>11}{:>7}{:>9}{:>9}{:>9}{:>8}{:>7}{:>8}{:>8}\n", "stage", "transport",
                       "p99", "processing", "p99", "results", "p99", "ratio %", "lost", "torn", "found", "CPU %");
    for (const Stage stage : kStages) out += line_of(row, stage);
    const std::vector<double> whole = row.pooled(&PipelineRun::whole);
    out += whole.empty() ? "  no frame came through"
                         : fmt::format("  camera to fusion: p50 {}, p99 {} ms", three_digits(summarize(whole).p50),
                                       three_digits(summarize(whole).p99));
    if (row.achieved_rate_hz() < kNotableRate * report.options.rate_hz)
      out +=
          fmt::format("; the camera reached {} Hz, because a link made it wait", three_digits(row.achieved_rate_hz()));
    out += '\n';
  }
  out += '\n';
  for (const std::string& sentence : report.left_out) out += sentence + "\n";
  for (const std::string& sentence : report.failures) out += "failed: " + sentence + "\n";
  return out;
}

Json to_json(const PipelineReport& report) {
  Json out;
  out["host"] = bench::to_json(report.host, report.steal_percent);
  out["interrupted"] = report.interrupted;
  out["left_out"] = report.left_out;
  out["failures"] = report.failures;
  out["inputs"] = {{"camera", report.inputs.camera},    {"detector", report.inputs.detector},
                   {"width", report.inputs.width},      {"height", report.inputs.height},
                   {"rate_hz", report.options.rate_hz}, {"frames", report.options.frames},
                   {"discarded", report.options.warmup}};
  out["rows"] = Json::array();
  for (const PipelineRow& row : report.rows) out["rows"].push_back(json_of(row));
  out["measurements"] = bench::to_json(measurements_of(report));
  return out;
}

std::vector<Measurement> measurements_of(const PipelineReport& report) {
  std::vector<Measurement> all;
  for (const PipelineRow& row : report.rows) {
    const Measurement frame{.part = "pipeline",
                            .peer = std::string(bench::name_of(row.mix.contender.peer)),
                            .setup = row.mix.setup(),
                            .bytes = static_cast<double>(picture_bytes(report.inputs.width, report.inputs.height)),
                            .rate_hz = report.options.rate_hz,
                            .noisy = row.stolen,
                            .command = command_of(row.mix, report.options)};
    const auto add = [&](const std::string& cell, const char* quantity, const char* unit, auto samples_of) {
      Measurement m = frame;
      m.cell = cell;
      m.quantity = quantity;
      m.unit = unit;
      for (const PipelineRun& run : row.runs)
        m.runs.push_back(make_run(samples_of(run), run.steal_percent, run.other_load_percent));
      if (m.kept() > 0) all.push_back(std::move(m));
      return all.size() - 1;
    };
    // Losses stand with one quantity of each cell.
    const auto count = [&](std::size_t at, Stage stage) {
      all[at].due = row.sum(stage, &StageFigures::due);
      all[at].lost = row.sum(stage, &StageFigures::lost);
    };
    for (const Stage stage : kStages) {
      const std::string cell(name_of(stage));
      const auto samples = [stage](std::vector<double> StageFigures::* which) {
        return [stage, which](const PipelineRun& run) { return run.stage(stage).*which; };
      };
      if (is_finder(stage)) {
        const std::size_t before = all.size();
        const std::size_t at = add(cell, "transport", "ms", samples(&StageFigures::transport));
        if (all.size() > before) count(at, stage);
      }
      add(cell, "processing", "ms", samples(&StageFigures::processing));
      add(cell, "results", "ms", samples(&StageFigures::results));
      if (is_finder(stage))
        add(cell, "transport / processing", "%",
            [stage](const PipelineRun& run) { return std::vector<double>{run.stage(stage).ratio_percent()}; });
      add(cell, "CPU", "% of a core",
          [stage](const PipelineRun& run) { return std::vector<double>{run.stage(stage).cpu_percent}; });
    }
    add("targets", "results", "ms", [](const PipelineRun& run) { return run.targets; });
    const std::size_t before = all.size();
    const std::size_t at = add("whole", "camera to fusion", "ms", [](const PipelineRun& run) { return run.whole; });
    if (all.size() > before) count(at, Stage::Fusion);
  }
  return all;
}

}  // namespace cardan::bench::perception
