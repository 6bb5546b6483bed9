// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::bench {

/// Plays a part of `cardan bench v2x` (Stage); returns the exit code. Blocks. The parts `ask` and `answer` of a job
/// {part, peer: "udp" | "tcp" | "cardan", name, address, port, bytes, hz, seconds, late_ms}.
int play_v2x_part(const char* job) noexcept;

}  // namespace cardan::bench
