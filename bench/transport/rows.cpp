// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/rows.hpp"

#include <algorithm>

namespace cardan::bench {
namespace {

using Samples = std::vector<double> RunResult::*;

Latency pool(const std::vector<Results::Entry>& entries, Samples samples) {
  std::vector<double> all;
  std::vector<double> means;
  for (const auto& entry : entries) {
    const auto& run = entry.result.*samples;
    if (run.empty()) continue;
    all.insert(all.end(), run.begin(), run.end());
    means.push_back(summarize(run).mean);
  }
  return {summarize(std::move(all)), confidence95(means)};
}

double mean_over(const std::vector<Results::Entry>& entries, double RunResult::* figure) {
  double sum = 0;
  for (const auto& entry : entries) sum += entry.result.*figure;
  return sum / static_cast<double>(entries.size());
}

}  // namespace

Results::Results(const TransportOptions& options)
    : contenders_(options.contenders), cells_(options.cells), entries_(contenders_.size() * cells_.size()) {}

void Results::add(std::size_t cell, std::size_t contender, Entry entry) {
  entries_.at(cell * contenders_.size() + contender).push_back(std::move(entry));
}

const std::vector<Results::Entry>& Results::entries(std::size_t cell, std::size_t contender) const {
  return entries_.at(cell * contenders_.size() + contender);
}

std::optional<Ratio> Results::ratio(std::size_t cell, std::size_t contender) const {
  const auto raw = std::find(contenders_.begin(), contenders_.end(), Contender{kRaw, Wait::Block});
  if (raw == contenders_.end()) return std::nullopt;
  const auto& reference = entries(cell, static_cast<std::size_t>(raw - contenders_.begin()));
  std::vector<double> p50, p99, end_to_end, last, handing;
  for (const auto& mine : entries(cell, contender)) {
    const auto same =
        std::find_if(reference.begin(), reference.end(), [&](const Entry& e) { return e.run == mine.run; });
    if (same == reference.end() || same->result.transport_us.empty() || mine.result.transport_us.empty()) continue;
    const auto divide = [](std::vector<double>& out, double above, double below) {
      if (below > 0) out.push_back(above / below);
    };
    const Summary a = summarize(mine.result.transport_us);
    const Summary b = summarize(same->result.transport_us);
    divide(p50, a.p50, b.p50);
    divide(p99, a.p99, b.p99);
    divide(end_to_end, summarize(mine.result.end_to_end_us).p50, summarize(same->result.end_to_end_us).p50);
    handing.push_back(summarize(mine.result.handing_us).p50 - summarize(same->result.handing_us).p50);
    divide(last, summarize(mine.result.last_us).p50, summarize(same->result.last_us).p50);
  }
  if (p50.empty()) return std::nullopt;
  return Ratio{median(p50), median(p99), median(end_to_end), median(last), median(handing)};
}

std::vector<Row> Results::rows() const {
  std::vector<Row> rows;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    for (std::size_t k = 0; k < contenders_.size(); ++k) {
      const auto& runs = entries(c, k);
      if (runs.empty()) continue;
      Row row;
      row.contender = contenders_[k];
      row.cell = cells_[c];
      row.runs = static_cast<std::uint32_t>(runs.size());
      for (const auto& entry : runs) {
        row.sent += entry.result.sent;
        row.lost += entry.result.lost;
        row.torn += entry.result.torn;
        row.refused += entry.result.refused;
        row.stolen = row.stolen || entry.stolen;
        row.transport_p50_by_run.push_back(summarize(entry.result.transport_us).p50);
      }
      row.transport_us = pool(runs, &RunResult::transport_us);
      row.end_to_end_us = pool(runs, &RunResult::end_to_end_us);
      row.spread_us = pool(runs, &RunResult::spread_us);
      row.handing_us = pool(runs, &RunResult::handing_us);
      if (row.cell.scenario.subscribers > 1) row.last_us = pool(runs, &RunResult::last_us);
      row.publisher_cpu_us = mean_over(runs, &RunResult::publisher_cpu_us);
      row.reader_cpu_us = mean_over(runs, &RunResult::reader_cpu_us);
      row.reader_cpu_percent = mean_over(runs, &RunResult::reader_cpu_percent);
      row.waiting_cpu_percent = mean_over(runs, &RunResult::waiting_cpu_percent);
      row.achieved_rate_hz = mean_over(runs, &RunResult::achieved_rate_hz);
      row.steal_percent = mean_over(runs, &RunResult::steal_percent);
      row.other_load_percent = mean_over(runs, &RunResult::other_load_percent);
      row.ratio_to_raw = ratio(c, k);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace cardan::bench
