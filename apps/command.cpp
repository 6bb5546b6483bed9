// SPDX-License-Identifier: Apache-2.0
#include "apps/command.hpp"

#include <map>

namespace cardan::apps {
namespace {

std::multimap<int, Command::Add>& commands() {
  static std::multimap<int, Command::Add> all;
  return all;
}

}  // namespace

Command::Command(int place, Add add) { commands().emplace(place, add); }

void Command::add_all(CLI::App& app) {
  for (const auto& [place, add] : commands()) add(app);
}

}  // namespace cardan::apps
