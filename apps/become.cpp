// SPDX-License-Identifier: Apache-2.0
#include "apps/become.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "apps/view/output.hpp"
#include "cardan/system/launcher/own_program.hpp"

namespace cardan::apps {

void become(const std::string& program, std::vector<std::string> words, const std::string& missing) {
  const std::string path = launcher::own_program(program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (!path.empty()) ::execv(path.c_str(), pointers.data());
  warn(missing);
  throw CLI::RuntimeError(kFailed);
}

}  // namespace cardan::apps
