// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/transport/peer_modules.hpp"

namespace cardan::bench {
namespace {

using Json = nlohmann::ordered_json;

// Above it, what others do shows in the tails.
constexpr double kNotableLoadPercent = 3;

Json to_json(const Latency& latency) {
  Json out = bench::to_json(latency.pooled);
  // One run has no confidence: null, not a made-up interval.
  out["ci95"] = latency.ci95 ? Json{rounded(latency.ci95->first), rounded(latency.ci95->second)} : Json(nullptr);
  return out;
}

Json to_json(const Row& row) {
  Json out;
  out["peer"] = name_of(row.contender.peer);
  out["wait"] = name_of(row.contender.wait);
  out["scenario"] = name_of(row.cell.scenario);
  out["sensor"] = name_of(row.cell.sensor);
  out["conditions"] = name_of(row.cell.conditions);
  out["bytes"] = row.cell.bytes;
  out["rate_hz"] = row.cell.rate_hz;
  out["runs"] = row.runs;
  out["sent"] = row.sent;
  out["lost"] = row.lost;
  out["torn"] = row.torn;
  out["transport_us"] = to_json(row.transport_us);
  out["end_to_end_us"] = to_json(row.end_to_end_us);
  out["spread_us"] = to_json(row.spread_us);
  if (row.last_us) out["last_us"] = to_json(*row.last_us);
  out["loan_publish_us"] = to_json(row.handing_us);
  out["cpu_us_per_message"] = {{"publisher", rounded(row.publisher_cpu_us)}, {"reader", rounded(row.reader_cpu_us)}};
  out["reader_cpu_percent"] = rounded(row.reader_cpu_percent);
  out["reader_waiting_cpu_percent"] = rounded(row.waiting_cpu_percent);
  out["achieved_rate_hz"] = rounded(row.achieved_rate_hz);
  out["refused"] = row.refused;
  out["steal_percent"] = rounded(row.steal_percent);
  out["stolen"] = row.stolen;
  out["other_load_percent"] = rounded(row.other_load_percent);
  Json by_run = Json::array();
  for (const double p50 : row.transport_p50_by_run) by_run.push_back(rounded(p50));
  out["transport_p50_us_by_run"] = by_run;
  if (row.ratio_to_raw) {
    out["ratio_to_raw"] = {{"transport_p50", rounded(row.ratio_to_raw->transport_p50)},
                           {"transport_p99", rounded(row.ratio_to_raw->transport_p99)},
                           {"end_to_end_p50", rounded(row.ratio_to_raw->end_to_end_p50)},
                           {"loan_publish_beyond_us", rounded(row.ratio_to_raw->handing_beyond_us)}};
    if (row.last_us) out["ratio_to_raw"]["last_p50"] = rounded(row.ratio_to_raw->last_p50);
  }
  return out;
}

std::string title_of(const Cell& cell) {
  const auto plural = [](std::uint32_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const std::string links = cell.scenario.links == 1 ? "" : fmt::format("{} links of ", cell.scenario.links);
  return fmt::format("{} · {}{}, {} · {} · {} Hz", name_of(cell), links, plural(cell.scenario.publishers, "publisher"),
                     plural(cell.scenario.subscribers, "reader"), name_of_bytes(cell.bytes),
                     three_digits(cell.rate_hz));
}

std::string table_line(const Row& row) {
  const auto& t = row.transport_us.pooled;
  std::string line = fmt::format("  {:<18}{:<11}", name_of(row.contender.peer), name_of(row.contender.wait));
  if (t.count == 0) return line + fmt::format("nothing arrived of {} sent\n", row.sent);
  line += fmt::format("{:>9}{:>9}{:>9}", three_digits(t.p50), three_digits(t.p99), three_digits(t.max));
  line += fmt::format("{:>9}", row.last_us ? three_digits(row.last_us->pooled.p50) : "");
  line += fmt::format("{:>10}", three_digits(row.end_to_end_us.pooled.p50));
  line += fmt::format("{:>9}{:>9}{:>8}", three_digits(row.publisher_cpu_us), three_digits(row.reader_cpu_us),
                      fmt::format("{:.1f}", row.reader_cpu_percent));
  line += fmt::format("{:>8}{:>7}{:>7}", row.sent, row.lost, row.torn);
  line += fmt::format("{:>9}", row.ratio_to_raw ? fmt::format("{:.2f}", row.ratio_to_raw->transport_p50) : "–");
  if (row.stolen) line += "  stolen";
  return line + "\n";
}

// "cyclone 0.10.2, fastdds 2.9.1": of those that were measured.
std::string versions_of_peers(const std::vector<Row>& rows) {
  std::set<std::string> all;
  for (const Row& row : rows) {
    const std::string_view peer = name_of(row.contender.peer);
    if (const std::string version = module_version(peer); !version.empty())
      all.insert(fmt::format("{} {}", peer.substr(0, peer.find('-')), version));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

Json to_json(const std::vector<Row>& rows, const Circumstances& c) {
  Json out = to_json(static_cast<const Occasion&>(c));
  out["host"]["peers"] = versions_of_peers(rows);
  out["rows"] = Json::array();
  for (const Row& row : rows) out["rows"].push_back(to_json(row));
  out["figures"] = Json::array();
  for (const Figure& f : c.figures) {
    Json figure{{"name", f.name}, {"unit", f.unit}, {"count", f.summary.count}};
    figure.update(bench::to_json(f.summary));
    figure["detail"] = f.detail;
    out["figures"].push_back(figure);
  }
  return out;
}

std::string to_table(const std::vector<Row>& rows, const Circumstances& c) {
  std::string out = head_of(c);
  out += "transport: just before publish → in the reader's hands; end to end: before filling → every byte read; µs\n";
  out += "CPU: µs per message; × raw: transport p50 over that of blocking raw in the same run, median over the runs\n";
  double other_load = 0;
  for (const Row& row : rows) other_load += row.other_load_percent / static_cast<double>(rows.size());
  if (other_load > kNotableLoadPercent) {
    out += fmt::format(
        "other programs used {:.0f} % of this computer meanwhile: end them for figures that can be trusted\n",
        other_load);
  }
  const Cell* cell = nullptr;
  for (const Row& row : rows) {
    if (cell == nullptr || !(*cell == row.cell)) {
      out += fmt::format("\n{}\n", title_of(row.cell));
      out += fmt::format("  {:<18}{:<11}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}{:>8}{:>8}{:>7}{:>7}{:>9}\n", "peer",
                         "wait", "p50", "p99", "max", row.last_us ? "last p50" : "", "e2e p50", "CPU pub", "CPU rdr",
                         "rdr %", "sent", "lost", "torn", "× raw");
      cell = &row.cell;
    }
    out += table_line(row);
  }
  if (!c.figures.empty()) out += "\nsingle operations\n";
  for (const Figure& f : c.figures) {
    out += fmt::format("  {:<44}{:>10}{:>10} {:<4}{}\n", f.name, three_digits(f.summary.p50),
                       three_digits(f.summary.p99), f.unit, f.detail);
  }
  return out + tail_of(c);
}

}  // namespace cardan::bench
