// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cardan/detail/function.hpp"

namespace cardan {

/// How important a line of the log is.
enum class LogLevel {
  Debug = -1,  ///< for finding a fault: left out unless it is asked for
  Info,        ///< something worth knowing happened
  Warning,     ///< something is lost or does not work as configured, and the program continues
  Error        ///< something failed
};

/// Sets the destination of the library's log lines (for example a refused user and the reason, or a peer that was cut
/// off). Default: standard error, one line each; a line that standard error does not accept at once is dropped and
/// counted. The sink is called on helper threads, one call at a time; its exceptions are caught. Lines that others
/// cause come at most five times in ten seconds for each cause and user; then one line reports how many more there
/// were.
/// Set-up; any thread.
void set_log(std::function<void(LogLevel, const std::string&)> sink);

namespace detail {

struct Cause;  // limiter.hpp

void log(LogLevel level, const std::string& text);
/// For lines that a peer causes: limited for each cause and user.
void log(LogLevel level, const Cause& cause, const std::string& text);
/// Logs what was left out in windows that have ended. Returns when to call again (steady clock, ns); 0: not needed.
/// Helper threads.
std::int64_t log_left_out(std::int64_t now);

}  // namespace detail
}  // namespace cardan
