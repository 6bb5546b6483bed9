// SPDX-License-Identifier: Apache-2.0
// An included file's tree: its names in a namespace, and its parts next to those of the file that includes it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "src/config/compose.hpp"
#include "src/config/shape.hpp"

namespace cardan::config {
namespace {

using Is = Node::Kind;

class Renaming {
 public:
  Renaming(const std::string& name_space, IncludeLinks& links) : name_space_(name_space), links_(links) {}

  void apply(Composed& part) const {
    if (Node* const processes = find_part(part.root, "processes")) this->processes(*processes, part);
    if (Node* const topics = find_part(part.root, "topics"))
      for (Member& topic : topics->members) topic.name = outside(topic.name);
    if (Node* const chains = find_part(part.root, "chains")) this->chains(*chains);
    Node* const states = find_part(part.root, "states");
    Node* const transitions = states != nullptr ? find_part(*states, "transitions") : nullptr;
    if (transitions == nullptr) return;
    for (Node& transition : transitions->elements)
      if (Node* const when = find_part(transition, "when"))
        for (Member& condition : when->members) this->condition(condition);
  }

 private:
  [[nodiscard]] std::string outside(const std::string& topic) const {
    links_.open.erase(topic);
    links_.in_text.push_back(topic);
    return links_.naming.name(topic);
  }

  [[nodiscard]] std::string inside(const std::string& name) const {
    return name_space_.empty() ? name : name_space_ + "." + name;
  }

  void processes(Node& processes, Composed& part) const {
    std::map<std::string, std::vector<Naming>> namings;
    for (Member& process : processes.members) {
      process.name = inside(process.name);
      if (Node* const record = find_part(process.value, "record")) this->record(*record);
      Node* const components = find_part(process.value, "components");
      if (components == nullptr) continue;
      for (Member& component : components->members) {
        std::vector<Naming> chain = std::move(part.namings[component.name]);
        if (!links_.naming.prefix.empty() || !links_.naming.links.empty()) chain.push_back(links_.naming);
        component.name = inside(component.name);
        if (!chain.empty()) namings.insert_or_assign(component.name, std::move(chain));
        topics(component.value);
      }
    }
    part.namings = std::move(namings);
  }

  void chains(Node& chains) const {
    for (Member& chain : chains.members) {
      chain.name = inside(chain.name);
      for (const char* const key : {"from", "to"})
        if (Node* const topic = find_part(chain.value, key); topic != nullptr && topic->kind == Is::Text)
          topic->text = outside(topic->text);
    }
  }

  void topics(Node& component) const {
    Node* const topics = find_part(component, "topics");
    if (topics == nullptr) return;
    for (Member& topic : topics->members)
      if (topic.value.kind == Is::Text) topic.value.text = outside(topic.value.text);
  }

  /// Patterns as "*" mean every topic, whatever its namespace.
  void record(Node& record) const {
    const auto change = [&](Node& object, const char* key) {
      Node* const names = find_part(object, key);
      if (names == nullptr) return;
      const auto one = [&](Node& name) {
        if (name.kind == Is::Text && name.text.starts_with('/')) name.text = outside(name.text);
      };
      one(*names);
      for (Node& element : names->elements) one(element);
    };
    for (const char* const key : {"topics", "exclude"}) change(record, key);
    if (Node* const on = find_part(record, "on"))
      for (const char* const key : {"silent", "message"}) change(*on, key);
  }

  void condition(Member& condition) const {
    const auto change = [&](Node& name) {
      if (name.kind == Is::Text) name.text = is_of_topics(condition.name) ? outside(name.text) : inside(name.text);
    };
    change(condition.value);
    for (Node& element : condition.value.elements) change(element);
  }

  const std::string& name_space_;
  IncludeLinks& links_;
};

bool same_value(const Node& a, const Node& b) noexcept {
  return a.kind == b.kind && a.boolean == b.boolean && a.number == b.number && a.text == b.text;
}

/// The places of an object's members, by name: two files with many of them are put together in one pass.
using Index = std::map<std::string, std::size_t, std::less<>>;

Index index_of(const Node& object) {
  Index index;
  for (std::size_t i = 0; i < object.members.size(); ++i)
    if (!object.members[i].duplicate) index.emplace(object.members[i].name, i);
  return index;
}

class Merging {
 public:
  Merging(Node& root, Place include, const Source& source, std::vector<Problem>& problems)
      : root_(root), include_(include), source_(source), problems_(problems) {}

  void add(Node part) {
    for (Member& member : part.members) {
      if (member.name == "$schema" || member.name == "name" || member.value.kind == Is::Bad) continue;
      if (member.duplicate || !merged(member)) left_over(root_, std::move(member));
    }
  }

 private:
  void add_problem(const std::string& pointer, Place place, std::string cause, std::string remedy) {
    problems_.push_back(source_.problem(pointer, place, Severity::Error, std::move(cause), std::move(remedy)));
  }

  /// Parts that cannot be merged stay in the tree, where check_shape() finds it.
  static void left_over(Node& object, Member member) {
    member.duplicate = true;
    object.members.push_back(std::move(member));
  }

