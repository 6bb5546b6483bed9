// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/v2x/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench::v2x {
namespace {

std::string command_of(const Report& report, const PeerResult& peer) {
  const Options& o = report.options;
  return fmt::format(
      "cardan bench v2x --only {} --bytes {} --hz {:g} --seconds {:g} --runs {} --delay-ms {:g} --jitter-ms {:g} "
      "--loss "
      "{:g} --rate-mbit {:g}",
      peer.name, o.bytes, o.hz, o.seconds, o.runs, o.link.delay_ms, o.link.jitter_ms, o.link.loss_percent,
      o.link.rate_mbit);
}

}  // namespace

std::vector<double> PeerResult::pooled() const {
  std::vector<double> all;
  for (const std::vector<double>& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

std::string to_table(const Report& report) {
  std::string out = head_of(report);
  if (!report.how.empty())
    out += fmt::format("{}: {} · {} B at {:g} Hz · round trip in ms\n\n", report.how, report.options.link.text(),
                       report.options.bytes, report.options.hz);
  if (!report.peers.empty())
    out += fmt::format("  {:<13}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "peer", "p50", "p95", "p99", "max", "sent", "lost");
  for (const PeerResult& peer : report.peers) {
    const Summary ms = summarize(peer.pooled());
    out += fmt::format("  {:<13}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}  {}\n", peer.name, three_digits(ms.p50),
                       three_digits(ms.p95), three_digits(ms.p99), three_digits(ms.max), peer.sent,
                       peer.sent - peer.answered, peer.title);
  }
  return out + "\n" + tail_of(report);
}

nlohmann::ordered_json to_json(const Report& report) {
  const Options& o = report.options;
  nlohmann::ordered_json out = bench::to_json(static_cast<const Occasion&>(report));
  out["link"] = {{"how", report.how},
                 {"delay_ms", o.link.delay_ms},
                 {"jitter_ms", o.link.jitter_ms},
                 {"loss_percent", o.link.loss_percent},
                 {"rate_mbit", o.link.rate_mbit}};
  out["rows"] = nlohmann::ordered_json::array();
  for (const PeerResult& peer : report.peers)
    out["rows"].push_back({{"peer", peer.name},
                           {"title", peer.title},
                           {"bytes", o.bytes},
                           {"rate_hz", o.hz},
                           {"runs", peer.runs.size()},
                           {"sent", peer.sent},
                           {"lost", peer.sent - peer.answered},
                           {"round_trip_ms", bench::to_json(summarize(peer.pooled()), 1e4)}});
  out["measurements"] = bench::to_json(measurements_of(report));
  return out;
}

std::vector<Measurement> measurements_of(const Report& report) {
  std::vector<Measurement> all;
  for (const PeerResult& peer : report.peers) {
    Measurement m{.part = "v2x",
                  .peer = peer.name,
                  .cell = "two networks",
                  .quantity = "round trip",
                  .unit = "ms",
                  .bytes = static_cast<double>(report.options.bytes),
                  .rate_hz = report.options.hz,
                  .due = peer.sent,
                  .lost = peer.sent - peer.answered,
                  .command = command_of(report, peer)};
    for (const std::vector<double>& run : peer.runs) m.runs.push_back(make_run(run, report.steal_percent));
    if (m.kept() > 0) all.push_back(std::move(m));
  }
  return all;
}

}  // namespace cardan::bench::v2x
