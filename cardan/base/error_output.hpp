// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan::detail {

/// Writes one line to standard error and never waits for the reader of it: a pipe that nobody reads would stop the
/// helper thread. A line that does not fit is left out; the next one that does says how many were. Any thread; also in
/// a child of fork().
void write_error_line(const std::string& line) noexcept;

}  // namespace cardan::detail
