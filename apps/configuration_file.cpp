// SPDX-License-Identifier: Apache-2.0
#include "apps/configuration_file.hpp"

#include <cstdio>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <system_error>

#include "apps/view/output.hpp"
#include "cardan/base/error.hpp"

namespace cardan::apps {

void add_variables_option(CLI::App& command, std::vector<std::string>& variables) {
  command.add_option("--var", variables, "name=value: sets a variable of the file; repeatable");
}

std::vector<std::string> asking_command(const std::string& file, const std::vector<std::string>& variables) {
  std::vector<std::string> words{"/proc/self/exe", "check", file};
  for (const std::string& variable : variables) words.insert(words.end(), {"--var", variable});
  words.emplace_back("--declare");
  return words;
}

void show(const std::vector<config::Problem>& problems, const std::string& file) {
  for (const config::Problem& problem : problems) complain(printable(config::text(problem, file)) + "\n");
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  bool whole = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0) {  // small texts are written only now
    if (whole) error = errno;
    whole = false;
  }
  if (!whole)
    throw Error(ErrorCode::System, fmt::format("cannot write {}: {}", path, std::generic_category().message(error)),
                "check the path, its rights, and whether the disk is full");
}

}  // namespace cardan::apps
