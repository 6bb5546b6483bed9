// SPDX-License-Identifier: Apache-2.0
// The program `cardan-bridge-zenoh`, which `cardan bridge zenoh` becomes. It starts cardan-zenoh.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bridge/bridge_program.hpp"
#include "cardan/error.hpp"
#include "src/bridge/rules_shape.hpp"
#include "src/bridge/zenoh/ros_domain.hpp"
#include "src/bridge/zenoh/zenoh_bridge.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kExamples = R"(Examples:
  cardan bridge zenoh --owner                         every topic, for programs that connect to 127.0.0.1:7447; nothing comes in
  cardan bridge zenoh --topic /camera/front --listen tcp/0.0.0.0:7447
                                                      this one, also for other computers
  cardan bridge zenoh --connect tcp/10.0.0.2:7447 --in /cmd_vel
                                                      to that computer; its /cmd_vel comes in
  cardan bridge zenoh --form cardan bridge.json       between two computers with Cardan
  cardan bridge zenoh --owner --form rmw --in /cmd_vel
                                                      ROS 2 with rmw_zenoh on this computer, instead of rmw_zenohd

Everybody that connects can read what leaves. Topics of access 'owner', the default, leave only if --topic or a rule names
them in full, or with --owner.

It does not look for others by multicast. Names, types and losses: docs/bridge-zenoh.md.)";

struct ZenohOptions {
  std::string form{}, config{}, mode{}, node{};
  std::optional<int> domain_id{};
  std::vector<std::string> connect{}, listen{};
};

template <class Names>
CLI::IsMember one_of(const Names& names) {
  return CLI::IsMember(std::vector<std::string>(names.begin(), names.end()));
}

void add_options(CLI::App& app, ZenohOptions& o) {
  app.add_option(
         "--form", o.form,
         "plain: keys as zenoh-plugin-ros2dds (default); cardan: between computers with Cardan; rmw: ROS 2 with "
         "rmw_zenoh")
      ->check(one_of(bridge::kForms));
  app.add_option("--connect", o.connect, "Connect to a router or another bridge, as tcp/10.0.0.2:7447");
  app.add_option("--listen", o.listen, "Listen there (default, without --connect: tcp/127.0.0.1:7447)");
  app.add_option("--mode", o.mode, "Zenoh's mode (default: router if it listens, else client)")
      ->check(one_of(bridge::kModes));
  app.add_option("--domain-id", o.domain_id, "Of form rmw: ROS 2's domain (default: $ROS_DOMAIN_ID, else 0)")
      ->check(CLI::Range(0, bridge::kMostRosDomain));
  app.add_option("--node", o.node, "Of form rmw: its name as a ROS node (default: cardan_bridge)");
  app.add_option("--config", o.config, "Zenoh's own file: TLS, access control and all else")->check(CLI::ExistingFile);
}

void apply(const ZenohOptions& o, bridge::ZenohRules& rules) {
  if (!o.form.empty()) rules.form = o.form;
  if (!o.config.empty()) rules.config = o.config;
  if (!o.mode.empty()) rules.mode = o.mode;
  if (o.domain_id) rules.domain_id = o.domain_id;
  if (!o.node.empty()) rules.node = o.node;
  if (!o.connect.empty()) rules.connect = o.connect;
  if (!o.listen.empty()) rules.listen = o.listen;
}

std::unique_ptr<bridge::Bridge> make_bridge(const ZenohOptions& options, bridge::Rules& rules) {
  apply(options, rules.zenoh);
  const char* const ros_domain = std::getenv("ROS_DOMAIN_ID");
  bridge::zenoh::choose_ros_domain(rules.zenoh, ros_domain == nullptr ? "" : ros_domain);
  rules.network = bridge::zenoh::network_name(rules);
  const std::string program = launcher::own_program("cardan-zenoh");
  if (program.empty())
    throw Error(ErrorCode::Unavailable, "this build has no cardan-zenoh", "install cargo, and run: make zenoh");
  return std::make_unique<bridge::zenoh::ZenohBridge>(rules, program);
}

}  // namespace

int run_zenoh_bridge(int argc, char** argv) {
  ZenohOptions options;
  return bridge_main({.name = "zenoh",
                      .description = "Carry topics to other computers and to Zenoh systems",
                      .examples = kExamples,
                      .add = [&](CLI::App& app) { add_options(app, options); },
                      .make = [&](bridge::Rules& rules) { return make_bridge(options, rules); },
                      .network = bridge::zenoh::network_name},
                     argc, argv);
}

}  // namespace cardan::apps

int main(int argc, char** argv) { return cardan::apps::run_zenoh_bridge(argc, argv); }
