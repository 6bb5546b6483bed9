// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cardan::apps {

/// Replaces this process by a program that is built with the command (launcher::own_program()). `words` start with the
/// name that it shows. Throws CLI::RuntimeError (kFailed) after it has said `missing` if there is no such program.
[[noreturn]] void become(const std::string& program, std::vector<std::string> words, const std::string& missing);

}  // namespace cardan::apps
