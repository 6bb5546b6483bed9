// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/base/name_patterns.hpp"

namespace cardan::record {

using detail::fits;
using detail::fits_one;

}  // namespace cardan::record
