// SPDX-License-Identifier: Apache-2.0
// How an interpreter of Python is started. The folder where a command is typed may be another user's: nothing is found
// or imported there. Any thread.
#pragma once

#include <string>
#include <vector>

namespace cardan::launcher {

/// The interpreter's file: `name` if it is a path, otherwise the first one of that name in PATH. As a shell does, but
/// folders of PATH that are relative or empty are passed over. "": not found.
[[nodiscard]] std::string interpreter_file(const std::string& name);

/// The folders of a list such as PYTHONPATH, without empty ones: they mean the working folder.
[[nodiscard]] std::string without_empty(const std::string& folders);

/// This process's PYTHONPATH for an interpreter, without empty folders.
[[nodiscard]] std::string python_path();

/// First in what an interpreter gets after -c, which puts the working folder first, as -m does. -P (since Python 3.11)
/// and PYTHONSAFEPATH prevent that; Python 3.13 needs one of them, because it imports modules before it runs the text.
inline constexpr const char* kLeaveWorkingFolder = "import sys\nsys.path[:] = filter(None, sys.path)\n";

/// The words for an interpreter that run main() of a module of the package cardan. More of them are its arguments.
/// `safe_path`: the interpreter has -P, which the processes of Python's multiprocessing inherit.
[[nodiscard]] std::vector<std::string> python_program(const std::string& interpreter, const std::string& module,
                                                      bool safe_path);

}  // namespace cardan::launcher
