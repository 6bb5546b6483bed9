// SPDX-License-Identifier: Apache-2.0
// What `cardan bench compare` says.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/results/compare.hpp"
#include "bench/results/read.hpp"
#include "bench/results/words.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

constexpr int kNothingWorse = 0, kWorse = 1, kWrongInput = 2;
constexpr double kGreatestThreshold = 1000;

std::string line_of(const FigureChange& f, const std::string& unit) {
  if (f.change == Change::TooFew)
    return fmt::format("    {:<5}{:>10} → {:>9} {:<9}{}\n", f.figure, three_digits(f.before), three_digits(f.after),
                       unit, name_of(f.change));
  if (f.figure == "lost")
    return fmt::format("    {:<5}{:>9.3f} → {:>8.3f} {:<9}{}\n", f.figure, 100 * f.before, 100 * f.after, "%",
                       name_of(f.change));
  return fmt::format("    {:<5}{:>10} → {:>9} {:<9}× {:.3f}  95 %: {:.3f} … {:.3f}  {}\n", f.figure,
                     three_digits(f.before), three_digits(f.after), unit, f.ratio, f.interval95.first,
                     f.interval95.second, name_of(f.change));
}

const Measurement& either(const Compared& row) { return row.before != nullptr ? *row.before : *row.after; }

nlohmann::ordered_json pair_json(const std::pair<double, double>& interval) {
  return {rounded(interval.first, 1e4), rounded(interval.second, 1e4)};
}

}  // namespace

std::string to_table(const Comparison& comparison) {
  std::string out;
  std::size_t before_only = 0;
  std::size_t after_only = 0;
  std::size_t quiet = 0;
  for (const Compared& row : comparison.rows) {
    if (row.after == nullptr) ++before_only;
    if (row.before == nullptr) ++after_only;
    bool changed = false;
    for (const FigureChange& f : row.figures)
      changed = changed || f.change == Change::Better || f.change == Change::Worse;
    if (!changed) {
      quiet += row.figures.empty() ? 0U : 1U;
      continue;
    }
    const bool noisy = row.before->noisy || row.after->noisy;
    out += fmt::format("  {}{}\n", name_of(either(row)), noisy ? "  (noisy: measure it again)" : "");
    for (const FigureChange& f : row.figures) out += line_of(f, either(row).unit);
    if (!row.after->command.empty()) out += fmt::format("    again: {}\n", row.after->command);
  }
  if (!out.empty()) out = "Changed beyond noise\n" + out + "\n";
  for (const std::string& difference : comparison.differences)
    out += fmt::format("The computers differ: {}\n", difference);
  out += fmt::format(
      "{} measurements are in both: {} figures worse, {} better, {} the same within noise, {} with too few samples "
      "({} measurements without a change). Only before: {}, only after: {}.\n",
      comparison.rows.size() - before_only - after_only, comparison.count(Change::Worse),
      comparison.count(Change::Better), comparison.count(Change::Same), comparison.count(Change::TooFew), quiet,
      before_only, after_only);
  out += fmt::format("Each verdict has a confidence of {:.4f} %, so that all together have 95 %.\n",
                     100 * comparison.confidence);
  return out;
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
  nlohmann::ordered_json out;
  out["confidence"] = comparison.confidence;
  out["worse"] = comparison.count(Change::Worse);
  out["better"] = comparison.count(Change::Better);
  out["differences"] = comparison.differences;
  out["rows"] = nlohmann::ordered_json::array();
  for (const Compared& row : comparison.rows) {
    const Measurement& m = either(row);
    nlohmann::ordered_json one{
        {"part", m.part},         {"peer", m.peer},       {"setup", m.setup},           {"cell", m.cell},
        {"bytes", m.bytes},       {"rate_hz", m.rate_hz}, {"publishers", m.publishers}, {"readers", m.readers},
        {"quantity", m.quantity}, {"unit", m.unit}};
    if (row.before == nullptr || row.after == nullptr) {
      one["only"] = row.after == nullptr ? "before" : "after";
    } else {
      one["noisy"] = row.before->noisy || row.after->noisy;
      one["figures"] = nlohmann::ordered_json::array();
      for (const FigureChange& f : row.figures)
        one["figures"].push_back(
            {{"figure", f.figure},
             {"before", rounded(f.before, 1e6)},
             {"after", rounded(f.after, 1e6)},
             {"ratio", std::isfinite(f.ratio) ? nlohmann::ordered_json(rounded(f.ratio, 1e4)) : nullptr},
             {"interval95", pair_json(f.interval95)},
             {"interval", pair_json(f.interval)},
             {"verdict", name_of(f.change)}});
    }
    out["rows"].push_back(std::move(one));
  }
  return out;
}

int run_compare(const CompareArguments& arguments) {
  try {
    if (!(arguments.threshold >= 1 && arguments.threshold <= kGreatestThreshold))
      throw Error(ErrorCode::InvalidArgument, fmt::format("--threshold {} is out of range", arguments.threshold),
                  fmt::format("use a factor from 1 to {:g}, as 1.03", kGreatestThreshold));
    const Result before = read_result(arguments.before);
    const Result after = read_result(arguments.after);
    const Comparison comparison = compare(before, after, {.threshold = arguments.threshold});
    if (comparison.rows.empty())
      throw Error(ErrorCode::InvalidArgument, "neither file has a measurement", "measure with --json first");
    fmt::print("{}", to_table(comparison));
    if (!arguments.json.empty()) write_json(arguments.json, to_json(comparison));
    return comparison.count(Change::Worse) > 0 ? kWorse : kNothingWorse;
  } catch (const Error& e) {
    fmt::print(stderr, "cardan bench compare: {}\n", e.what());
    return kWrongInput;
  }
}

}  // namespace cardan::bench
