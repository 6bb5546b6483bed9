// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::apps {

/// The picture (SVG) that Graphviz's `dot` makes of a graph in its language. Throws Error (Unavailable): it is not
/// installed; (System): it failed, and has said why on standard error. Blocks until it ends; one thread.
[[nodiscard]] std::string svg_of(const std::string& dot);

}  // namespace cardan::apps
