// SPDX-License-Identifier: Apache-2.0
// Statements of unknown peers on DDS about themselves: names of topics and types, user data, the message that names the
// nodes. Must hold: a name that is understood goes back to the same, and never leads out of the folders of messages; a
// message that is understood is written as it was read.
#include <algorithm>
#include <cctype>
#include <span>

#include "cardan/error.hpp"
#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/message_finder.hpp"
#include "src/bridge/dds/names.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::dds_names_target {
namespace {

using namespace cardan::bridge::dds;

void look_at_names(std::string_view name, std::string_view user_data) {
  if (const auto topic = ros_topic_of(name)) {
    require(is_ros_topic(*topic), "a topic with a name that ROS 2 does not allow");
    require(dds_topic_of(*topic) == name, "a topic's name that does not go back");
  }
  if (const auto type = ros_type_of(name)) {
    const bool letters = std::all_of(type->begin(), type->end(),
                                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '/'; });
    require(letters, "a type's name with more than letters");
    require(dds_type_of(*type) == name, "a type's name that does not go back");
    try {
      (void)MessageFinder({folder()}).definition(*type);
    } catch (const Error& e) {
      require(!e.cause().empty(), "an error without words");
    }
  }
  for (const char* const key : {"typehash", "cardan", "enclave", ""})
    require(value_in(user_data, key).size() <= user_data.size(), "more than was said");
}

void look_at_nodes(std::string_view bytes) {
  const auto cdr = std::as_bytes(std::span(bytes));
  const int known = gid_bytes_of(cdr);
  for (const int gid : {kOldGidBytes, kNewGidBytes}) {
    const auto entities = parse_discovery_info(cdr, gid);
    if (!entities) continue;
    require(known != 0, "a message without a form");
    const auto again = discovery_info(*entities, gid);
    require(parse_discovery_info(again, gid) == entities, "nodes that do not go back");
  }
}

/// A name to a NUL, user data to the next, then the message that names the nodes.
void run(std::string_view input) {
  Input parts(input);
  const std::string_view name = parts.until('\0');
  const std::string_view user_data = parts.until('\0');
  look_at_names(name, user_data);
  (void)used_messages(std::string(user_data), std::string(name.substr(0, 32)));
  look_at_nodes(parts.rest());
}

std::vector<std::string> seeds() {
  const auto with = [](const std::string& name, const std::string& data, int gid) {
    Guid guid{};
    guid[0] = 1;
    const auto cdr =
        discovery_info({.participant = guid,
                        .nodes = {{.name_space = "/car", .name = "camera", .readers = {guid}, .writers = {guid, guid}},
                                  {.name_space = "/", .name = "x"}}},
                       gid);
    return name + '\0' + data + '\0' + std::string(reinterpret_cast<const char*>(cdr.data()), cdr.size());
  };
  return {with("rt/camera/front", "enclave=/;typehash=RIHS01_ab;", kOldGidBytes),
          with("sensor_msgs::msg::dds_::Image_", "enclave=/;cardan=12;", kNewGidBytes),
          with("a::msg::dds_::B_", "std_msgs/Header h\nC[] c\nstring<=3 s\n", kNewGidBytes)};
}

}  // namespace
CARDAN_FUZZ_TARGET(dds_names, run, seeds)
}  // namespace cardan::fuzz::dds_names_target
