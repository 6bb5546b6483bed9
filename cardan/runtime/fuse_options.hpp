// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/runtime/fusion/fusion_policy.hpp"

namespace cardan {

/// Options that differ from input to input of Context::fuse().
struct FuseInput {
  /// Name in statistics and the configuration's `callbacks`; empty: the topic as the code names it. A component whose
  /// code reads a topic twice has to give one of them another name.
  std::string name{};
  /// As InputOptions::depth: samples that wait for the fusion; 0: the topic's depth.
  std::uint32_t depth = 0;
};

/// Options of Context::fuse().
struct FuseOptions {
  /// Name in statistics and messages; empty: "fusion", "fusion2" …
  std::string name{};
  /// In the order of the topics: `.inputs = {{.name = "left"}, {.name = "right", .depth = 20}}`.
  PerInput<FuseInput> inputs{};
};

}  // namespace cardan
