// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cardan/mcap/compression.hpp"
#include "src/config/shape.hpp"

namespace cardan::apps {

static_assert(config::kCompressions == mcap::kCompressionNames, "a configuration knows the recorder's compressions");

/// The values of an option --compression. `first`: a word of the command's own before the names; empty: none.
[[nodiscard]] inline std::vector<std::string> compression_choices(const std::string& first = {}) {
  std::vector<std::string> choices;
  if (!first.empty()) choices.push_back(first);
  choices.insert(choices.end(), mcap::kCompressionNames.begin(), mcap::kCompressionNames.end());
  return choices;
}

}  // namespace cardan::apps
