// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/fusion_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/results/host.hpp"
#include "bench/results/occasion.hpp"
#include "bench/results/words.hpp"
#include "bench/transport/options.hpp"

namespace cardan::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string fusion_line(std::string_view way, const std::string& channel, const std::vector<double>& latency_us,
                        const std::array<std::uint64_t, 5>& counts) {
  const Summary s = summarize(latency_us);
  std::string line = fmt::format("  {:<16}{:<8}", way, channel);
  line += s.count == 0 ? fmt::format("{:>9}{:>9}", "", "")
                       : fmt::format("{:>9}{:>9}", three_digits(s.p50), three_digits(s.p99));
  for (const std::uint64_t count : counts) line += fmt::format("{:>9}", count);
  return line;
}

}  // namespace

void FusionRow::add(const FusionRun& run) {
  ++runs;
  sets += run.sets;
  steal_percent = std::max(steal_percent, run.steal_percent);
  late_us = std::max(late_us, run.late_us);
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    const FusionChannelRun& from = run.channels[c];
    Channel& to = channels[c];
    to.sent += from.sent;
    to.used += from.counts.used;
    to.dropped += from.dropped();
    to.waiting += from.counts.waiting;
    to.lost += from.lost();
    if (from.sent != 0)
      to.used_percent.push_back(100 * static_cast<double>(from.counts.used) / static_cast<double>(from.sent));
    append(to.latency_us, from.latency_us);
    if (!from.latency_us.empty()) to.latency_runs.push_back(make_run(from.latency_us, run.steal_percent));
  }
  std::vector<double> together = run.latency_us();
  append(latency_us, together);
  if (!together.empty()) latency_runs.push_back(make_run(std::move(together), run.steal_percent));
}

std::uint64_t FusionRow::sent() const noexcept {
  std::uint64_t sum = 0;
  for (const Channel& c : channels) sum += c.sent;
  return sum;
}

std::uint64_t FusionRow::lost() const noexcept {
  std::uint64_t sum = 0;
  for (const Channel& c : channels) sum += c.lost;
  return sum;
}

FusionReport::FusionReport(const RuntimeBenchOptions& options) : options_(options) {
  for (const FusionWay way : kFusionWays) rows_.push_back({.way = way});
}

void FusionReport::run_round(std::uint32_t round, const std::function<bool()>& stopped,
                             const std::function<void(const std::string&)>& tell) {
  for (const std::size_t i : order_of(rows_.size(), round)) {
    FusionRow& row = rows_[i];
    tell(fmt::format("fusion of four topics, {}", name_of(row.way)));
    const auto run = least_disturbed([&](int /*repetition*/) -> std::optional<FusionRun> {
      const CpuTicks before = read_cpu_ticks();
      FusionRun one = run_fusion(row.way, fusion_phases(round), options_, stopped);
      one.steal_percent = steal_percent(before, read_cpu_ticks());
      return stopped() ? std::nullopt : std::optional(std::move(one));
    });
    if (!run) return;
    row.stolen = row.stolen || run->steal_percent > kMostStealPercent;
    row.add(*run);
  }
}

bool FusionReport::lost() const noexcept {
  return std::any_of(rows_.begin(), rows_.end(), [](const FusionRow& row) { return row.lost() != 0; });
}

std::string FusionReport::text() const {
  std::string out;
  for (const FusionRow& row : rows_) {
    if (row.runs == 0) continue;
    if (out.empty())
      out = fmt::format(
          "\nFusion: {} from four components at 10, 20, 30 and 40 Hz to one, in slots, until the fused callback\n"
          "  policy          channel       p50      p99     sent     used  dropped  waiting     lost\n",
          name_of_bytes(kFusionBytes));
    std::array<std::uint64_t, 5> together{};
    std::string lines;
    for (std::size_t c = 0; c < kFusionChannels; ++c) {
      const FusionRow::Channel& channel = row.channels[c];
      const std::array<std::uint64_t, 5> counts{channel.sent, channel.used, channel.dropped, channel.waiting,
                                                channel.lost};
      for (std::size_t i = 0; i < counts.size(); ++i) together[i] += counts[i];
      lines += fusion_line("", fmt::format("{} Hz", kFusionRates[c]), channel.latency_us, counts) + "\n";
    }
    out += fusion_line(name_of(row.way), "all", row.latency_us, together) +
           fmt::format("   {} sets{}\n", row.sets, row.stolen ? "  stolen" : "") + lines;
  }
  return out;
}

std::vector<Json> FusionReport::rows() const {
  std::vector<Json> all;
  for (const FusionRow& row : rows_) {
    if (row.runs == 0) continue;
    Json channels = Json::array();
    for (std::size_t c = 0; c < kFusionChannels; ++c) {
      const FusionRow::Channel& channel = row.channels[c];
      channels.push_back({{"rate_hz", kFusionRates[c]},
                          {"transport_us", to_json(summarize(channel.latency_us))},
                          {"sent", channel.sent},
                          {"used", channel.used},
                          {"dropped", channel.dropped},
                          {"waiting", channel.waiting},
                          {"lost", channel.lost}});
    }
    all.push_back({{"peer", "cardan"},
                   {"wait", "slot"},
                   {"scenario", "fusion"},
                   {"policy", name_of(row.way)},
                   {"bytes", kFusionBytes},
                   {"runs", row.runs},
                   {"sets", row.sets},
                   {"sent", row.sent()},
                   {"lost", row.lost()},
                   {"transport_us", to_json(summarize(row.latency_us))},
                   {"channels", channels},
                   {"late_us", rounded(row.late_us)},
                   {"steal_percent", rounded(row.steal_percent)},
                   {"stolen", row.stolen}});
  }
  return all;
}

std::vector<Measurement> FusionReport::measurements() const {
  std::vector<Measurement> all;
  for (const FusionRow& row : rows_) {
    const auto add = [&](const std::string& quantity, const char* unit, double rate_hz, std::vector<MeasuredRun> runs) {
      all.push_back({.part = "runtime",
                     .peer = "cardan",
                     .setup = std::string(name_of(row.way)),
                     .cell = "fusion",
                     .quantity = quantity,
                     .unit = unit,
                     .bytes = static_cast<double>(kFusionBytes),
                     .rate_hz = rate_hz,
                     .publishers = static_cast<std::uint32_t>(kFusionChannels),
                     .readers = 1,
                     .runs = std::move(runs),
                     .noisy = row.stolen,
                     .command = fmt::format("cardan bench runtime --sizes 4M --runs {} --frames {}", options_.runs,
                                            options_.frames)});
    };
    if (row.latency_runs.empty()) continue;
    add("transport", "us", 0, row.latency_runs);
    all.back().due = row.sent();
    all.back().lost = row.lost();
    for (std::size_t c = 0; c < kFusionChannels; ++c) {
      const FusionRow::Channel& channel = row.channels[c];
      if (!channel.latency_runs.empty())
        add(fmt::format("transport of {} Hz", kFusionRates[c]), "us", kFusionRates[c], channel.latency_runs);
      std::vector<MeasuredRun> used;
      for (const double percent : channel.used_percent) used.push_back(make_run({percent}));
      if (used.empty()) continue;
      add(fmt::format("used of {} Hz", kFusionRates[c]), "%", kFusionRates[c], std::move(used));
      all.back().more_is_better = true;
    }
  }
  return all;
}

}  // namespace cardan::bench
