// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/pipeline/graph.hpp"
#include "bench/pipeline/pipeline.hpp"

namespace cardan::bench::perception {

/// The peers of one measurement: one for all links, or some of them by another.
struct Mix {
  Contender contender{};  ///< of all links that are not chosen otherwise
  LinkContenders links{};
  std::string chosen{};  ///< "results=cardan"; empty: none is

  [[nodiscard]] const Contender& link(Link which) const { return links[static_cast<std::size_t>(which)]; }
  [[nodiscard]] std::string setup() const;  ///< "block", "block results=cardan"
};

/// The measurement of `cardan bench pipeline`, checked and complete.
struct PipelineOptions {
  const Chain* chain = &camera_chain();
  std::vector<Mix> mixes{};
  double rate_hz = 0;
  std::uint32_t runs = 0, frames = 0, warmup = 0;
  StageInputs inputs{};  ///< as typed
  std::string json{};
  std::vector<std::string> left_out{};  ///< peers that cannot be links, in words
};

/// Checks and completes what was typed. Throws cardan::Error{InvalidArgument} that names the word and what would be
/// right.
[[nodiscard]] PipelineOptions parse_pipeline(const PipelineArguments& arguments, const std::vector<int>& cpus);

/// Seconds that one run of a mix takes.
[[nodiscard]] double expected_seconds(const PipelineOptions& options) noexcept;

}  // namespace cardan::bench::perception
