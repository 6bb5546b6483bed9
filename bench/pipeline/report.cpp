// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/pipeline/lidar/chain.hpp"
#include "bench/pipeline/lidar/figures.hpp"
#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"
#include "bench/transport/report.hpp"

namespace cardan::bench::perception {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNotableRate = 0.95;  // of the rate that was asked for

bool is_camera(const Chain& chain) { return &chain == &camera_chain(); }
/// Whether the stage gets one message of one link for each frame: all but the first, and the fusion.
bool has_one_input(const Chain& chain, std::uint32_t role) {
  return role != 0 && !(is_camera(chain) && role == role_of(Stage::Fusion));
}
bool is_finder(const Chain& chain, std::uint32_t role) { return is_camera(chain) && has_one_input(chain, role); }

std::string two_figures(const std::vector<double>& samples) {
  if (samples.empty()) return fmt::format("{:>9}{:>9}", "–", "–");
  const Summary s = summarize(samples);
  return fmt::format("{:>9}{:>9}", three_digits(s.p50), three_digits(s.p99));
}

std::string name_of_mix(const Mix& mix) {
  return fmt::format("{} {}", bench::name_of(mix.contender.peer), mix.setup());
}

std::string line_of(const PipelineRow& row, const Chain& chain, std::uint32_t role) {
  std::string line = fmt::format("  {:<13}", chain.stages[role]);
  line += two_figures(row.pooled(role, &StageFigures::transport));
  line += two_figures(row.pooled(role, &StageFigures::processing));
  line += two_figures(row.pooled(role, is_camera(chain) ? &StageFigures::results : &StageFigures::latency));
  line += fmt::format("{:>9}", has_one_input(chain, role) ? fmt::format("{:.2f}", row.ratio_percent(role)) : "");
  line += fmt::format("{:>8}", role == 0 ? "" : std::to_string(row.sum(role, &StageFigures::lost)));
  line += fmt::format("{:>7}", row.sum(role, &StageFigures::torn));
  line += fmt::format("{:>8}", three_digits(row.median_of(role, &StageFigures::found)));
  line += fmt::format("{:>8}", fmt::format("{:.1f}", row.median_of(role, &StageFigures::cpu_percent)));
  return line + "\n";
}

/// By how many ms the row's mean of the whole is below that of the slowest, and the half of its 95 % interval: that of
/// two means of independent samples.
struct Saved {
  double ms = 0, within = 0;
};
Saved ms_saved(const PipelineRow& row, const PipelineRow& slowest) {
  const Summary own = summarize(row.pooled(&PipelineRun::whole));
  const Summary other = summarize(slowest.pooled(&PipelineRun::whole));
  if (own.count == 0 || other.count == 0) return {};
  const auto variance = [](const Summary& s) { return s.std * s.std / static_cast<double>(s.count); };
  return {other.mean - own.mean, 1.96 * std::sqrt(variance(own) + variance(other))};
}

Json json_of(const PipelineRow& row, const Chain& chain, std::uint32_t role) {
  Json out{{"stage", chain.stages[role]}};
  const auto samples = [&](const char* name, std::vector<double> StageFigures::* which) {
    const std::vector<double> all = row.pooled(role, which);
    if (!all.empty()) out[name] = bench::to_json(summarize(all), 1e4);
  };
  samples("transport_ms", &StageFigures::transport);
  samples("processing_ms", &StageFigures::processing);
  samples("latency_ms", &StageFigures::latency);
  samples("results_ms", &StageFigures::results);
  if (has_one_input(chain, role)) out["transport_to_processing_percent"] = rounded(row.ratio_percent(role));
  if (is_finder(chain, role)) out["results_lost"] = row.sum(role, &StageFigures::results_lost);
  if (role != 0) {
    out["due"] = row.sum(role, &StageFigures::due);
    out["lost"] = row.sum(role, &StageFigures::lost);
  }
  out["torn"] = row.sum(role, &StageFigures::torn);
  out["found_per_frame"] = rounded(row.median_of(role, &StageFigures::found));
  out["cpu_percent"] = rounded(row.median_of(role, &StageFigures::cpu_percent));
  return out;
}

/// "camera_to_fusion_ms"
std::string key_of_whole(const Chain& chain) {
  std::string key = std::string(chain.whole) + "_ms";
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

Json json_of(const PipelineRow& row, const Chain& chain, const PipelineRow* slowest) {
  Json out;
  out["chain"] = chain.name;
  out["peer"] = bench::name_of(row.mix.contender.peer);
  out["wait"] = bench::name_of(row.mix.contender.wait);
  out["links"] = Json::object();
  for (std::size_t i = 0; i < chain.links.size(); ++i)
    out["links"][std::string(chain.links[i].name)] = bench::name_of(row.mix.links.at(i).peer);
  out["runs"] = row.runs.size();
  out["stages"] = Json::array();
  for (std::uint32_t role = 0; role < chain.stages.size(); ++role) out["stages"].push_back(json_of(row, chain, role));
  const std::vector<double> targets = row.pooled(&PipelineRun::targets);
  if (!targets.empty()) out["targets_ms"] = bench::to_json(summarize(targets), 1e4);
  const std::vector<double> whole = row.pooled(&PipelineRun::whole);
  if (!whole.empty()) out[key_of_whole(chain)] = bench::to_json(summarize(whole), 1e4);
  if (!is_camera(chain)) {
    out["ndt_output_hz"] = rounded(row.median_of(&PipelineRun::ndt_hz));
    if (slowest != nullptr && slowest != &row && !whole.empty()) {
      const Saved saved = ms_saved(row, *slowest);
      out["braking_distance_saved_m"] = {{"compared_with", name_of_mix(slowest->mix)},
                                         {"mean_ms", rounded(saved.ms)},
                                         {"ci95_ms", rounded(saved.within)},
                                         {"40_mph", rounded(lidar::braking_distance(40, saved.ms))},
                                         {"70_mph", rounded(lidar::braking_distance(70, saved.ms))}};
    }
  }
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
  std::string out = fmt::format("cardan bench pipeline{} --peers {} --waits {}",
                                is_camera(*o.chain) ? "" : fmt::format(" --chain {}", o.chain->name),
                                bench::name_of(mix.contender.peer), wait);
  if (!mix.chosen.empty()) out += " --links " + mix.chosen;
  for (const auto& [name, value] : {std::pair{"--camera", &o.camera},
                                    {"--detector", &o.detector},
                                    {"--lidar", &o.lidar},
                                    {"--from", &o.from},
                                    {"--topic", &o.topic}}) {
    if (value->empty()) continue;
    if (!can_stand_in_command(*value)) return "";
    out += fmt::format(" {} {}", name, *value);
  }
  if (o.threads > 0) out += fmt::format(" --threads {}", o.threads);
  return out + fmt::format(" --rate {:g} --frames {} --runs {}", o.rate_hz, o.frames, o.runs);
}

}  // namespace

std::vector<double> PipelineRow::pooled(std::uint32_t role, std::vector<double> StageFigures::* which) const {
  std::vector<double> all;
  for (const PipelineRun& run : runs) {
    const std::vector<double>& some = run.stages.at(role).*which;
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<double> PipelineRow::pooled(std::vector<double> PipelineRun::* which) const {
  std::vector<double> all;
  for (const PipelineRun& run : runs) all.insert(all.end(), (run.*which).begin(), (run.*which).end());
  return all;
}

std::uint64_t PipelineRow::sum(std::uint32_t role, std::uint64_t StageFigures::* which) const {
  std::uint64_t sum = 0;
  for (const PipelineRun& run : runs) sum += run.stages.at(role).*which;
  return sum;
}

double PipelineRow::median_of(std::uint32_t role, double StageFigures::* which) const {
  std::vector<double> values;
  for (const PipelineRun& run : runs) values.push_back(run.stages.at(role).*which);
  return median(values);
}

double PipelineRow::median_of(double PipelineRun::* which) const {
  std::vector<double> values;
  for (const PipelineRun& run : runs) values.push_back(run.*which);
  return median(values);
}

double PipelineRow::ratio_percent(std::uint32_t role) const {
  std::vector<double> values;
  for (const PipelineRun& run : runs)
    if (const double ratio = run.stages.at(role).ratio_percent(); ratio > 0) values.push_back(ratio);
  return median(values);
}

std::uint64_t lost_by_cardan(const PipelineRow& row, const Chain& chain) {
  std::uint64_t lost = 0;
  if (!is_camera(chain)) {
    for (std::uint32_t i = 0; i < chain.links.size(); ++i)
      if (row.mix.links.at(i).peer == kCardan)
        lost += row.sum(i + 1, &StageFigures::lost) + row.sum(i + 1, &StageFigures::torn);
    return lost;
  }
  for (const Stage finder : kFinders) {
    if (row.mix.link(Link::Pictures).peer == kCardan)
      lost += row.sum(role_of(finder), &StageFigures::lost) + row.sum(role_of(finder), &StageFigures::torn);
    if (row.mix.link(Link::Results).peer == kCardan) lost += row.sum(role_of(finder), &StageFigures::results_lost);
  }
  if (row.mix.link(Link::Results).peer == kCardan) lost += row.sum(role_of(Stage::Fusion), &StageFigures::torn);
  return lost;
}

const PipelineRow* slowest(const PipelineReport& report) {
  const PipelineRow* found = nullptr;
  double most = 0;
  for (const PipelineRow& row : report.rows) {
    const std::vector<double> whole = row.pooled(&PipelineRun::whole);
    if (whole.empty()) continue;
    if (const double mean = summarize(whole).mean; mean > most) {
      most = mean;
      found = &row;
    }
  }
  return report.rows.size() < 2 ? nullptr : found;
}

std::string name_of_inputs(const PipelineReport& report) {
  if (is_camera(*report.options.chain))
    return fmt::format("{}, {} × {} at {:g} Hz · detector {}", report.inputs.camera, report.inputs.width,
                       report.inputs.height, report.options.rate_hz, report.inputs.detector);
  return fmt::format("{}, up to {} points (filtered: {}) at {:g} Hz", report.inputs.lidar, report.inputs.points,
                     report.inputs.filtered, report.options.rate_hz);
}

std::string to_table(const PipelineReport& report) {
  const Chain& chain = *report.options.chain;
  std::string out = fmt::format("{} · {} CPUs · governor {} · {} · steal {:.1f} %\n", report.host.cpu, report.host.cpus,
                                report.host.governor, report.host.kernel, report.steal_percent);
  if (!report.rows.empty()) out += fmt::format("{} · times in ms, p50 and p99\n", name_of_inputs(report));
  const PipelineRow* const last = is_camera(chain) ? nullptr : slowest(report);
  for (const PipelineRow& row : report.rows) {
    out += fmt::format("\n{}\n", name_of_mix(row.mix));
    out += fmt::format("  {:<13}{:>9}{:>9}{:>11}{:>7}{:>9}{:>9}{:>9}{:>8}{:>7}{:>8}{:>8}\n", "stage", "transport",
                       "p99", "processing", "p99", is_camera(chain) ? "results" : "both", "p99", "ratio %", "lost",
                       "torn", "found", "CPU %");
    for (std::uint32_t role = 0; role < chain.stages.size(); ++role) out += line_of(row, chain, role);
    const std::vector<double> whole = row.pooled(&PipelineRun::whole);
    out += whole.empty()
               ? "  no frame came through"
               : fmt::format("  {}: p50 {}, p99 {} ms, mean {} ms", chain.whole, three_digits(summarize(whole).p50),
                             three_digits(summarize(whole).p99), three_digits(summarize(whole).mean));
    if (row.achieved_rate_hz() < kNotableRate * report.options.rate_hz)
      out += fmt::format("; the {} reached {} Hz, because a link made it wait", chain.stages.front(),
                         three_digits(row.achieved_rate_hz()));
    if (!is_camera(chain))
      out +=
          fmt::format("; NDT gave {} Hz, {:.0f} % of them matched", three_digits(row.median_of(&PipelineRun::ndt_hz)),
                      100 * row.median_of(lidar::role_of(lidar::Stage::Localization), &StageFigures::found));
    out += '\n';
    if (last != nullptr && last != &row && !whole.empty()) {
      const Saved saved = ms_saved(row, *last);
      out += fmt::format(
          "  brakes {} ± {} ms before {}: {} m at 40 mph, {} m at 70 mph{}\n", three_digits(saved.ms),
          three_digits(saved.within), name_of_mix(last->mix), three_digits(lidar::braking_distance(40, saved.ms)),
          three_digits(lidar::braking_distance(70, saved.ms)), saved.ms > saved.within ? "" : "; within the noise");
    }
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
  const Chain& chain = *report.options.chain;
  out["inputs"] = {{"chain", chain.name},
                   {"rate_hz", report.options.rate_hz},
                   {"frames", report.options.frames},
                   {"discarded", report.options.warmup}};
  if (is_camera(chain))
    out["inputs"].update({{"camera", report.inputs.camera},
                          {"detector", report.inputs.detector},
                          {"width", report.inputs.width},
                          {"height", report.inputs.height}});
  else
    out["inputs"].update({{"lidar", report.inputs.lidar},
                          {"points", report.inputs.points},
                          {"filtered_points", report.inputs.filtered}});
  const PipelineRow* const last = is_camera(chain) ? nullptr : slowest(report);
  out["rows"] = Json::array();
  for (const PipelineRow& row : report.rows) out["rows"].push_back(json_of(row, chain, last));
  out["measurements"] = bench::to_json(measurements_of(report));
  return out;
}

std::vector<Measurement> measurements_of(const PipelineReport& report) {
  const Chain& chain = *report.options.chain;
  const double bytes = report.inputs.link_bytes.empty() ? 0 : static_cast<double>(report.inputs.link_bytes.front());
  std::vector<Measurement> all;
  for (const PipelineRow& row : report.rows) {
    const Measurement frame{.part = "pipeline",
                            .peer = std::string(bench::name_of(row.mix.contender.peer)),
                            .setup = row.mix.setup(),
                            .bytes = bytes,
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
    // Losses are with one quantity of each cell.
    const auto count = [&](std::size_t at, std::uint32_t role) {
      all[at].due = row.sum(role, &StageFigures::due);
      all[at].lost = row.sum(role, &StageFigures::lost);
    };
    for (std::uint32_t role = 0; role < chain.stages.size(); ++role) {
      const std::string cell(chain.stages[role]);
      const auto samples = [role](std::vector<double> StageFigures::* which) {
        return [role, which](const PipelineRun& run) { return run.stages.at(role).*which; };
      };
      if (has_one_input(chain, role)) {
        const std::size_t before = all.size();
        const std::size_t at = add(cell, "transport", "ms", samples(&StageFigures::transport));
        if (all.size() > before) count(at, role);
      }
      add(cell, "processing", "ms", samples(&StageFigures::processing));
      add(cell, "latency", "ms", samples(&StageFigures::latency));
      add(cell, "results", "ms", samples(&StageFigures::results));
      if (has_one_input(chain, role))
        add(cell, "transport / processing", "%",
            [role](const PipelineRun& run) { return std::vector<double>{run.stages.at(role).ratio_percent()}; });
      add(cell, "CPU", "% of a core",
          [role](const PipelineRun& run) { return std::vector<double>{run.stages.at(role).cpu_percent}; });
    }
    if (!is_camera(chain)) {
      const std::size_t before = all.size();
      const std::size_t at = add("localization", "NDT output", "Hz",
                                 [](const PipelineRun& run) { return std::vector<double>{run.ndt_hz}; });
      if (all.size() > before) all[at].more_is_better = true;
    }
    add("targets", "results", "ms", [](const PipelineRun& run) { return run.targets; });
    const std::size_t before = all.size();
    const std::size_t at =
        add("whole", std::string(chain.whole).c_str(), "ms", [](const PipelineRun& run) { return run.whole; });
    if (all.size() > before) {
      for (const PipelineRun& run : row.runs) {
        all[at].due = all[at].due.value_or(0) + run.frames_due;
        all[at].lost = all[at].lost.value_or(0) + run.frames_lost;
      }
    }
  }
  return all;
}

}  // namespace cardan::bench::perception
