// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cardan/base/limiter.hpp"

namespace cardan {

enum class LogLevel { Info, Warning, Error };

/// Where the library's few words go (who was refused and why, a peer that was cut off). Default: standard error, one
/// line each; a line that standard error does not take at once is left out and counted. Called on helper threads, one
/// call at a time; what the sink throws is caught. What others cause comes at most five times in ten seconds for each
/// cause and user, then one line says how many more there were. Set-up; any thread.
void set_log(std::function<void(LogLevel, const std::string&)> sink);

namespace detail {

void log(LogLevel level, const std::string& text);
/// For what a peer causes: limited for each cause and user.
void log(LogLevel level, const Cause& cause, const std::string& text);
/// Says what was left out in windows that have ended. Returns when to call again (steady clock, ns), 0: no need to.
/// Helper threads.
std::int64_t log_left_out(std::int64_t now);

}  // namespace detail
}  // namespace cardan
