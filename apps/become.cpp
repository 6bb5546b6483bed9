// SPDX-License-Identifier: Apache-2.0
#include "apps/become.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "apps/view/output.hpp"
#include "cardan/base/error.hpp"
#include "cardan/config/python_component.hpp"
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

void become_python(const config::Configuration& configuration, const std::string& process,
                   const std::vector<std::string>& words) {
  const config::Process* const found = configuration.process(process);
  if (found == nullptr || !config::is_python(*found)) return;
  const char* const wanted = std::getenv("CARDAN_PYTHON");
  // Its own name comes first, not the process's: by it an interpreter finds the environment that it belongs to.
  std::vector<std::string> all{wanted != nullptr && *wanted != '\0' ? wanted : "python3", "-m", "cardan.component"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(all.front().c_str(), pointers.data());
  throw Error(
      ErrorCode::Unavailable,
      fmt::format("the interpreter {} cannot be started: {}", all.front(), std::generic_category().message(errno)),
      "install it, or name one: \"environment\": {\"CARDAN_PYTHON\": \"/path/to/python3\"} of the process");
}

}  // namespace cardan::apps
