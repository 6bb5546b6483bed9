// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/python_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace cardan::launcher {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

}  // namespace

std::string interpreter_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  std::istringstream folders(variable("PATH", "/usr/local/bin:/usr/bin:/bin"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    const std::string file = fmt::format("{}/{}", folder, name);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string without_empty(const std::string& folders) {
  std::istringstream all(folders);
  std::string left;
  for (std::string folder; std::getline(all, folder, ':');)
    if (!folder.empty()) left += (left.empty() ? "" : ":") + folder;
  return left;
}

std::string python_path() { return without_empty(variable("PYTHONPATH", "")); }

std::vector<std::string> python_program(const std::string& interpreter, const std::string& module, bool safe_path) {
  std::vector<std::string> words{interpreter};
  if (safe_path) words.emplace_back("-P");
  words.insert(words.end(),
               {"-c", fmt::format("{}from {} import main\nsys.exit(main())", kLeaveWorkingFolder, module)});
  return words;
}

}  // namespace cardan::launcher
