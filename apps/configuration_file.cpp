// SPDX-License-Identifier: Apache-2.0
#include "apps/configuration_file.hpp"

#include <CLI/CLI.hpp>

#include "apps/terminal/output.hpp"

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

}  // namespace cardan::apps
