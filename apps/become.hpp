// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cardan::apps {

/// Replaces this process by a program that is built with the command (launcher::own_program()). The first of `words` is
/// the name that the program shows. If the program is missing, prints `missing` and throws CLI::RuntimeError (kFailed).
[[noreturn]] void become(const std::string& program, std::vector<std::string> words, const std::string& missing);

}  // namespace cardan::apps
