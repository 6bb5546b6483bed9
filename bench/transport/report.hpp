// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/transport/host.hpp"
#include "bench/transport/rows.hpp"

namespace cardan::bench {

/// A cell is measured again, up to kMostRepetitions times, while other guests of the computer took more than this.
inline constexpr double kMostStealPercent = 2;
inline constexpr int kMostRepetitions = 2;

/// To thousandths, as reports give figures.
inline double rounded(double value) { return std::round(value * 1000) / 1000; }

/// A figure that belongs to no cell: a single operation, or the machine's limit.
struct Figure {
  std::string name;  ///< "ping_pong_round_trip"
  std::string unit;  ///< "us", "ms"
  Summary summary;
  std::string detail;  ///< how it was taken
};

/// What goes into the report beside the rows.
struct Circumstances {
  Host host;
  double steal_percent = 0;  ///< over the whole bench
  bool interrupted = false;
  std::vector<std::string> failures;
  std::vector<Figure> figures;
};

/// The block `host` of every report. `steal_percent`: over the whole bench.
nlohmann::ordered_json to_json(const Host& host, double steal_percent);

/// The JSON form that every benchmark of Cardan keeps; docs/benchmarking.md explains each field.
nlohmann::ordered_json to_json(const std::vector<Row>& rows, const Circumstances& circumstances);

/// A table for people, one block a cell.
std::string to_table(const std::vector<Row>& rows, const Circumstances& circumstances);

/// Writes through a temporary file beside it, so that an old result is never half overwritten. Throws cardan::Error.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

/// "2 min 05 s"
std::string name_of_duration(double seconds);

/// "0.56", "56.3", "4211"
std::string three_digits(double value);

}  // namespace cardan::bench
