// SPDX-License-Identifier: Apache-2.0
#include "bench/results/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/results/words.hpp"

namespace cardan::bench {

std::string Measurement::identity() const {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", part, peer, setup, cell, quantity,
                     unit, bytes, rate_hz, publishers, readers);
}

std::size_t Measurement::kept() const noexcept {
  std::size_t sum = 0;
  for (const MeasuredRun& run : runs) sum += run.samples.size();
  return sum;
}

std::vector<double> Measurement::pooled() const {
  std::vector<double> all;
  for (const MeasuredRun& run : runs) all.insert(all.end(), run.samples.begin(), run.samples.end());
  return all;
}

std::string name_of_contender(const Measurement& m) { return m.setup.empty() ? m.peer : m.peer + " " + m.setup; }

std::string name_of_size(double bytes) {
  struct Unit {
    double bytes;
    const char* name;
  };
  if (!(bytes > 0)) return "";
  // Only what divides the size: papers give both, and 4 MB is not 4 MiB.
  for (const Unit unit : {Unit{1024 * 1024, "MiB"}, {1e6, "MB"}, {1024, "KiB"}, {1000, "kB"}})
    if (std::fmod(bytes, unit.bytes) == 0) return fmt::format("{:.0f} {}", bytes / unit.bytes, unit.name);
  return fmt::format("{:.0f} B", bytes);
}

std::string name_of(const Measurement& m) {
  std::string out = m.part + " · " + name_of_contender(m);
  if (!m.cell.empty()) out += " · " + m.cell;
  if (m.bytes > 0) out += " · " + name_of_size(m.bytes);
  if (m.rate_hz > 0) out += fmt::format(" · {:g} Hz", m.rate_hz);
  return out + " · " + m.quantity;
}

std::vector<double> thinned(std::vector<double> samples, std::size_t count) {
  if (samples.size() <= count) return samples;
  std::sort(samples.begin(), samples.end());
  std::vector<double> kept;
  kept.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double place = count < 2 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    kept.push_back(samples[static_cast<std::size_t>(std::lround(place * static_cast<double>(samples.size() - 1)))]);
  }
  return kept;
}

MeasuredRun make_run(std::vector<double> samples, double steal_percent, double other_load_percent) {
  const std::uint64_t count = samples.size();
  return {count, thinned(std::move(samples), kMostSamplesOfRun), steal_percent, other_load_percent};
}

std::string Result::host_entry(const std::string& name) const {
  const auto found = std::find_if(host.begin(), host.end(), [&](const auto& entry) { return entry.first == name; });
  return found == host.end() ? "" : found->second;
}

nlohmann::ordered_json to_json(const Measurement& m) {
  nlohmann::ordered_json out{{"part", m.part},
                             {"peer", m.peer},
                             {"setup", m.setup},
                             {"cell", m.cell},
                             {"bytes", m.bytes},
                             {"rate_hz", m.rate_hz},
                             {"publishers", m.publishers},
                             {"readers", m.readers},
                             {"quantity", m.quantity},
                             {"unit", m.unit},
                             {"more_is_better", m.more_is_better}};
  if (m.due) out["due"] = *m.due;
  if (m.lost) out["lost"] = *m.lost;
  out["noisy"] = m.noisy;
  out["command"] = m.command;
  out["runs"] = nlohmann::ordered_json::array();
  for (const MeasuredRun& run : m.runs) {
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (const double sample : run.samples) samples.push_back(rounded(sample, 1e4));
    out["runs"].push_back({{"count", run.count},
                           {"steal_percent", rounded(run.steal_percent)},
                           {"other_load_percent", rounded(run.other_load_percent)},
                           {"samples", std::move(samples)}});
  }
  return out;
}

nlohmann::ordered_json to_json(std::span<const Measurement> measurements) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Measurement& m : measurements) out.push_back(to_json(m));
  return out;
}

nlohmann::ordered_json to_json(const Result& result) {
  nlohmann::ordered_json out;
  out["host"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : result.host) out["host"][name] = value;
  out["interrupted"] = result.interrupted;
  out["left_out"] = result.left_out;
  out["failures"] = result.failures;
  out["measurements"] = to_json(std::span<const Measurement>(result.measurements));
  return out;
}

}  // namespace cardan::bench
