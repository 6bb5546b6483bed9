// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace cardan {

enum class LogLevel { Info, Warning, Error };

/// Where the library's few words go (who was refused and why, a peer that was cut off). Default: standard error, one
/// line each. Called on helper threads. Set-up; any thread.
void set_log(std::function<void(LogLevel, const std::string&)> sink);

namespace detail {
void log(LogLevel level, const std::string& text);
}

}  // namespace cardan
