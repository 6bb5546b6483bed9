// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

#include "cardan/runtime/fusion/fusion_policy.hpp"

namespace cardan {

/// See exact().
struct ExactOptions {
  /// Samples of each input that may wait, 1 to 1024: as many as the slowest processing lags behind.
  std::size_t queue = 10;
  /// The time that counts as a sample's stamp.
  FusionTime time = FusionTime::Source;
  /// As for approximate().
  std::chrono::nanoseconds clock_step = std::chrono::seconds{1};
};

/// Sets of samples with equal times: approximate() with no tolerance, and what it guarantees. A set fires as soon as it
/// is complete. For what was computed from one measurement and carries its stamp.
[[nodiscard]] FusionPolicy exact(const ExactOptions& options = {});

}  // namespace cardan
