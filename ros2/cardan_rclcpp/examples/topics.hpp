// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/cardan.hpp"

// The contract of the topic. Both nodes include it.
inline constexpr cardan::Topic<cardan::Image> kFront{"/camera/front", {.max_bytes = 1920 * 1200 * 3}};
