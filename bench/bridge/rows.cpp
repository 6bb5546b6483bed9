// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench::bridging {

double Figure::median() const { return bench::median(runs); }

std::optional<bool> Figure::reached() const {
  if (!target || runs.empty()) return std::nullopt;
  return target->at_most ? median() <= target->limit : median() >= target->limit;
}

namespace {

Figure& figure_of(Row& row, const std::string& name, const std::string& unit, std::optional<Target> target) {
  for (Figure& one : row.figures)
    if (one.name == name) return one;
  return row.figures.emplace_back(Figure{name, unit, target, {}});
}

}  // namespace

void Row::add(const std::string& figure, const std::string& unit, double value, std::optional<Target> target) {
  figure_of(*this, figure, unit, target).runs.push_back(value);
}

void Row::set(const std::string& figure, const std::string& unit, double value, std::optional<Target> target) {
  figure_of(*this, figure, unit, target).runs = {value};
}

const Figure* Row::find(const std::string& figure) const {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.name == figure; });
  return found == figures.end() ? nullptr : &*found;
}

std::string to_table(const Report& report) {
  std::string out = head_of(report);
  for (const Row& row : report.rows) {
    out += fmt::format("\n{}: {}\n", row.name, row.title);
    for (const Figure& f : row.figures) {
      out += fmt::format("  {:<28}{:>10} {:<14}", f.name, three_digits(f.median()), f.unit);
      if (f.target)
        out += fmt::format("wanted {} {}: {}", f.target->at_most ? "≤" : "≥", three_digits(f.target->limit),
                           *f.reached() ? "reached" : "MISSED");
      out.erase(out.find_last_not_of(' ') + 1);
      out += '\n';
    }
  }
  return out + "\n" + tail_of(report);
}

nlohmann::ordered_json to_json(const Report& report) {
  nlohmann::ordered_json out = bench::to_json(static_cast<const Occasion&>(report));
  out["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : report.rows) {
    nlohmann::ordered_json figures = nlohmann::ordered_json::array();
    for (const Figure& f : row.figures) {
      nlohmann::ordered_json one{{"name", f.name}, {"unit", f.unit}, {"median", rounded(f.median())}};
      one["runs"] = nlohmann::ordered_json::array();
      for (const double value : f.runs) one["runs"].push_back(rounded(value));
      if (f.target) {
        one["wanted"] = {{f.target->at_most ? "at_most" : "at_least", f.target->limit}};
        one["reached"] = *f.reached();
      }
      figures.push_back(std::move(one));
    }
    out["rows"].push_back({{"name", row.name}, {"title", row.title}, {"figures", std::move(figures)}});
  }
  out["measurements"] = bench::to_json(measurements_of(report));
  return out;
}

std::vector<Measurement> measurements_of(const Report& report) {
  std::vector<Measurement> all;
  for (const Row& row : report.rows)
    for (const Figure& f : row.figures) {
      if (f.unit.empty()) continue;  // only says what was there; it is not measured
      Measurement m{.part = "bridge",
                    .peer = "cardan",
                    .setup = row.name,
                    .quantity = f.name,
                    .unit = f.unit,
                    .more_is_better = f.target && !f.target->at_most,
                    .command = fmt::format("cardan bench bridge --only {} --seconds {:g} --runs {}", row.name,
                                           report.seconds, report.runs)};
      for (const double value : f.runs) m.runs.push_back(make_run({value}, report.steal_percent));
      all.push_back(std::move(m));
    }
  return all;
}

}  // namespace cardan::bench::bridging
