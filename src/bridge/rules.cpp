// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cardan/configuration.hpp"
#include "cardan/error.hpp"
#include "src/base/name_patterns.hpp"
#include "src/bridge/rules_shape.hpp"
#include "src/config/check_shape.hpp"
#include "src/config/document.hpp"

namespace cardan::bridge {
namespace {

using config::Node;

void read(const Node& node, const char* name, std::string& out) {
  if (const Node* n = node.find(name)) out = n->text;
}
void read(const Node& node, const char* name, bool& out) {
  if (const Node* n = node.find(name)) out = n->boolean;
}
void read(const Node& node, const char* name, double& out) {
  if (const Node* n = node.find(name)) out = n->number;
}
void read(const Node& node, const char* name, std::optional<bool>& out) {
  if (const Node* n = node.find(name)) out = n->boolean;
}
void read(const Node& node, const char* name, std::vector<std::string>& out) {
  const Node* n = node.find(name);
  if (n == nullptr) return;
  out.clear();
  if (n->kind == Node::Kind::Text) out.push_back(n->text);
  for (const Node& element : n->elements)
    if (element.kind == Node::Kind::Text) out.push_back(element.text);
}
template <class Number>
void read_whole(const Node& node, const char* name, Number& out) {
  if (const Node* n = node.find(name)) out = static_cast<Number>(n->integer);
}

bool names_one_topic(const TopicRule& rule) {
  return rule.topics.size() == 1 && rule.topics.front().find_first_of("*?[") == std::string::npos;
}

class Reader {
 public:
  Reader(const config::Source& source, std::vector<config::Problem>& problems) : source_(source), problems_(problems) {}

  std::vector<TopicRule> rules(const Node& list, const std::string& pointer, bool in) {
    std::vector<TopicRule> rules;
    for (std::size_t i = 0; i < list.elements.size(); ++i)
      if (list.elements[i].kind == Node::Kind::Object)
        rules.push_back(rule(list.elements[i], pointer + "/" + std::to_string(i), in));
    return rules;
  }

 private:
  TopicRule rule(const Node& node, const std::string& pointer, bool in) {
    TopicRule rule;
    read(node, "topics", rule.topics);
    read(node, "types", rule.types);
    read(node, "exclude", rule.exclude);
    read(node, "rename", rule.rename);
    read(node, "namespace", rule.name_space);
    read(node, "max_hz", rule.max_hz);
    read(node, "reliable", rule.reliable);
    read_whole(node, "depth", rule.depth);
    read(node, "latched", rule.latched);
    read(node, "owner", rule.owner);
    read(node, "priority", rule.priority);
    read(node, "congestion", rule.congestion);
    if (const Node* n = node.find("max_mib")) rule.max_bytes = static_cast<std::uint64_t>(n->integer) << 20U;
    refuse_misfits(node, pointer, "topics");
    refuse_misfits(node, pointer, "exclude");
    if (!rule.rename.empty() && !names_one_topic(rule))
      error(pointer + "/rename", "a rule for several topics cannot give them one name",
            "name one topic in 'topics', or use 'namespace'");
    if (!rule.rename.empty() && !rule.name_space.empty())
      error(pointer + "/namespace", "'rename' already gives the whole name", "remove one of the two");
    if (!in && node.find("max_mib") != nullptr)
      error(pointer + "/max_mib", "'max_mib' limits what comes in", "remove it, or move the rule to 'in'");
    if (in && node.find("owner") != nullptr)
      error(pointer + "/owner", "'owner' is about topics that leave", "remove it, or move the rule to 'out'");
    if (in && node.find("topics") == nullptr && node.find("types") == nullptr)
      error(pointer, "a rule of 'in' names neither topics nor types",
            "add \"topics\": [\"/cmd_vel\"]; \"*\" lets everything in");
    return rule;
  }

  void refuse_misfits(const Node& rule, const std::string& pointer, const std::string& name) {
    const Node* const list = rule.find(name);
    if (list == nullptr) return;
    const auto look = [&](const Node& node, const std::string& where) {
      if (node.kind == Node::Kind::Text && !node.text.empty() && !can_fit(node.text))
        error(where, fmt::format("'{}' fits no topic, because names start with '/'", node.text),
              fmt::format("write \"/{}\"", node.text));
    };
    look(*list, pointer + "/" + name);
    for (std::size_t i = 0; i < list->elements.size(); ++i)
      look(list->elements[i], fmt::format("{}/{}/{}", pointer, name, i));
  }

  void error(const std::string& pointer, std::string cause, std::string remedy) {
    problems_.push_back(
        source_.problem(pointer, source_.value(pointer), config::Severity::Error, std::move(cause), std::move(remedy)));
  }

