// SPDX-License-Identifier: Apache-2.0
#include "examples/street/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace cardan::street {
namespace {

using nlohmann::ordered_json;

std::string number(double value) {
  if (std::isnan(value)) return "-";
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 1000) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string row(std::string_view title, const Summary& s, std::string_view rest) {
  return fmt::format("  {:<44} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n", title, number(s.min), number(s.mean),
                     number(s.p50), number(s.p95), number(s.p99), number(s.max), number(s.std), rest);
}

ordered_json to_json(const Summary& s) {
  // NaN becomes null.
  return {{"min", s.min}, {"mean", s.mean}, {"p50", s.p50}, {"p95", s.p95},
          {"p99", s.p99}, {"max", s.max},   {"std", s.std}};
}

ordered_json to_json(const Figures& figures, const Inputs& inputs) {
  ordered_json out;
  out["hops"] = ordered_json::array();
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto& hop = figures.hops[i];
    out["hops"].push_back({{"topic", kHopList[i].topic},
                           {"from", label_of(kHopList[i].from, inputs)},
                           {"to", label_of(kHopList[i].to, inputs)},
                           {"received", hop.received},
                           {"missed", hop.missed},
                           {"transport_us", to_json(hop.transport_us)}});
  }
  out["decision_us"] = to_json(figures.decision_us);
  out["decisions"] = figures.decisions;
  return out;
}

}  // namespace

std::string label_of(Role role, const Inputs& inputs) {
  std::string name{name_of(role)};
  if (role == Role::Lidar && inputs.lidar_simulated) name += " (simulated)";
  return name;
}

std::string table(Transport transport, const Figures& figures, const Inputs& inputs) {
  std::string out = fmt::format(
      "{}: transport latency per hop, µs\n  {:<44} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n", name_of(transport),
      "", "min", "mean", "p50", "p95", "p99", "max", "std", "received  missed  MB/message");
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto& hop = figures.hops[i];
    const double megabytes =
        hop.received > 0 ? static_cast<double>(hop.bytes) * 1e-6 / static_cast<double>(hop.received) : 0;
    out += row(fmt::format("{}  {} → {}", kHopList[i].topic + std::string_view("/street/").size(),
                           label_of(kHopList[i].from, inputs), label_of(kHopList[i].to, inputs)),
               hop.transport_us, fmt::format("{:>8}  {:>6}  {:>10.3f}", hop.received, hop.missed, megabytes));
  }
  const auto milli = [](Summary s) {
    for (double* v : {&s.min, &s.mean, &s.p50, &s.p95, &s.p99, &s.max, &s.std}) *v *= 1e-3;
    return s;
  };
  out += fmt::format("{}: perception to decision, ms\n", name_of(transport));
  out += row("sensor frame published → brake or go", milli(figures.decision_us),
             fmt::format("{:>8} decisions", figures.decisions));
  return out;
}

std::string comparison(const Figures& cardan, const Figures& socket, const Inputs& inputs) {
  std::string out = "Unix socket / Cardan, medians\n";
  const auto line = [&](const std::string& title, double ours, double theirs, const char* unit) {
    if (std::isnan(ours) || std::isnan(theirs) || ours <= 0) return;
    out += fmt::format("  {:<44} {:>9} {} → {:>9} {}: {:.1f} x\n", title, number(ours), unit, number(theirs), unit,
                       theirs / ours);
  };
  for (std::size_t i = 0; i < kHops; ++i) {
    line(fmt::format("{}  {} → {}", kHopList[i].topic + std::string_view("/street/").size(),
                     label_of(kHopList[i].from, inputs), label_of(kHopList[i].to, inputs)),
         cardan.hops[i].transport_us.p50, socket.hops[i].transport_us.p50, "µs");
  }
  line("perception to decision", cardan.decision_us.p50 * 1e-3, socket.decision_us.p50 * 1e-3, "ms");
  return out;
}

std::string json(const Figures& cardan, const std::optional<Figures>& socket, const Inputs& inputs) {
  ordered_json out = to_json(cardan, inputs);
  if (socket) out["unix_socket"] = to_json(*socket, inputs);
  return out.dump(2) + "\n";
}

}  // namespace cardan::street
