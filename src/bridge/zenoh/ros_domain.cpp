// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/zenoh/ros_domain.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "cardan/error.hpp"
#include "src/bridge/rules_shape.hpp"

namespace cardan::bridge::zenoh {

namespace {

bool is_node(const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !name.empty() && name.find_first_not_of(kLetters) == std::string::npos && (name[0] < '0' || name[0] > '9');
}

}  // namespace

void choose_ros_domain(ZenohRules& rules, const std::string& variable) {
  if (rules.form != "rmw") return;
  if (!is_node(rules.node))
    throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not a name for a node of ROS 2", rules.node),
                "use letters, digits and '_' (--node)");
  if (rules.domain_id) return;
  int id = 0;
  if (!variable.empty()) {
    const char* const behind = variable.data() + variable.size();
    const auto [end, error] = std::from_chars(variable.data(), behind, id);
    if (error != std::errc{} || end != behind || id < 0 || id > kMostRosDomain)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("ROS_DOMAIN_ID is '{}', not a number from 0 to {}", variable, kMostRosDomain),
                  "correct it, or set zenoh.domain_id (--domain-id)");
  }
  rules.domain_id = id;
}

std::string network_name(const Rules& rules) {
  if (!rules.network.empty()) return rules.network;
  return rules.zenoh.form == "rmw" ? fmt::format("rmw_zenoh:{}", rules.zenoh.domain_id.value_or(0)) : "zenoh";
}

}  // namespace cardan::bridge::zenoh
