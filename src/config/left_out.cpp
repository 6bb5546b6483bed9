// SPDX-License-Identifier: Apache-2.0
#include "src/config/left_out.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "cardan/error.hpp"
#include "src/config/compose.hpp"
#include "src/config/shape.hpp"

namespace cardan::config {
namespace {

namespace fs = std::filesystem;
using Is = Node::Kind;

std::string inside(const std::string& name_space, const std::string& name) {
  return name_space.empty() ? name : name_space + "." + name;
}

/// "a.b" → "/a/b/"
std::string topics_of(std::string name_space) {
  std::replace(name_space.begin(), name_space.end(), '.', '/');
  return "/" + name_space + "/";
}

/// The names in a tree.
struct There {
  std::set<std::string> names{}, topics{}, chains{};
};

void add_topics(const Node& component, std::set<std::string>& names) {
  const Node* const topics = component.find("topics");
  if (topics == nullptr) return;
  for (const Member& topic : topics->members)
    if (topic.value.kind == Is::Text) names.insert(topic.value.text);
}

There there_in(const Node& root) {
  There there;
  if (const Node* const chains = root.find("chains"))
    for (const Member& chain : chains->members) there.chains.insert(chain.name);
  const Node* const processes = root.find("processes");
  if (processes == nullptr) return there;
  for (const Member& process : processes->members) {
    there.names.insert(process.name);
    const Node* const components = process.value.find("components");
    if (components == nullptr) continue;
    for (const Member& component : components->members) {
      there.names.insert(component.name);
      add_topics(component.value, there.topics);
    }
  }
  return there;
}

}  // namespace

void LeftOut::add_file(const std::string& path, const std::string& name_space) { add_file(path, name_space, 0); }

void LeftOut::add_file(const std::string& path, const std::string& name_space, int depth) {
  if (depth > kMaxIncludeDepth || ++files_ > static_cast<std::size_t>(kMaxIncludes) || bytes_ >= kMaxTextBytes) return;
  std::string text;
  try {
    text = read_(path, kMaxTextBytes - bytes_);
  } catch (const Error&) {
    return;
  }
  bytes_ += text.size();
  std::vector<Problem> ignored;
  const Node root = read_document(text, ignored).root;
  if (root.kind != Is::Object) return;
  if (const Node* const processes = root.find("processes")) add_processes(*processes, name_space);
  if (const Node* const chains = root.find("chains"))
    for (const Member& chain : chains->members) add_chain(inside(name_space, chain.name));
  const Node* const include = root.find("include");
  if (include == nullptr) return;
  for (const Node& entry : include->elements) {
    const Node* const file = entry.find("file");
    const Node* const inner = entry.find("namespace");
    if (file == nullptr || file->kind != Is::Text) continue;
    if (inner != nullptr && !inner->text.empty())
      add_namespace(inside(name_space, inner->text));
    else
      add_file((fs::path(path).parent_path() / file->text).lexically_normal().string(), name_space, depth + 1);
  }
}

void LeftOut::add_processes(const Node& processes, const std::string& name_space) {
  for (const Member& process : processes.members) {
    add(inside(name_space, process.name));
    const Node* const components = process.value.find("components");
    if (components == nullptr) continue;
    for (const Member& component : components->members) {
      const Node* const instances = component.value.find("instances");
      if (instances == nullptr) {
        add(inside(name_space, component.name));
        continue;
      }
      for (const Member& instance : instances->members) add(inside(name_space, instance.name + "." + component.name));
    }
  }
}

bool LeftOut::has(const std::set<std::string>& names, const std::string& name) const {
  return names.contains(name) ||
         std::any_of(spaces_.begin(), spaces_.end(), [&](const std::string& s) { return name.starts_with(s + "."); });
}

void LeftOut::forget_in(Node& root) {
  There there = there_in(root);
  const auto name_is_gone = [&](const Node& name) {
    return name.kind == Is::Text && !there.names.contains(name.text) && has(names_, name.text);
  };
  const auto chain_is_gone = [&](const Node& name) {
    return name.kind == Is::Text && !there.chains.contains(name.text) && has(chains_, name.text);
  };
  const auto topic_is_gone = [&](const Node& topic) {
    if (topic.kind != Is::Text || there.topics.contains(topic.text)) return false;
    return std::any_of(spaces_.begin(), spaces_.end(), [&](const std::string& space) {
      // Another include may have brought the same namespace.
      const auto first = there.names.lower_bound(space + ".");
      const bool is_there = first != there.names.end() && first->starts_with(space + ".");
      return !is_there && topic.text.starts_with(topics_of(space));
    });
  };
  if (Node* const chains = find_part(root, "chains"))
    std::erase_if(chains->members, [&](const Member& chain) {
      const Node* const from = chain.value.find("from");
      const Node* const to = chain.value.find("to");
      const bool gone = (from != nullptr && topic_is_gone(*from)) || (to != nullptr && topic_is_gone(*to));
      if (gone && there.chains.erase(chain.name) != 0) add_chain(chain.name);
      return gone;
    });
  Node* const states = find_part(root, "states");
  Node* const transitions = states != nullptr ? find_part(*states, "transitions") : nullptr;
  if (transitions == nullptr) return;
  std::erase_if(transitions->elements, [&](Node& transition) {
    Node* const when = find_part(transition, "when");
    if (when == nullptr) return false;
    for (Member& condition : when->members) {
      const auto gone = [&](const Node& name) {
        if (is_of_topics(condition.name)) return topic_is_gone(name);
        return is_of_chains(condition.name) ? chain_is_gone(name) : name_is_gone(name);
      };
      if (gone(condition.value)) return true;
      const bool some = !condition.value.elements.empty();
      std::erase_if(condition.value.elements, gone);
      if (some && condition.value.elements.empty()) return true;
    }
    return false;
  });
}

}  // namespace cardan::config
