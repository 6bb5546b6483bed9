// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>

#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench::perception {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNotableRate = 0.95;  // of the rate that was asked for

/// The samples of a stage, as the JSON file and the form of all results name them.
struct Quantity {
  const char* key;
  const char* name;
  std::vector<double> StageFigures::* samples;
};
constexpr std::array kQuantities{Quantity{"transport_ms", "transport", &StageFigures::transport},
                                 Quantity{"processing_ms", "processing", &StageFigures::processing},
                                 Quantity{"latency_ms", "latency", &StageFigures::latency},
                                 Quantity{"results_ms", "results", &StageFigures::results}};

bool is_camera(const Chain& chain) { return &chain == &camera_chain(); }

std::vector<double> pooled(const std::vector<std::vector<double>>& runs) {
  std::vector<double> all;
  for (const std::vector<double>& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}
std::uint64_t sum(const std::vector<std::uint64_t>& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0});
}

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
  for (const auto samples : {&StageFigures::transport, &StageFigures::processing,
                             is_camera(chain) ? &StageFigures::results : &StageFigures::latency})
    line += two_figures(pooled(row.each(role, samples)));
  return line + fmt::format("{:>9}{:>8}{:>7}{:>8}{:>8.1f}\n",
                            chain.has_one_input(role) ? fmt::format("{:.2f}", row.ratio_percent(role)) : "",
                            role == 0 ? "" : std::to_string(sum(row.each(role, &StageFigures::lost))),
                            sum(row.each(role, &StageFigures::torn)),
                            three_digits(median(row.each(role, &StageFigures::found))),
                            median(row.each(role, &StageFigures::cpu_percent)));
}

/// By how many ms the row's mean of the whole is below that of the slowest, and the half of its 95 % interval: that of
/// two means of independent samples.
struct Saved {
  std::string slowest{};
  double ms = 0, within = 0;
};
/// Empty: the row is the slowest, or one of the two has no sample.
std::optional<Saved> saved_by(const PipelineRow& row, const PipelineReport& report) {
  if (is_camera(*report.options.chain)) return std::nullopt;
  const PipelineRow* slowest = &row;
  const auto whole = [](const PipelineRow& of) { return summarize(pooled(of.each(&PipelineRun::whole))); };
  for (const PipelineRow& other : report.rows)
    if (whole(other).mean > whole(*slowest).mean) slowest = &other;
  const Summary own = whole(row);
  const Summary other = whole(*slowest);
  if (slowest == &row || own.count == 0) return std::nullopt;
  const auto variance = [](const Summary& s) { return s.std * s.std / static_cast<double>(s.count); };
  return Saved{name_of_mix(slowest->mix), other.mean - own.mean, 1.96 * std::sqrt(variance(own) + variance(other))};
}

Json json_of(const PipelineRow& row, const Chain& chain, std::uint32_t role) {
  Json out{{"stage", chain.stages[role]}};
  for (const Quantity& quantity : kQuantities)
    if (const std::vector<double> all = pooled(row.each(role, quantity.samples)); !all.empty())
      out[quantity.key] = bench::to_json(summarize(all), 1e4);
  if (chain.has_one_input(role)) {
    out["transport_to_processing_percent"] = rounded(row.ratio_percent(role));
    if (is_camera(chain)) out["results_lost"] = sum(row.each(role, &StageFigures::results_lost));
  }
  if (role != 0) {
    out["due"] = sum(row.each(role, &StageFigures::due));
    out["lost"] = sum(row.each(role, &StageFigures::lost));
  }
  out["torn"] = sum(row.each(role, &StageFigures::torn));
  out["found_per_frame"] = rounded(median(row.each(role, &StageFigures::found)));
  out["cpu_percent"] = rounded(median(row.each(role, &StageFigures::cpu_percent)));
  return out;
}

/// "camera_to_fusion_ms"
std::string key_of_whole(const Chain& chain) {
  std::string key = std::string(chain.whole) + "_ms";
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

Json json_of(const PipelineRow& row, const PipelineReport& report) {
  const Chain& chain = *report.options.chain;
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
  const std::vector<double> targets = pooled(row.each(&PipelineRun::targets));
  if (!targets.empty()) out["targets_ms"] = bench::to_json(summarize(targets), 1e4);
  const std::vector<double> whole = pooled(row.each(&PipelineRun::whole));
  if (!whole.empty()) out[key_of_whole(chain)] = bench::to_json(summarize(whole), 1e4);
  if (!is_camera(chain)) out["ndt_output_hz"] = rounded(median(row.each(&PipelineRun::ndt_hz)));
  if (const auto saved = saved_by(row, report))
    out["braking_distance_saved_m"] = {{"compared_with", saved->slowest},
                                       {"mean_ms", rounded(saved->ms)},
                                       {"ci95_ms", rounded(saved->within)},
                                       {"40_mph", rounded(braking_distance(40, saved->ms))},
                                       {"70_mph", rounded(braking_distance(70, saved->ms))}};
  out["refused"] = sum(row.each(&PipelineRun::refused));
  out["achieved_rate_hz"] = rounded(median(row.each(&PipelineRun::achieved_rate_hz)));
  out["steal_percent"] = rounded(median(row.each(&PipelineRun::steal_percent)));
  out["stolen"] = row.stolen;
  out["other_load_percent"] = rounded(median(row.each(&PipelineRun::other_load_percent)));
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
  for (const std::string& word : o.inputs.words()) {
    if (!can_stand_in_command(word)) return "";
    out += " " + word;
  }
  return out + fmt::format(" --rate {:g} --frames {} --runs {}", o.rate_hz, o.frames, o.runs);
}

}  // namespace

