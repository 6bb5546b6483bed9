// SPDX-License-Identifier: Apache-2.0
// The way of a chain through the components of a file, as they declare their inputs and outputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/config/check.hpp"

namespace cardan::config {

struct ChainWay {
  std::vector<std::string> hops{};  ///< a shortest way: topic, component, topic, …; empty: no way
  std::size_t components = 0;       ///< that are on any way

  // Without a way:
  std::string gap{};     ///< in words: "it ends at '/seen', which no component reads; …"
  std::string remedy{};  ///< what could close it
};

/// For a chain of a configuration without errors. Takes time in proportion to the endpoints. Any thread; does not
/// block.
[[nodiscard]] ChainWay way_of(const Configuration& configuration, const Declarations& declared, const Chain& chain);

/// "/camera/front → detector → /seen → decision → /command, 60 ms". `way` has one. Any thread; does not block.
[[nodiscard]] std::string text(const ChainWay& way, const Chain& chain);

}  // namespace cardan::config
