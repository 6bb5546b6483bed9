// SPDX-License-Identifier: Apache-2.0
// `cardan message`: the types of messages, with and without a publisher.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/decode.hpp"
#include "apps/message/encode.hpp"
#include "apps/message/find_type.hpp"
#include "apps/terminal/output.hpp"
#include "apps/verb.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

constexpr const char* kMessageExamples = R"(Examples:
  cardan message list                                 the types that are known here
  cardan message show sensor_msgs/msg/Imu             its fields, as topic echo and topic pub spell them)";

constexpr const char* kMessageShowExamples = R"(Examples:
  cardan message show geometry_msgs/Twist
  cardan message show geometry_msgs/Twist --template  an empty message as JSON, for cardan topic pub
  cardan message show my_msgs/msg/Pose --msgs ~/ws/src
  cardan message show sensor_msgs/msg/Image --definition  the definition in ROS 2's form

Known are Cardan's own types, the standard types of ROS 2, those of running publishers, of the folders of --msgs, and of a
workspace that is sourced.
Exit codes: 0 ok, 2 no such type, or wrong options.)";

constexpr const char* kMessageListExamples = R"(Examples:
  cardan message list
  cardan message list | grep geometry)";

struct ShowOptions {
  TypeSearch type;
  bool json = false, ros2msg = false, as_template = false;
};

/// The message type that a field holds, also as a list. Null: it holds numbers or texts.
const TypeLayout* held_message(const TypeLayout& field) {
  const TypeLayout* at = &field;
  while (at->element != nullptr) at = at->element.get();
  return at->kind == TypeLayout::Kind::Message ? at : nullptr;
}

void add_fields(Table& table, const TypeLayout& message, std::size_t depth) {
  for (const TypeLayout::Field& f : message.fields) {
    table.row({std::string(2 * depth, ' ') + printable(f.name), printable(type_name(*f.type))});
    if (const TypeLayout* const inner = held_message(*f.type)) add_fields(table, *inner, depth + 1);
  }
}

ordered_json fields_json(const TypeLayout& message) {
  ordered_json fields = ordered_json::array();
  for (const TypeLayout::Field& f : message.fields) {
    ordered_json field{{"name", f.name}, {"type", type_name(*f.type)}};
    if (const TypeLayout* const inner = held_message(*f.type)) field["fields"] = fields_json(*inner);
    fields.push_back(std::move(field));
  }
  return fields;
}

int message_show(const ShowOptions& o) {
  const AnyType type = find_type(o.type);
  const std::string& definition = type.message_type().schema;
  if (o.as_template) return emit(one_line(empty_message(type.layout())) + "\n") ? kOk : kFailed;
  if (o.ros2msg) return emit(printable_lines(definition)) ? kOk : kFailed;
  if (o.json)
    return emit(one_line({{"type", type.message_type().name},
                          {"fields", fields_json(type.layout())},
                          {"definition", printable_lines(definition)}}) +
                "\n")
               ? kOk
               : kFailed;
  Table table({{printable(type.message_type().name)}, {""}});
  add_fields(table, type.layout(), 1);
  return emit(table.text()) ? kOk : kFailed;
}

int message_list(const bool& json) {
  const std::vector<std::string> all = known_types();
  if (json) return emit(one_line({{"types", all}}) + "\n") ? kOk : kFailed;
  return emit(fmt::format("{}\n", fmt::join(all, "\n"))) ? kOk : kFailed;
}

}  // namespace

static void add_message_command(CLI::App& app) {
  auto* const group = add_verb(&app, "message", "Show message types: list, show", kMessageExamples);
  group->require_subcommand(1);

  auto json = std::make_shared<bool>(false);
  auto* command = add_verb(group, "list", "List the types that are known without a publisher", kMessageListExamples);
  command->add_flag("--json", *json, "One JSON object");
  run_with(command, message_list, json);

  auto show = std::make_shared<ShowOptions>();
  command = add_verb(group, "show", "Show the fields of a type", kMessageShowExamples);
  command->add_option("type", show->type.name, "The type, as sensor_msgs/msg/Imu")->required();
  command->add_option("--msgs", show->type.folders, "Search this folder for .msg files, as ~/ws/src; repeatable");
  auto* const as_json = command->add_flag("--json", show->json, "One JSON object");
  auto* const ros2msg = command->add_flag("--definition", show->ros2msg, "The definition in ROS 2's form instead");
  command->add_flag("--template", show->as_template, "An empty message as JSON instead")
      ->excludes(as_json)
      ->excludes(ros2msg);
  ros2msg->excludes(as_json);
  add_domain_option(command, show->type.domain);
  run_with(command, message_show, show);
}

const Command kMessageCommand{105, add_message_command};

}  // namespace cardan::apps