double PipelineRow::ratio_percent(std::uint32_t role) const {
  std::vector<double> values;
  for (const PipelineRun& run : runs)
    if (const double ratio = run.stages.at(role).ratio_percent(); ratio > 0) values.push_back(ratio);
  return median(values);
}

std::uint64_t lost_by_cardan(const PipelineRow& row, const Chain& chain) {
  std::uint64_t lost = 0;
  for (std::uint32_t role = 1; role < chain.stages.size(); ++role) {
    const auto is_ours = [&](const std::optional<LinkEnd>& end) {
      return end && row.mix.links.at(end->link).peer == kCardan;
    };
    if (is_ours(chain.input_of(role))) {
      lost += sum(row.each(role, &StageFigures::torn));
      // The fusion lacks what others have lost.
      if (chain.has_one_input(role)) lost += sum(row.each(role, &StageFigures::lost));
    }
    if (is_ours(chain.output_of(role))) lost += sum(row.each(role, &StageFigures::results_lost));
  }
  return lost;
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
  std::string out = head_of(report);
  if (!report.rows.empty()) out += fmt::format("{} · times in ms, p50 and p99\n", name_of_inputs(report));
  for (const PipelineRow& row : report.rows) {
    out += fmt::format("\n{}\n", name_of_mix(row.mix));
    out += fmt::format("  {:<13}{:>9}{:>9}{:>11}{:>7}{:>9}{:>9}{:>9}{:>8}{:>7}{:>8}{:>8}\n", "stage", "transport",
                       "p99", "processing", "p99", is_camera(chain) ? "results" : "both", "p99", "ratio %", "lost",
                       "torn", "found", "CPU %");
    for (std::uint32_t role = 0; role < chain.stages.size(); ++role) out += line_of(row, chain, role);
    const Summary whole = summarize(pooled(row.each(&PipelineRun::whole)));
    out += whole.count == 0 ? "  no frame came through"
                            : fmt::format("  {}: p50 {}, p99 {} ms, mean {} ms", chain.whole, three_digits(whole.p50),
                                          three_digits(whole.p99), three_digits(whole.mean));
    if (const double rate = median(row.each(&PipelineRun::achieved_rate_hz));
        rate < kNotableRate * report.options.rate_hz)
      out +=
          fmt::format("; the {} reached {} Hz, because a link made it wait", chain.stages.front(), three_digits(rate));
    if (!is_camera(chain))
      out += fmt::format("; NDT gave {} Hz, {:.0f} % of them matched",
                         three_digits(median(row.each(&PipelineRun::ndt_hz))),
                         100 * median(row.each(lidar::role_of(lidar::Stage::Localization), &StageFigures::found)));
    out += '\n';
    if (const auto saved = saved_by(row, report))
      out += fmt::format("  brakes {} ± {} ms before {}: {} m at 40 mph, {} m at 70 mph{}\n", three_digits(saved->ms),
                         three_digits(saved->within), saved->slowest, three_digits(braking_distance(40, saved->ms)),
                         three_digits(braking_distance(70, saved->ms)),
                         saved->ms > saved->within ? "" : "; within the noise");
  }
  return out + "\n" + tail_of(report);
}

Json to_json(const PipelineReport& report) {
  Json out = bench::to_json(static_cast<const Occasion&>(report));
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
  out["rows"] = Json::array();
  for (const PipelineRow& row : report.rows) out["rows"].push_back(json_of(row, report));
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
    // Null without samples.
    const auto add = [&](std::string_view cell, std::string_view quantity, const char* unit,
                         auto samples_of) -> Measurement* {
      Measurement m = frame;
      m.cell = cell;
      m.quantity = quantity;
      m.unit = unit;
      for (const PipelineRun& run : row.runs)
        m.runs.push_back(make_run(samples_of(run), run.steal_percent, run.other_load_percent));
      return m.kept() > 0 ? &all.emplace_back(std::move(m)) : nullptr;
    };
    for (std::uint32_t role = 0; role < chain.stages.size(); ++role) {
      const std::string_view cell = chain.stages[role];
      for (const Quantity& quantity : kQuantities) {
        Measurement* const m = add(cell, quantity.name, "ms",
                                   [&](const PipelineRun& run) { return run.stages.at(role).*quantity.samples; });
        if (m == nullptr || quantity.samples != &StageFigures::transport) continue;
        m->due = sum(row.each(role, &StageFigures::due));  // losses are with one quantity of each cell
        m->lost = sum(row.each(role, &StageFigures::lost));
      }
      if (chain.has_one_input(role))
        add(cell, "transport / processing", "%",
            [&](const PipelineRun& run) { return std::vector{run.stages.at(role).ratio_percent()}; });
      add(cell, "CPU", "% of a core",
          [&](const PipelineRun& run) { return std::vector{run.stages.at(role).cpu_percent}; });
    }
    if (!is_camera(chain))
      if (Measurement* const m =
              add("localization", "NDT output", "Hz", [](const PipelineRun& run) { return std::vector{run.ndt_hz}; }))
        m->more_is_better = true;
    add("targets", "results", "ms", [](const PipelineRun& run) { return run.targets; });
    if (Measurement* const m = add("whole", chain.whole, "ms", [](const PipelineRun& run) { return run.whole; })) {
      m->due = sum(row.each(&PipelineRun::frames_due));
      m->lost = sum(row.each(&PipelineRun::frames_lost));
    }
  }
  return all;
}

}  // namespace cardan::bench::perception
