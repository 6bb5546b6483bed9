// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cardan/parameter.hpp"

namespace cardan::detail {

/// The values that a parameter takes, as a remedy: "give a number from 0.0 to 100.0 (brakes below, metres)". Any
/// thread.
[[nodiscard]] std::string wanted_by(const ParameterCore& parameter);

/// A value's type in a sentence: "a Boolean", "an integer", "a number", "a text". Any thread.
[[nodiscard]] std::string_view noun_of(const ParameterValue& value) noexcept;

}  // namespace cardan::detail
