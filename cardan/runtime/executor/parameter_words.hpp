// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/runtime/parameter.hpp"

namespace cardan::detail {

/// What a parameter takes, as a remedy: "give a number from 0.0 to 100.0 (brakes below, metres)". Any thread.
[[nodiscard]] std::string wanted_by(const ParameterCore& parameter);

}  // namespace cardan::detail
