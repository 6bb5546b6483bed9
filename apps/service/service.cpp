// SPDX-License-Identifier: Apache-2.0
// `cardan service`: shows services, and asks them by hand.
#include "apps/service/service.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/command.hpp"
#include "apps/verb.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kServiceExamples = R"(Examples:
  cardan service list                                 all services
  cardan service info /map/region --schema            server, clients, and the fields of both types
  cardan service call /map/region '{"radius": 50}'    asks, and prints the answer)";

constexpr const char* kServiceListExamples = R"(Examples:
  cardan service list
  cardan service list --json | jq -r '.services[].service')";

constexpr const char* kServiceInfoExamples = R"(Examples:
  cardan service info /map/region
  cardan service info /map/region --schema            also the fields, in ROS 2's form
  cardan service info /map/region --json | jq '.clients[] | {name, pid}'

Exit codes: 0 ok, 1 it has no server, 2 wrong options.)";

constexpr const char* kServiceCallExamples = R"(Examples:
  cardan service call /map/region '{"x": 3.5, "radius": 50}'
  cardan service call /map/region '{"radius": 50}' --json | jq .answer.width
  cardan service call /slow '{}' --timeout 60

Fields have the names that `cardan service info --schema` prints; those that are left out are 0, false or empty. Lists
longer than --list elements are shown as {"count": n, "first": [...]}.
Exit codes: 0 answered, 1 no answer (the reason is printed), 2 wrong options or fields.)";

void add_service_command(CLI::App& app) {
  auto* const group = add_verb(&app, "service", "Show services: list, info; ask one: call", kServiceExamples);
  group->require_subcommand(1);

  auto list = std::make_shared<ServiceListOptions>();
  auto* command = add_verb(group, "list", "List services, their types, servers and clients", kServiceListExamples);
  command->add_flag("--json", list->json, "One JSON object");
  command->add_flag("--names", list->names, "Only the names, one per line");
  add_domain_option(command, list->domain);
  list_with(command, service_list, list, [](const ServiceListOptions&) { return false; });

  auto info = std::make_shared<ServiceInfoOptions>();
  command = add_verb(group, "info", "Show a service's server, clients and contract", kServiceInfoExamples);
  command->add_option("service", info->service, "Name of the service, as /map/region")->required();
  command->add_flag("--json", info->json, "One JSON object");
  command->add_flag("--schema", info->schema, "Also print the fields of both types");
  command->add_flag("--others", info->others, "Also a server of another user");
  add_domain_option(command, info->domain);
  look_with(command, service_info, info);

  auto call = std::make_shared<CallOptions>();
  command = add_verb(group, "call", "Ask a service, and print its answer", kServiceCallExamples);
  command->add_option("service", call->service, "Name of the service, as /map/region")->required();
  command->add_option("question", call->question, "Its fields as a JSON object (default: {})");
  command->add_option("--timeout", call->timeout, "Seconds to wait for the answer (default: 5)")
      ->check(CLI::Range(0.001, 86400.0));
  command->add_flag("--json", call->json, "One JSON object");
  command->add_flag("--others", call->others, "Also a server of another user, who may answer as it likes");
  command
      ->add_option("--list", call->list, "Show lists of up to this many elements in full (default: 8, with --json 64)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--domain", call->domain, "Domain to ask in (default: $CARDAN_DOMAIN, else \"default\")");
  look_with(command, service_call, call);
}

const Command kServiceCommand{101, add_service_command};

}  // namespace
}  // namespace cardan::apps
