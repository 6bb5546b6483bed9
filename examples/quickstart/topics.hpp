// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/cardan.hpp"

// The contract that both sides include: name, type, largest frame, depth.
inline constexpr cardan::Topic<cardan::Image> kFront{"/camera/front", {.max_bytes = 1920 * 1200 * 3, .depth = 1}};
