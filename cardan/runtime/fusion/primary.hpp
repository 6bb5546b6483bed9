// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "cardan/runtime/fusion/fusion_policy.hpp"

namespace cardan {

/// Options of one input of primary().
struct PrimaryInput {
  /// Overrides the policy's `max_age` for this input. 0: any age.
  std::optional<std::chrono::nanoseconds> max_age{};
  /// false: a set fires without this input (an empty Sample) when it has no sample or its sample is too old.
  bool required = true;
};

/// See primary().
struct PrimaryOptions {
  /// The input whose samples fire. The fastest: least is replaced unused; the one that matters most: it never waits.
  std::size_t input = 0;
  /// How old the others may be at most, relative to the firing sample: short finds inputs that stand still, too short
  /// for an input's period and processing loses sets. 0: any age.
  std::chrono::nanoseconds max_age{0};
  /// The clock of the ages.
  FusionTime time = FusionTime::Source;
  /// Options that differ from input to input: `.inputs = {{}, {.max_age = 200ms}, {.required = false}}`.
  PerInput<PrimaryInput> inputs{};
};

/// Fires when a sample of one input comes, with the newest of each other input (CyberRT's all_latest). The rate is that
/// input's; the others are up to a period old. Newest is what was offered last. Samples of the others may serve in
/// several sets. At most one sample of each input waits.
///
/// An age is what the firing sample's time is ahead of the other's. Where the other's stamp lies in the firing sample's
/// future, the publish times give its age: a clock that was set back does not keep a dead input alive.
[[nodiscard]] FusionPolicy primary(const PrimaryOptions& options = {});

}  // namespace cardan
