// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/python_package.hpp"
#include "cardan/configuration.hpp"

namespace cardan::apps {

/// This command is the one of the Python package's wheel, whose user has no build tree.
#if defined(CARDAN_IN_WHEEL)
inline constexpr bool kInWheel = true;
#else
inline constexpr bool kInWheel = false;
#endif

/// The requirement of a library that the command loads: it is built if that is installed.
struct PartNeeds {
  std::string cause;      ///< "pictures need OpenCV"
  std::string installed;  ///< "OpenCV"
  std::string packages;   ///< of Debian and Ubuntu
  std::string otherwise;  ///< what to do without it; may be empty
};

/// A function of a library that is built with the command, which is loaded and stays. Throws Error (Unavailable) that
/// says what to install. Any thread; blocks for the disk.
[[nodiscard]] void* function_of_part(const char* library, const char* function, const PartNeeds& needs);

/// Replaces this process by a program that is built with the command (launcher::own_program()). The first of `words` is
/// the name that the program shows. If the program is missing, prints `missing` and throws CLI::RuntimeError (kFailed).
[[noreturn]] void become(const std::string& program, std::vector<std::string> words, const std::string& missing);

/// If `process` of the configuration has components in Python, replaces this process by their interpreter: the program
/// cardan.component of the package, with `words`. Otherwise it returns. Throws Error (Unavailable) if no interpreter
/// starts, or if it lacks the package. `declare`: also answers so to ask_components(), whose question this is.
void become_python(const config::Configuration& configuration, const std::string& process,
                   const std::vector<std::string>& words, bool declare);

/// Replaces this process by the interpreter `wanted` ("": $CARDAN_PYTHON, or else python3), which runs main() of a
/// module of the package cardan with `words`. Throws Error (Unavailable) if it does not start, or lacks what it needs.
[[noreturn]] void become_interpreter(const std::string& wanted, const std::string& module,
                                     const std::vector<std::string>& words, const PythonNeeds& needs);

}  // namespace cardan::apps
