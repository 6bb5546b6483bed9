// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/zenoh/rules_json.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "src/base/text_of_json.hpp"
#include "src/bridge/rules_shape.hpp"

namespace cardan::bridge::zenoh {
namespace {

using nlohmann::ordered_json;

void add_text(ordered_json& to, const char* key, const std::string& text) {
  if (!text.empty()) to[key] = text;
}

void add_list(ordered_json& to, const char* key, const std::vector<std::string>& list) {
  if (!list.empty()) to[key] = list;
}

ordered_json rules_of_one_way(const std::vector<TopicRule>& rules, bool in) {
  ordered_json list = ordered_json::array();
  for (const TopicRule& rule : rules) {
    ordered_json one{{"max_hz", rule.max_hz}, {"depth", rule.depth}};
    add_list(one, "topics", rule.topics);
    add_list(one, "types", rule.types);
    add_list(one, "exclude", rule.exclude);
    if (in) one["max_mib"] = rule.max_bytes >> 20U;
    if (rule.owner) one["owner"] = true;
    if (rule.latched) one["latched"] = *rule.latched;
    if (rule.reliable) one["reliable"] = *rule.reliable;
    add_text(one, "rename", rule.rename);
    add_text(one, "namespace", rule.name_space);
    add_text(one, "priority", rule.priority);
    add_text(one, "congestion", rule.congestion);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::string rules_json(const Rules& rules) {
  ordered_json zenoh = ordered_json::object();
  add_list(zenoh, "connect", rules.zenoh.connect);
  add_list(zenoh, "listen", rules.zenoh.listen);
  add_text(zenoh, "form", rules.zenoh.form);
  add_text(zenoh, "config", rules.zenoh.config);
  add_text(zenoh, "mode", rules.zenoh.mode);
  if (rules.zenoh.domain_id) zenoh["domain_id"] = *rules.zenoh.domain_id;
  add_text(zenoh, "node", rules.zenoh.node);
  ordered_json all{{"access", kAccesses.at(static_cast<std::size_t>(rules.access))},
                   {"out", rules_of_one_way(rules.out, false)},
                   {"in", rules_of_one_way(rules.in, true)},
                   {"zenoh", std::move(zenoh)}};
  add_text(all, "domain", rules.domain);
  add_text(all, "network", rules.network);
  return text_of_json(all);
}

}  // namespace cardan::bridge::zenoh
