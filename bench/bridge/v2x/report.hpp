// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/bridge/v2x/radio.hpp"
#include "bench/results/measurement.hpp"
#include "bench/results/occasion.hpp"

namespace cardan::bench::v2x {

/// The measurement of `cardan bench v2x`, checked and complete.
struct Options {
  std::vector<std::string> only{};  ///< peers
  double seconds = 30, hz = 10;
  int runs = 3, bytes = 1000;
  Link link{};
  std::string json{};
};

struct PeerResult {
  std::string name{}, title{};
  std::vector<std::vector<double>> runs{};  ///< round trips in ms
  std::uint64_t sent = 0, answered = 0;

  [[nodiscard]] std::vector<double> pooled() const;
};

struct Report : Occasion {
  Options options{};
  std::string how{};  ///< what makes the link
  std::vector<PeerResult> peers{};
};

[[nodiscard]] std::string to_table(const Report& report);
/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);
[[nodiscard]] std::vector<Measurement> measurements_of(const Report& report);

}  // namespace cardan::bench::v2x
