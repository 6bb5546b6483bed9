// SPDX-License-Identifier: Apache-2.0
#include "src/config/chain_way.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

constexpr std::size_t kMostNamed = 3;  ///< ends that a text names
constexpr std::size_t kMostEnds = 16;  ///< ends that a name is searched for

using Names = std::vector<std::string>;

/// Topics and components with their next ones, in one direction.
struct Links {
  std::map<std::string, Names> of_topic{}, of_component{};
};

/// All that can be reached from a topic, in the order of the distance; `last` is not left again.
struct Reached {
  Names topics{}, components{};
  std::map<std::string, std::string> topic_from{}, component_from{};  ///< the component or topic before

  Reached(const Links& links, const std::string& first, const std::string& last) : topics{first} {
    topic_from.emplace(first, "");
    for (std::size_t i = 0; i < topics.size(); ++i) {
      if (topics[i] == last) continue;
      const std::string topic = topics[i];
      for (const std::string& component : next(links.of_topic, topic)) {
        if (!component_from.emplace(component, topic).second) continue;
        components.push_back(component);
        for (const std::string& other : next(links.of_component, component))
          if (topic_from.emplace(other, component).second) topics.push_back(other);
      }
    }
  }

  /// Topics, or components, that nothing follows.
  [[nodiscard]] static Names ends(const Names& reached, const std::map<std::string, Names>& links) {
    Names all;
    std::copy_if(reached.begin(), reached.end(), std::back_inserter(all),
                 [&](const std::string& name) { return !links.contains(name); });
    return all;
  }

  static const Names& next(const std::map<std::string, Names>& links, const std::string& name) {
    static const Names kNone;
    const auto found = links.find(name);
    return found != links.end() ? found->second : kNone;
  }
};

std::string named(const Names& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  std::string all =
      fmt::format("'{}'", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), "', '"));
  if (names.size() > shown) all += fmt::format(" and {} more", names.size() - shown);
  return all;
}

/// Two topics, of which the first was perhaps meant to be the second: the nearest names.
std::string near_pair(const Names& wrong, const Names& known) {
  const std::string* from = nullptr;
  std::string best;
  for (const std::string& name : wrong) {
    if (&name - wrong.data() == kMostEnds) break;
    const std::string near = nearest(name, known);
    if (near.empty() || (from != nullptr && distance(*from, best) <= distance(name, near))) continue;
    from = &name;
    best = near;
  }
  if (from == nullptr) return {};
  return fmt::format("are '{}' and '{}' the same topic? Rename one", *from, best);
}

}  // namespace

ChainWay way_of(const Configuration& configuration, const Declarations& declared, const Chain& chain) {
  Links forward, back;
  std::map<std::string, std::string> left_out;  ///< topics that a component reads without resting on them
  for (const DeclaredEndpoint& e : declared.endpoints) {
    const Component* const component = configuration.component(e.component);
    if (component == nullptr) continue;
    const std::string topic = component->bus_name(e.topic_in_code);
    if (!e.rests_on) {
      left_out.emplace(topic, e.component);
      continue;
    }
    (e.output ? forward.of_component[e.component] : back.of_component[e.component]).push_back(topic);
    (e.output ? back.of_topic[topic] : forward.of_topic[topic]).push_back(e.component);
  }
  const Reached there(forward, chain.from, chain.to);
  const Reached before(back, chain.to, chain.from);
  ChainWay way;
  if (there.topic_from.contains(chain.to)) {
    for (std::string topic = chain.to; topic != chain.from;) {
      const std::string& component = there.topic_from.at(topic);
      way.hops.insert(way.hops.begin(), {component, topic});
      topic = there.component_from.at(component);
    }
    way.hops.insert(way.hops.begin(), chain.from);
    way.components = static_cast<std::size_t>(
        std::count_if(there.components.begin(), there.components.end(),
                      [&](const std::string& name) { return before.component_from.contains(name); }));
    return way;
  }
  const Names unread = Reached::ends(there.topics, forward.of_topic);
  const Names unwritten = Reached::ends(before.topics, back.of_topic);
  const auto without = std::find_if(unread.begin(), unread.end(), [&](const auto& t) { return left_out.contains(t); });
  if (const Names last = Reached::ends(there.components, forward.of_component); without != unread.end())
    way.gap = fmt::format("it ends at '{}', because the input of component '{}' has rests_on = false", *without,
                          left_out.at(*without));
  else if (!unread.empty())
    way.gap = fmt::format("it ends at {}, which no component reads", named(unread));
  else if (!last.empty())
    way.gap = fmt::format("it ends at component {}, which has no output", named(last));
  else
    way.gap = fmt::format("it only comes to {}", named(there.topics));
  if (const Names first = Reached::ends(before.components, back.of_component); !back.of_topic.contains(chain.to))
    way.gap += fmt::format("; no component publishes '{}'", chain.to);
  else if (!unwritten.empty())
    way.gap += fmt::format("; '{}' begins at {}, which no component publishes", chain.to, named(unwritten));
  else if (!first.empty())
    way.gap += fmt::format("; '{}' begins at component {}, which rests on no input", chain.to, named(first));
  if (without != unread.end()) way.remedy = "let the component rest on it, or change 'from' or 'to' of the chain";
  if (way.remedy.empty()) way.remedy = near_pair(unread, before.topics);
  if (way.remedy.empty()) way.remedy = near_pair(unwritten, there.topics);
  if (way.remedy.empty() && !unread.empty() && !unwritten.empty())
    way.remedy = fmt::format("rename a topic, or add the component that reads {} and publishes {}", named(unread),
                             named(unwritten));
  if (way.remedy.empty()) way.remedy = "rename a topic, or change 'from' or 'to' of the chain";
  return way;
}

std::string text(const ChainWay& way, const Chain& chain) {
  std::string line = fmt::format("{}", fmt::join(way.hops, " → "));
  if (way.components > way.hops.size() / 2) line += fmt::format(" ({} components on all ways)", way.components);
  if (chain.budget.count() != 0) line += fmt::format(", {:g} ms", static_cast<double>(chain.budget.count()) / 1e6);
  return line;
}

}  // namespace cardan::config
