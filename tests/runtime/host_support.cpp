// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/host_support.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tests/runtime/host_role.hpp"

namespace cardan::test {

CARDAN_ROLE(cardan) {
  ::dup2(STDOUT_FILENO, STDERR_FILENO);
  ::dup2(STDOUT_FILENO, 9);
#ifdef CARDAN_COMMAND
  Args words = args;
  words.insert(words.begin(), CARDAN_COMMAND);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(CARDAN_COMMAND, argv.data());
  return 127;
#else
  return args.at(0) == "host" ? run_as_host({args.begin() + 1, args.end()}) : 127;
#endif
}

std::string Hosts::component(const std::string& class_name, const std::string& more) {
  return fmt::format(R"({{"library": "{}", "class": "{}"{}{}}})", CARDAN_TEST_COMPONENTS, class_name,
                     more.empty() ? "" : ", ", more);
}

std::string Hosts::file(const std::string& components, const std::string& more) {
  const std::string name = fmt::format("{}/{}.json", run_directory(), domain_);
  std::ofstream(name) << fmt::format(R"({{"domain": "{}", "processes": {{"p": {{"components": {{{}}}{}{}}}}}}})",
                                     domain_, components, more.empty() ? "" : ", ", more);
  return name;
}

Child Hosts::host(const std::string& file) {
  Child child("cardan", {"host", file, "--process", "p", "--ready-fd", "9"});
  child.expect("ready");
  return child;
}

Outcome Hosts::run(const Args& words) {
  Child child("cardan", words);
  Outcome outcome;
  outcome.text = rest(child);
  outcome.code = child.end();
  return outcome;
}

std::string Hosts::rest(Child& child) {
  std::string all;
  while (const auto line = child.line()) all += *line + "\n";
  return all;
}

}  // namespace cardan::test
