// SPDX-License-Identifier: Apache-2.0
// The program `cardan-bridge-dds`, which `cardan bridge dds` becomes.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bridge/bridge_program.hpp"
#include "src/bridge/dds/dds_bridge.hpp"
#include "src/bridge/dds/environment.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kExamples = R"(Examples:
  cardan bridge dds --owner                           every topic to ROS 2 on this computer; nothing comes in
  cardan bridge dds --owner --discovery subnet        also to other computers, as ROS 2 by default
  cardan bridge dds --topic /camera/front --rate 10   only this one, at most 10 messages a second
  cardan bridge dds --in /cmd_vel                     /cmd_vel comes in
  cardan bridge dds bridge.json                       as the file says (cardan check bridge.json)

Every user of this computer can read what leaves. Topics of access 'owner', the default, leave only if --topic or a rule
names them in full, or with --owner.

A topic costs its publisher nothing until a reader on DDS asks for it. Messages go out from the publisher's memory.)";

struct DdsOptions {
  std::optional<int> domain_id{};
  std::string discovery{}, node{};
  std::vector<std::string> peers{}, message_paths{};
  int gid_bytes = 0;
  bool set_parameters = false, call_services = false, offer_services = false;
};

void add_options(CLI::App& app, DdsOptions& o) {
  app.add_option("--domain-id", o.domain_id, "DDS domain (default: $ROS_DOMAIN_ID, else 0)")->check(CLI::Range(0, 232));
  app.add_option(
         "--discovery", o.discovery,
         "Where to look for others: localhost, subnet, off (named peers only), system (as CYCLONEDDS_URI says); "
         "default: as ROS 2's variables say, else localhost")
      ->check(CLI::IsMember({"localhost", "subnet", "off", "system"}));
  app.add_option("--peer", o.peers, "Address that is asked too, where multicast does not reach");
  app.add_option("--node", o.node, "Name as a node of ROS 2 (default: cardan_bridge)");
  app.add_option("--gid", o.gid_bytes, "24 for ROS 2 Humble and older, 16 for newer (default: as others do)")
      ->check(CLI::IsMember({16, 24}));
  app.add_option("--message-path", o.message_paths,
                 "Folder with <package>/msg/<Type>.msg, and srv, of types that come in (default: $AMENT_PREFIX_PATH)");
  app.add_flag("--set-parameters", o.set_parameters, "ros2 param set may change parameters of components");
  app.add_flag("--call-services", o.call_services, "Nodes of ROS 2 may call services of this computer");
  app.add_flag("--offer-services", o.offer_services,
               "This computer may call services of nodes of ROS 2 that --in or the rules name");
}

void apply(const DdsOptions& o, bridge::DdsRules& rules) {
  if (o.domain_id) rules.domain_id = o.domain_id;
  if (!o.discovery.empty()) rules.discovery = o.discovery;
  if (!o.node.empty()) rules.node = o.node;
  if (o.gid_bytes != 0) rules.gid_bytes = o.gid_bytes;
  if (o.set_parameters) rules.set_parameters = true;
  if (o.call_services) rules.call_services = true;
  if (o.offer_services) rules.offer_services = true;
  rules.peers.insert(rules.peers.end(), o.peers.begin(), o.peers.end());
  rules.message_paths.insert(rules.message_paths.begin(), o.message_paths.begin(), o.message_paths.end());
}

}  // namespace

int run_dds_bridge(int argc, char** argv) {
  DdsOptions options;
  bridge::dds::DomainChoice choice;
  return bridge_main({.name = "dds",
                      .description = "Carry topics to and from ROS 2 and other DDS systems",
                      .examples = kExamples,
                      .add = [&](CLI::App& app) { add_options(app, options); },
                      .make =
                          [&](bridge::Rules& rules) {
                            apply(options, rules.dds);
                            choice = bridge::dds::choose_domain(rules.dds, bridge::dds::variable);
                            return std::make_unique<bridge::dds::DdsBridge>(rules, choice);
                          },
                      .network = [&](const bridge::Rules& rules) { return bridge::dds::network_name(rules, choice); }},
                     argc, argv);
}

}  // namespace cardan::apps

int main(int argc, char** argv) { return cardan::apps::run_dds_bridge(argc, argv); }