  /// False: it is not what it should be.
  bool merged(Member& member) {
    if (member.name == "domain") return domain(member);
    if (member.name == "realtime") return realtime(member);
    if (member.name == "transforms") return transforms(member);
    constexpr std::array<std::string_view, 5> kKnown{"processes", "topics", "chains", "needs", "states"};
    const bool known = std::find(kKnown.begin(), kKnown.end(), member.name) != kKnown.end();
    if (!known || member.value.kind != Is::Object) return false;
    Node* const into = part_of(root_, member.name, Is::Object, member.place);
    if (into == nullptr) return false;
    if (member.name == "processes" || member.name == "chains") named(*into, member.value, member.name);
    if (member.name == "topics") topics(*into, member.value);
    if (member.name == "needs") needs(*into, member.value);
    if (member.name == "states") states(*into, member.value);
    return true;
  }

  bool domain(Member& member) {
    if (member.value.kind != Is::Text) return false;
    const Node* const own = root_.find("domain");
    const std::string name = own != nullptr ? own->text : "default";
    if (member.value.text != name)
      add_problem(
          "/domain", member.value.place,
          fmt::format("the domain here is '{}', and the file that includes this one has '{}'", member.value.text, name),
          "remove it here, or write the same in both");
    return true;
  }

  bool realtime(Member& member) {
    if (member.value.kind != Is::Boolean) return false;
    Node* const own = find_part(root_, "realtime");
    if (own == nullptr)
      root_.members.push_back(std::move(member));
    else if (own->place.file != include_.file)  // else what the file itself says holds
      own->boolean = own->boolean || member.value.boolean;
    return true;
  }

  bool transforms(Member& member) {
    Node* const list = member.value.kind == Is::Array ? part_of(root_, member.name, Is::Array, member.place) : nullptr;
    if (list == nullptr) return false;
    std::move(member.value.elements.begin(), member.value.elements.end(), std::back_inserter(list->elements));
    return true;
  }

  /// Processes or chains: each name is there once.
  void named(Node& into, Node& from, const std::string& key) {
    std::map<std::string, Place, std::less<>> there;
    for (const Member& one : into.members) there.emplace(one.name, one.place);
    for (Member& one : from.members) {
      const auto [first, fresh] = there.emplace(one.name, one.place);
      if (!fresh && !one.duplicate) {
        add_problem(join("/" + key, one.name), one.place,
                    fmt::format("{} '{}' already exists ({})", key == "chains" ? "chain" : "process", one.name,
                                source_.line(first->second)),
                    R"(rename one, or give an include a "namespace")");
        one.duplicate = true;
      }
      into.members.push_back(std::move(one));
    }
  }

  void topics(Node& into, Node& from) {
    Index there = index_of(into);
    for (Member& topic : from.members) {
      const auto [found, fresh] = there.emplace(topic.name, into.members.size());
      if (fresh || topic.duplicate || topic.value.kind != Is::Object) {
        topic.duplicate = topic.duplicate || !fresh;
        into.members.push_back(std::move(topic));
        continue;
      }
      Node& own = into.members[found->second].value;
      const Index settings = index_of(own);
      for (Member& field : topic.value.members) {
        const auto setting = settings.find(field.name);
        if (setting == settings.end() || field.duplicate)
          own.members.push_back(std::move(field));
        else
          agree(own.members[setting->second].value, field, topic.name);
      }
    }
  }

  /// The file that includes others has the last word on a topic; two that are included must agree.
  void agree(const Node& own, const Member& field, const std::string& name) {
    if (own.place.file == include_.file || same_value(own, field.value)) return;
    add_problem(join(join("/topics", name), field.name), field.value.place,
                fmt::format("'{}' of topic '{}' has another value in {}", field.name, name, source_.line(own.place)),
                fmt::format("set it in 'topics' of {}, which overrides both", source_.file(include_)));
  }

  void needs(Node& into, Node& from) {
    const Index there = index_of(into);
    for (Member& need : from.members) {
      const auto found = there.find(need.name);
      Node* const own = found != there.end() && !need.duplicate ? &into.members[found->second].value : nullptr;
      if (own == nullptr) {
        into.members.push_back(std::move(need));
      } else if (own->kind == Is::Integer && need.value.kind == Is::Integer) {
        if (own->integer < need.value.integer) *own = std::move(need.value);
      } else if (own->kind == Is::Boolean && need.value.kind == Is::Boolean) {
        own->boolean = own->boolean || need.value.boolean;
      } else {
        left_over(into, std::move(need));
      }
    }
  }

  void states(Node& into, Node& from) {
    for (Member& member : from.members) {
      Node* const list = member.name == "transitions" && member.value.kind == Is::Array && !member.duplicate
                             ? part_of(into, member.name, Is::Array, member.place)
                             : nullptr;
      if (list == nullptr) {
        left_over(into, std::move(member));
        continue;
      }
      for (Node& transition : member.value.elements) list->elements.push_back(std::move(transition));
    }
  }

  Node& root_;
  Place include_;
  const Source& source_;
  std::vector<Problem>& problems_;
};

}  // namespace

Node* find_part(Node& object, std::string_view name) noexcept {
  for (Member& member : object.members)
    if (member.name == name && !member.duplicate) return &member.value;
  return nullptr;
}

Node* part_of(Node& object, std::string_view name, Node::Kind kind, Place place) {
  if (Node* const there = find_part(object, name)) return there->kind == kind ? there : nullptr;
  Member& made = object.members.emplace_back();
  made.name = name;
  made.place = place;
  made.value = node_of(kind, place);
  return &made.value;
}

void rename(Composed& part, const std::string& name_space, IncludeLinks& links) {
  Renaming(name_space, links).apply(part);
}

void merge(Node& root, Node part, Place include, const Source& source, std::vector<Problem>& problems) {
  Merging(root, include, source, problems).add(std::move(part));
}

}  // namespace cardan::config
