// SPDX-License-Identifier: Apache-2.0
#include "apps/become.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/component.hpp"
#include "cardan/error.hpp"
#include "src/config/python_component.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/launcher/own_program.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::apps {

void* function_of_part(const char* library, const char* function, const PartNeeds& needs) {
  void* const loaded = ::dlopen(component_library_path(library, "/proc/self/exe").c_str(), RTLD_NOW);
  void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, function);
  if (found != nullptr) return found;
  const char* const cause = ::dlerror();
  std::string remedy =
      kInWheel ? "the Python package is without this part: install Cardan from its sources (docs/install.md)"
               : fmt::format(
                     "this part is built if {} is installed. On Debian and Ubuntu: sudo apt-get install {}; "
                     "then build again",
                     needs.installed, needs.packages);
  if (!needs.otherwise.empty()) remedy += ". " + needs.otherwise;
  throw Error(ErrorCode::Unavailable, fmt::format("{}: {}", needs.cause, cause == nullptr ? "it is not there" : cause),
              remedy);
}

void become(const std::string& program, std::vector<std::string> words, const std::string& missing) {
  const std::string path = launcher::own_program(program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (!path.empty()) ::execv(path.c_str(), pointers.data());
  warn(kInWheel
           ? fmt::format("{} is not in the Python package — install Cardan from its sources (docs/install.md)", program)
           : missing);
  throw CLI::RuntimeError(kFailed);
}

void become_python(const config::Configuration& configuration, const std::string& process,
                   const std::vector<std::string>& words, bool declare) {
  const config::Process* found = configuration.process(process);
  if (found == nullptr || !config::is_python(*found)) return;
  try {
    become_interpreter("", "cardan.component", words, {.process = true});
  } catch (const Error& e) {
    if (declare) launcher::decline_to_declare(e.cause(), e.remedy(), launcher::ChildProcess::kReportFd);
    throw;
  }
}

void become_interpreter(const std::string& wanted, const std::string& module, const std::vector<std::string>& words,
                        const PythonNeeds& needs) {
  const char* const set = std::getenv("CARDAN_PYTHON");
  std::string name = wanted;
  if (name.empty()) name = set != nullptr && *set != '\0' ? set : "python3";
  const std::string file = launcher::interpreter_file(name);
  if (const std::string folders = launcher::python_path(); folders.empty())
    ::unsetenv("PYTHONPATH");
  else
    ::setenv("PYTHONPATH", folders.c_str(), 1);
  const bool safe_path = require_package(file, needs);
  // Its own name comes first, not the process's: by it an interpreter finds the environment that it belongs to.
  std::vector<std::string> all = launcher::python_program(file, module, safe_path);
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(file.c_str(), pointers.data());
  throw Error(ErrorCode::Unavailable,
              fmt::format("the interpreter {} cannot be started: {}", name, std::generic_category().message(errno)),
              fmt::format("install it, or name one: CARDAN_PYTHON=/path/to/python3{}", in_environment(needs)));
}

}  // namespace cardan::apps
