// SPDX-License-Identifier: Apache-2.0
// `cardan bridge KIND`: becomes the program `cardan-bridge-KIND`, because each kind needs its own library.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/become.hpp"
#include "apps/command.hpp"
#include "apps/verb.hpp"
#include "src/config/shape.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kExamples = R"(Examples:
  cardan bridge dds --owner                           every topic to ROS 2 on this computer; nothing comes in
  cardan bridge dds --owner --in /cmd_vel --rate 10   at most 10 messages a second out; /cmd_vel comes in
  cardan bridge zenoh --owner --connect tcp/10.0.0.2:7447
                                                      every topic to another computer; nothing comes in
  cardan bridge foxglove bridge.json                  as the file says (cardan check bridge.json)

A bridge is a separate process. It reads like any other subscriber, opens nothing on the vehicle's side that its rules
do not name, and no best-effort publisher waits for it.)";

[[noreturn]] void become_bridge(const config::BridgeKind& kind, const std::vector<std::string>& arguments) {
  const std::string program = fmt::format("cardan-bridge-{}", kind.name);
  std::vector<std::string> words{fmt::format("cardan bridge {}", kind.name)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(program, std::move(words),
         fmt::format("this build has no {} — install {} and build again (scripts/setup.sh)", program, kind.needs));
}

void add_bridge(CLI::App& app) {
  auto* const group = add_verb(&app, "bridge", "Carry topics to ROS 2, other computers and browsers", kExamples);
  group->require_subcommand(1);
  for (const config::BridgeKind& kind : config::kBridges) {
    auto* const command = group->add_subcommand(std::string(kind.name), std::string(kind.what));
    command->prefix_command();
    command->set_help_flag();
    command->callback([command, &kind] { become_bridge(kind, command->remaining()); });
  }
}

const Command kBridgeCommand{330, add_bridge};

}  // namespace
}  // namespace cardan::apps
