// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/results/occasion.hpp"
#include "bench/results/words.hpp"
#include "bench/transport/rows.hpp"

namespace cardan::bench {

/// A figure that belongs to no cell: a single operation, or the machine's limit.
struct Figure {
  std::string name;  ///< "ping_pong_round_trip"
  std::string unit;  ///< "us", "ms"
  Summary summary;
  std::string detail;  ///< how it was taken
  std::vector<double> samples{};
};
inline constexpr const char* kPingPongName = "ping_pong_round_trip";  ///< of the figure that is the machine's

/// The parts of the report besides the rows.
struct Circumstances : Occasion {
  std::vector<Figure> figures{};
};

/// The JSON form that every benchmark of Cardan keeps; docs/benchmarking.md explains each field.
nlohmann::ordered_json to_json(const std::vector<Row>& rows, const Circumstances& circumstances);

/// The figures in the form of all results.
std::vector<Measurement> measurements_of(const std::vector<Figure>& figures);

/// A table for people, one block a cell.
std::string to_table(const std::vector<Row>& rows, const Circumstances& circumstances);

}  // namespace cardan::bench
