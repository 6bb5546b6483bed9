// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::apps {

/// The packages that an interpreter needs.
struct PythonNeeds {
  bool rerun = false;    ///< also rerun-sdk
  bool process = false;  ///< for a process of a configuration, whose "environment" can name another interpreter
};

/// ", also in …", after the variable that names another interpreter, where that is so.
[[nodiscard]] const char* in_environment(const PythonNeeds& needs) noexcept;

/// Asks an interpreter (its path) for the package cardan, before this process becomes it. Returns whether it has the
/// option -P (Python 3.11). Throws Error (Unavailable), with what is missing and how it gets there. Returns also if the
/// interpreter does not start or does not answer: what it says itself is the better cause then. Blocks until it has
/// answered (10 ms), 30 s at most.
bool require_package(const std::string& interpreter, const PythonNeeds& needs);

}  // namespace cardan::apps
