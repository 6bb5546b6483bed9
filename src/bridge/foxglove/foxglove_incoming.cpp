// SPDX-License-Identifier: Apache-2.0
// The topics that clients publish.
#include <fmt/format.h>

#include <new>
#include <utility>

#include "cardan/error.hpp"
#include "src/bridge/foxglove/foxglove_bridge.hpp"
#include "src/messages/ros2_definitions.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostIncoming = 64;

/// Foxglove also writes "geometry_msgs/Twist".
std::string full_type(const std::string& type) {
  const std::size_t slash = type.find('/');
  if (slash == std::string::npos || type.find('/', slash + 1) != std::string::npos) return type;
  return type.substr(0, slash) + "/msg" + type.substr(slash);
}

}  // namespace

TopicReport report_of(const Incoming& incoming) {
  return {.topic = incoming.topic.name(),
          .beyond = incoming.topic.beyond(),
          .type = incoming.topic.type().message_type().name,
          .in = true,
          .receivers = incoming.topic.subscribers(),
          .counts = incoming.topic.counts(),
          .note = incoming.topic.note()};
}

Incoming* FoxgloveBridge::advertise(const Advertise::Channel& wish, std::string& why) {
  constexpr std::size_t kLongestName = 255;
  const std::string type_name = full_type(wish.type);
  const std::string shown = wish.topic.substr(0, kLongestName);
  const TopicRule* const rule = rule_for(rules_.in, wish.topic, type_name);
  if (rule == nullptr || wish.topic.size() > kLongestName) {
    why = fmt::format("The topic '{}' may not come in: no rule of 'in' names it (--in).", shown);
    return nullptr;
  }
  if (wish.encoding != "cdr" || (!wish.schema_encoding.empty() && wish.schema_encoding != "ros2msg")) {
    why = fmt::format("'{}' is not taken in this encoding: this server takes cdr with ros2msg.", shown);
    return nullptr;
  }
  try {
    const std::string name = name_beyond(*rule, wish.topic);
    std::string schema = wish.schema;
    if (const auto known = by_name_.find(name); schema.empty() && known != by_name_.end())
      if (const ChannelInfo& info = channels_.at(known->second).info; info.type == type_name) schema = info.schema;
    if (schema.empty()) {
      const auto definition = known_definition(type_name);
      if (!definition) {
        why = fmt::format("'{}' has a type that this server does not know: send its definition.", shown);
        return nullptr;
      }
      schema = *definition;  // empty for std_msgs/msg/Empty
    }
    AnyType type = AnyType::of_definition(type_name, schema);
    if (const auto there = incoming_.find(name); there != incoming_.end()) {
      if (there->second.topic.type().message_type().hash != type.message_type().hash) {
        why = fmt::format("'{}' already comes in with another type.", shown);
        return nullptr;
      }
      ++there->second.clients;
      return &there->second;
    }
    if (incoming_.size() >= kMostIncoming) {
      why = fmt::format("At most {} topics come in at once.", kMostIncoming);
      return nullptr;
    }
    IncomingTopic topic(wish.topic, name, std::move(type), *rule,
                        {.domain = rules_.domain, .via = network_, .access = rules_.access});
    Incoming& incoming = incoming_.try_emplace(name, std::move(topic), rule->max_bytes).first->second;
    incoming.clients = 1;
    return &incoming;
  } catch (const Error& e) {
    why = fmt::format("'{}' may not come in: {}", shown, e.what());
    return nullptr;
  }
}

void FoxgloveBridge::unadvertise(Incoming& incoming) noexcept {
  if (--incoming.clients != 0) return;
  try {
    keep(report_of(incoming));
  } catch (const std::bad_alloc&) {  // the topic goes all the same
  }
  incoming_.erase(incoming_.find(incoming.topic.name()));
}

}  // namespace cardan::bridge::foxglove
