// SPDX-License-Identifier: Apache-2.0
#include "bench/results/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/results/words.hpp"

namespace cardan::bench {

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

}  // namespace cardan::bench
