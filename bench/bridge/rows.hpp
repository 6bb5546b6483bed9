// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/measurement.hpp"
#include "bench/results/occasion.hpp"

namespace cardan::bench::bridging {

/// The target of a figure.
struct Target {
  bool at_most = true;
  double limit = 0;
};

/// A figure of a row, by run.
struct Figure {
  std::string name{};  ///< "latency p50"
  std::string unit{};  ///< "ms", "% of a core"
  std::optional<Target> target{};
  std::vector<double> runs{};

  [[nodiscard]] double median() const;
  /// Empty: nothing is wanted, or nothing was measured.
  [[nodiscard]] std::optional<bool> reached() const;
};

struct Row {
  std::string name{};   ///< "dds-out"
  std::string title{};  ///< what was measured
  std::vector<Figure> figures{};
  /// Of all runs together, for the figures that are made of them.
  std::map<std::string, std::vector<double>> samples{};

  /// Adds the value of a run.
  void add(const std::string& name, const std::string& unit, double value, std::optional<Target> target = {});
  /// Gives a figure of all runs together its value so far.
  void set(const std::string& name, const std::string& unit, double value, std::optional<Target> target = {});
  [[nodiscard]] const Figure* find(const std::string& name) const;
};

struct Report : Occasion {
  std::vector<Row> rows{};
  double seconds = 0;  ///< that the camera sent in a run
  int runs = 0;        ///< rounds that were asked for
};

[[nodiscard]] std::string to_table(const Report& report);
/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);
/// The figures in the form of all results: one a run.
[[nodiscard]] std::vector<Measurement> measurements_of(const Report& report);

}  // namespace cardan::bench::bridging
