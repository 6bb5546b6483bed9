// SPDX-License-Identifier: Apache-2.0
#include "demo/report/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "demo/report/columns.hpp"

namespace cardan::street {
namespace {

using nlohmann::ordered_json;

std::string number(double value) {
  if (std::isnan(value)) return "-";
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 1000) return fmt::format("{:.1f}", value);
  if (value < 1e5) return fmt::format("{:.0f}", value);
  return value < 1e8 ? fmt::format("{:.0f}k", value * 1e-3) : fmt::format("{:.0f}M", value * 1e-6);
}

ordered_json to_json(const Summary& s) {
  // NaN becomes null.
  return {{"min", s.min},
          {"mean", s.mean},
          {"p50", s.p50},
          {"p95", s.p95},
          {"p99", s.p99},
          {"max", s.max},
          {"std", s.std},
          {"p50_within", s.p50_within},
          {"mean_within", s.mean_within}};
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
  constexpr std::array<const char*, kSetups> keys = {"five_processes", "without_priorities", "one_process",
                                                     "unix_socket"};
  return keys[static_cast<std::size_t>(setup)];
}

/// Its holder tells which topic it is: there is one each way.
std::string title_of(std::size_t hop, const Inputs& inputs) {
  return fmt::format("{} → {}", label_of(kHopList[hop].from, inputs), label_of(kHopList[hop].to, inputs));
}

/// The figures of a summary as columns, and their cells. The first to be dropped says least in addition to the others.
constexpr std::array<std::pair<const char*, int>, 7> kFigures = {
    {{"min", 3}, {"mean", 2}, {"p50", 0}, {"p95", 1}, {"p99", 0}, {"max", 0}, {"std", 5}}};
std::vector<std::string> cells_of(std::string title, const Summary& s) {
  std::vector<std::string> cells{std::move(title)};
  for (const double value : {s.min, s.mean, s.p50, s.p95, s.p99, s.max, s.std}) cells.push_back(number(value));
  return cells;
}

/// NaN: no decision rests on it, or nobody carries it.
double age_us(const LatencyHistogram& ages, double percent) {
  const std::int64_t ns = latency_percentile(ages, percent);
  return ns < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(ns) * 1e-3;
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
  out["carried_us"] = to_json(figures.carried_us);
  out["worked_us"] = to_json(figures.worked_us);
  out["decisions"] = figures.decisions;
  out["ages_us"] = ordered_json::object();
  for (const auto& [chain, ages] : figures.ages)
    out["ages_us"][chain] = {{"p50", age_us(ages, 50)}, {"p99", age_us(ages, 99)}};
  return out;
}

}  // namespace

std::string label_of(Role role, const Inputs& inputs) {
  std::string name{name_of(role)};
  if (role == Role::Camera && inputs.camera_drawn) name += " (drawn)";
  if (role == Role::Lidar && inputs.lidar_simulated) name += " (simulated)";
  return name;
}

std::string table(Setup setup, const Figures& figures, const Inputs& inputs, std::size_t width) {
  Columns hops;
  hops.column("");
  for (const auto& [head, drop] : kFigures) hops.column(head, drop);
  hops.column("received", 4);
  hops.column("missed");
  hops.column("MB each", 6);
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto& hop = figures.hops[i];
    auto cells = cells_of(title_of(i, inputs), hop.transport_us);
    cells.push_back(fmt::format("{}", hop.received));
    cells.push_back(fmt::format("{}", hop.missed));
    cells.push_back(hop.received == 0 ? "-"
                                      : fmt::format("{:.3f}", static_cast<double>(hop.bytes) * 1e-6 /
                                                                  static_cast<double>(hop.received)));
    hops.row(std::move(cells));
  }
  const auto milli = [](Summary s) {
    for (double* v : {&s.min, &s.mean, &s.p50, &s.p95, &s.p99, &s.max, &s.std}) *v *= 1e-3;
    return s;
  };
  Columns decision;
  decision.column("");
  for (const auto& [head, drop] : kFigures) decision.column(head, drop);
  decision.column("decisions", 4);
  auto cells = cells_of("frame published → brake or go", milli(figures.decision_us));
  cells.push_back(fmt::format("{}", figures.decisions));
  decision.row(std::move(cells));
  return fmt::format("{}: transport latency per hop, µs\n{}{}: perception to decision, ms\n{}", name_of(setup),
                     hops.text(width), name_of(setup), decision.text(width));
}

std::string comparison(const std::vector<Measured>& measured, const Inputs& inputs, std::size_t width) {
  Columns setups;
  setups.column("");
  for (const Measured& m : measured)
    setups.column(std::string(short_name_of(m.setup)), m.setup == Setup::OneProcess ? 1 : 0);
  setups.column("last / first", 2);
  const auto line = [&](std::string title, const auto& cell_of, const auto& value_of) {
    std::vector<std::string> cells{std::move(title)};
    for (const Measured& m : measured) cells.push_back(cell_of(m.figures));
    const double first = value_of(measured.front().figures);
    const double last = value_of(measured.back().figures);
    cells.push_back(first > 0 && last > 0 ? fmt::format("{:.1f} x", last / first) : "");
    setups.row(std::move(cells));
  };
  const auto within = [](double value, double half) {
    return std::isnan(half) ? number(value) : fmt::format("{} ±{}", number(value), number(half));
  };
  const auto none = [](const Figures&) { return 0.0; };
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto of = [i](const Figures& f) -> const Summary& { return f.hops[i].transport_us; };
    line(
        title_of(i, inputs), [&](const Figures& f) { return within(of(f).p50, of(f).p50_within); },
        [&](const Figures& f) { return of(f).p50; });
    line("  99th percentile", [&](const Figures& f) { return number(of(f).p99); }, none);
  }
  // Decisions follow the camera's slow detector or the LiDAR's fast one: a median would fall between the two.
  const auto mean = [&](std::string title, const Summary Figures::* of) {
    line(
        std::move(title), [&](const Figures& f) { return within((f.*of).mean, (f.*of).mean_within); },
        [&](const Figures& f) { return (f.*of).mean; });
  };
  mean("to the decision: carried", &Figures::carried_us);
  const auto ages_of = [&](const char* title, const std::string& chain) {
    const auto age = [&](const Figures& f, double percent) {
      const auto found = f.ages.find(chain);
      return age_us(found == f.ages.end() ? LatencyHistogram{} : found->second, percent);
    };
    line(title, [&](const Figures& f) { return number(age(f, 50)); }, [&](const Figures& f) { return age(f, 50); });
    line("  99th percentile", [&](const Figures& f) { return number(age(f, 99)); }, none);
  };
  ages_of("age of the picture at a decision", "camera");
  ages_of("age of the scan at a decision", "lidar");
  line("  decisions", [](const Figures& f) { return fmt::format("{}", f.decisions); }, none);
  return "Side by side, µs: of each hop the median ± its 95 % interval and the 99th\n"
         "percentile; of the way to a decision the mean; ages as Cardan carries them\n" +
         setups.text(width);
}

std::string json(const std::vector<Measured>& measured, const Inputs& inputs, const std::optional<Crash>& crash) {
  ordered_json out;
  for (const Measured& m : measured) {
    if (out.empty()) {
      out["setup"] = key_of(m.setup);
      out["inputs"] = {{"camera", inputs.camera}, {"lidar", inputs.lidar}};
      out.update(to_json(m.figures, inputs));
    } else {
      out[key_of(m.setup)] = to_json(m.figures, inputs);
    }
  }
  if (crash) out["crash"] = to_json(*crash);
  return out.dump(2) + "\n";
}

}  // namespace cardan::street
