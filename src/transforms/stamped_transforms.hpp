// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/messages/transforms.hpp"
#include "src/transforms/static_transforms.hpp"

namespace cardan::detail {

/// As /tf_static has them. Throws Error (InvalidArgument): they are not of a configuration without errors.
[[nodiscard]] inline std::vector<TransformStamped> stamped(const std::vector<config::FrameTransform>& transforms) {
  std::vector<TransformStamped> all;
  all.reserve(transforms.size());
  for (const config::FrameTransform& t : transforms) all.push_back(static_transform(t.parent, t.child, t.place));
  return all;
}

}  // namespace cardan::detail
