// SPDX-License-Identifier: Apache-2.0
#include "examples/street/report.hpp"

#include <fmt/format.h>

#include <array>
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

ordered_json to_json(const Crash& c) {
  const auto ms = [](double value) { return value < 0 ? ordered_json(nullptr) : ordered_json(value); };
  ordered_json out = {{"component", c.component},
                      {"process", c.process},
                      {"cause", c.cause},
                      {"noticed_ms", ms(c.noticed_ms)},
                      {"degraded_ms", ms(c.degraded_ms)},
                      {"running_again_ms", ms(c.running_again_ms)},
                      {"back_off_ms", ms(c.back_off_ms)},
                      {"start_up_ms", ms(c.start_up_ms)},
                      {"recovered_ms", ms(c.recovered_ms)}};
  out["lost_between_others"] = c.alone ? ordered_json(c.lost) : ordered_json(nullptr);
  out["report"] = c.report.empty() ? ordered_json(nullptr) : ordered_json(c.report);
  return out;
}

const char* key_of(Setup setup) {
  constexpr std::array<const char*, kSetups> keys = {"five_processes", "one_process", "unix_socket"};
  return keys[static_cast<std::size_t>(setup)];
}

std::string title_of(std::size_t hop, const Inputs& inputs) {
  return fmt::format("{}  {} → {}", kHopList[hop].topic + std::string_view("/street/").size(),
                     label_of(kHopList[hop].from, inputs), label_of(kHopList[hop].to, inputs));
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

std::string table(Setup setup, const Figures& figures, const Inputs& inputs) {
  std::string out =
      fmt::format("{}: transport latency per hop, µs\n  {:<44} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n",
                  name_of(setup), "", "min", "mean", "p50", "p95", "p99", "max", "std", "received  missed  MB/message");
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto& hop = figures.hops[i];
    const double megabytes =
        hop.received > 0 ? static_cast<double>(hop.bytes) * 1e-6 / static_cast<double>(hop.received) : 0;
    out += row(title_of(i, inputs), hop.transport_us,
               fmt::format("{:>8}  {:>6}  {:>10.3f}", hop.received, hop.missed, megabytes));
  }
  const auto milli = [](Summary s) {
    for (double* v : {&s.min, &s.mean, &s.p50, &s.p95, &s.p99, &s.max, &s.std}) *v *= 1e-3;
    return s;
  };
  out += fmt::format("{}: perception to decision, ms\n", name_of(setup));
  out += row("sensor frame published → brake or go", milli(figures.decision_us),
             fmt::format("{:>8} decisions", figures.decisions));
  return out;
}

std::string comparison(const std::vector<Measured>& measured, const Inputs& inputs) {
  std::string out = fmt::format("{:<46}", "Side by side, medians");
  for (const Measured& m : measured) out += fmt::format(" {:>16}", short_name_of(m.setup));
  out += measured.size() > 1 ? "   last / first\n" : "\n";
  const auto line = [&](const std::string& title, const char* unit, const auto& value_of) {
    out += fmt::format("  {:<44}", title);
    for (const Measured& m : measured) out += fmt::format(" {:>13} {}", number(value_of(m.figures)), unit);
    if (measured.size() > 1) {
      const double ours = value_of(measured.front().figures);
      const double theirs = value_of(measured.back().figures);
      out += ours > 0 && theirs > 0 ? fmt::format("   {:>10.1f} x", theirs / ours) : fmt::format("   {:>10}", "-");
    }
    out += "\n";
  };
  for (std::size_t i = 0; i < kHops; ++i)
    line(title_of(i, inputs), "µs", [i](const Figures& f) { return f.hops[i].transport_us.p50; });
  // Decisions follow the camera's slow detector or the LiDAR's fast one: a median would fall between the two.
  line("perception to decision, mean", "ms", [](const Figures& f) { return f.decision_us.mean * 1e-3; });
  return out;
}

std::string json(const std::vector<Measured>& measured, const Inputs& inputs, const std::optional<Crash>& crash) {
  ordered_json out;
  for (const Measured& m : measured) {
    if (out.empty()) {
      out["setup"] = key_of(m.setup);
      out.update(to_json(m.figures, inputs));
    } else {
      out[key_of(m.setup)] = to_json(m.figures, inputs);
    }
  }
  if (crash) out["crash"] = to_json(*crash);
  return out.dump(2) + "\n";
}

}  // namespace cardan::street
