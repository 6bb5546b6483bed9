// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::launcher {

/// The path of a program that is built with this one: next to it, or, installed, in libexec/cardan or bin. Empty if
/// it cannot be run. Any thread; does not block.
[[nodiscard]] std::string own_program(const std::string& name);

}  // namespace cardan::launcher