  const config::Source& source_;
  std::vector<config::Problem>& problems_;
};

void read_sections(const Node& root, Rules& rules) {
  if (const Node* dds = root.find("dds")) {
    if (const Node* id = dds->find("domain_id")) rules.dds.domain_id = static_cast<int>(id->integer);
    read(*dds, "discovery", rules.dds.discovery);
    read(*dds, "peers", rules.dds.peers);
    read(*dds, "node", rules.dds.node);
    read(*dds, "node_namespace", rules.dds.node_namespace);
    read_whole(*dds, "gid_bytes", rules.dds.gid_bytes);
    read(*dds, "message_paths", rules.dds.message_paths);
    read(*dds, "parameters", rules.dds.parameters);
    read(*dds, "set_parameters", rules.dds.set_parameters);
    read(*dds, "call_services", rules.dds.call_services);
    read(*dds, "offer_services", rules.dds.offer_services);
    read(*dds, "rosout", rules.dds.rosout);
    read(*dds, "diagnostics", rules.dds.diagnostics);
  }
  if (const Node* foxglove = root.find("foxglove")) {
    read(*foxglove, "address", rules.foxglove.address);
    read_whole(*foxglove, "port", rules.foxglove.port);
    read_whole(*foxglove, "max_clients", rules.foxglove.max_clients);
    read(*foxglove, "origins", rules.foxglove.origins);
    read(*foxglove, "hosts", rules.foxglove.hosts);
    read(*foxglove, "set_parameters", rules.foxglove.set_parameters);
    read(*foxglove, "call_services", rules.foxglove.call_services);
  }
  if (const Node* zenoh = root.find("zenoh")) {
    read(*zenoh, "form", rules.zenoh.form);
    read(*zenoh, "config", rules.zenoh.config);
    read(*zenoh, "mode", rules.zenoh.mode);
    read(*zenoh, "connect", rules.zenoh.connect);
    read(*zenoh, "listen", rules.zenoh.listen);
    if (const Node* id = zenoh->find("domain_id")) rules.zenoh.domain_id = static_cast<int>(id->integer);
    read(*zenoh, "node", rules.zenoh.node);
  }
}

}  // namespace

const TopicRule* rule_for(const std::vector<TopicRule>& rules, const std::string& topic,
                          const std::string& type) noexcept {
  const auto fits = [&](const TopicRule& rule) {
    return detail::fits_one(rule.topics, topic) && !detail::fits_one(rule.exclude, topic) &&
           (type.empty() || rule.types.empty() || detail::fits_one(rule.types, type));
  };
  const auto found = std::find_if(rules.begin(), rules.end(), fits);
  return found == rules.end() ? nullptr : &*found;
}

bool sends_owners(const TopicRule& rule, const std::string& topic) noexcept {
  return rule.owner || std::find(rule.topics.begin(), rule.topics.end(), topic) != rule.topics.end();
}

bool can_fit(const std::string& pattern) noexcept {
  return !pattern.empty() && std::string_view("/*?[").find(pattern.front()) != std::string_view::npos;
}

std::string name_beyond(const TopicRule& rule, const std::string& topic) {
  return !rule.rename.empty() ? rule.rename : rule.name_space + topic;
}

void parse_rules(const std::string& text, const std::string& file_name, Rules& rules,
                 std::vector<config::Problem>& problems) {
  config::Source source;
  source.file_name = file_name;
  config::Document document = config::read_document(text, problems);
  if (!document.complete) return;
  config::locate(document.root, source);
  const config::Field file{.kind = config::Field::Kind::Object, .object = &kRulesShape};
  config::check_shape(document.root, file, "", document.root.place, "the file", source, problems);
  if (document.root.kind != Node::Kind::Object) return;
  const Node& root = document.root;
  read(root, "domain", rules.domain);
  read(root, "network", rules.network);
  if (const Node* access = root.find("access")) {
    const auto at = std::find(kAccesses.begin(), kAccesses.end(), access->text);
    rules.access = static_cast<Access>(at - kAccesses.begin());
  }
  Reader reader(source, problems);
  if (const Node* out = root.find("out")) {
    rules.out = reader.rules(*out, "/out", false);
    rules.out_is_given = true;
  }
  if (const Node* in = root.find("in")) rules.in = reader.rules(*in, "/in", true);
  read_sections(root, rules);
}

void read_rules(const std::string& file, Rules& rules, std::vector<config::Problem>& problems) {
  const std::string text = config::read_text(file, config::kMaxTextBytes);
  if (text.size() > config::kMaxTextBytes)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} is too large for a bridge's rules", file),
                "check that the path is the file of rules");
  parse_rules(text, file, rules, problems);
}

bool is_bridge_text(const std::string& text) {
  std::vector<config::Problem> ignored;
  const config::Document document = config::read_document(text, ignored);
  if (!document.complete || document.root.kind != Node::Kind::Object) return false;
  const auto has = [&](std::string_view name) {
    return std::any_of(document.root.members.begin(), document.root.members.end(),
                       [&](const config::Member& member) { return member.name == name; });
  };
  return !has("processes") &&
         (has("out") || has("in") || std::any_of(config::kBridgeKinds.begin(), config::kBridgeKinds.end(), has));
}

}  // namespace cardan::bridge
