// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/results/statistics.hpp"

namespace cardan::bench {

/// To thousandths, as reports give figures; or to `steps` of one.
inline double rounded(double value, double steps = 1000) { return std::round(value * steps) / steps; }

/// "2 min 05 s"
std::string name_of_duration(double seconds);

/// "0.56", "56.3", "4211"
std::string three_digits(double value);

/// {min, mean, p50, p95, p99, max, std}, as every report gives the figures of samples.
nlohmann::ordered_json to_json(const Summary& summary, double steps = 1000);

/// Writes through a temporary file next to it, so that an old result is never half overwritten. `remedy`: what the user
/// can do if that is not possible. Throws cardan::Error.
void write_file(const std::string& path, const std::string& content, const std::string& remedy);

/// A result of the bench: each of its `measurements` on a line. Throws cardan::Error.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace cardan::bench
