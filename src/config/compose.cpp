// SPDX-License-Identifier: Apache-2.0
#include "src/config/compose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "cardan/error.hpp"
#include "src/config/check_shape.hpp"
#include "src/config/left_out.hpp"
#include "src/config/suggest.hpp"
#include "src/config/variables.hpp"

namespace cardan::config {
namespace {

namespace fs = std::filesystem;
using Is = Node::Kind;

constexpr std::string_view kNamespaceVariable = "namespace";
constexpr std::string_view kInstanceVariable = "instance";

/// Removes the first member of that name, and gives it.
std::optional<Member> take(Node& object, std::string_view name) {
  const auto found = std::find_if(object.members.begin(), object.members.end(),
                                  [&](const Member& m) { return m.name == name && !m.duplicate; });
  if (found == object.members.end()) return {};
  Member taken = std::move(*found);
  object.members.erase(found);
  return taken;
}

/// Memory of a copy.
std::size_t cost(const Node& node) {
  std::size_t bytes = sizeof(Node) + node.text.size();
  for (const Node& element : node.elements) bytes += cost(element);
  for (const Member& member : node.members) bytes += member.name.size() + cost(member.value);
  return bytes;
}

/// Places of an included file's tree.
void mark(Node& node, std::uint32_t file) {
  node.place.file = file;
  for (Node& element : node.elements) mark(element, file);
  for (Member& member : node.members) {
    member.place.file = file;
    mark(member.value, file);
  }
}

std::string read(const ReadOptions& options, const std::string& path, std::size_t most) {
  return options.read ? options.read(path, most) : read_text(path, most);
}

/// The same for one file by all of its names.
std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::path(path).lexically_normal().string() : real.string();
}

class Composer {
 public:
  Composer(std::size_t bytes, const ReadOptions& options, Source& source, std::vector<Problem>& problems)
      : options_(options),
        source_(source),
        problems_(problems),
        substitution_(source, problems),
        bytes_(bytes),
        left_out_([&options](const std::string& path, std::size_t most) { return read(options, path, most); }) {}

  Composed all(Node root) {
    chain_.push_back({source_.file_name, canonical(source_.file_name)});
    Given given;
    for (const std::string& variable : options_.variables) {
      const std::size_t equals = variable.find('=');
      if (equals == 0 || equals == std::string::npos)
        throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' does not set a variable", variable),
                    "write name=value");
      given.texts.insert_or_assign(variable.substr(0, equals), variable.substr(equals + 1));
    }
    Composed composed = file(std::move(root), given, "");
    left_out_.forget_in(composed.root);
    return composed;
  }

 private:
  /// Values that replace those of a file's variables.
  struct Given {
    std::map<std::string, std::string> texts{};  ///< by the command line
    Node values{};                               ///< by the include, an object
    std::string pointer{};                       ///< of the include
  };
  struct File {
    std::string path, canonical;
  };

  void add_problem(const std::string& pointer, Place place, std::string cause, std::string remedy) {
    problems_.push_back(source_.problem(pointer, place, Severity::Error, std::move(cause), std::move(remedy)));
  }

  Composed file(Node root, const Given& given, const std::string& name_space) {
    Composed part{.whole = true};
    const Scope scope = variables(root, given, name_space);
    const std::optional<Member> include = take(root, "include");
    for (Member& member : root.members) {
      const std::string at = join("", member.name);
      if (member.name == "processes" && member.value.kind == Is::Object)
        processes(member.value, scope, at, part);
      else if (member.name == "chains" && member.value.kind == Is::Object)
        chains(member.value, scope, at);
      else if (member.name == "transforms" && member.value.kind == Is::Array)
        transforms(member.value, scope, at);
      else
        substitution_.apply(member.value, scope, at);
    }
    part.root = std::move(root);
    if (include) includes(*include, scope, name_space, part);
    return part;
  }

  Scope variables(Node& root, const Given& given, const std::string& name_space) {
    Scope scope;
    scope.set(std::string(kNamespaceVariable), text_node(name_space, root.place));
    std::vector<std::string> known;  // also those that are wrong
    if (std::optional<Member> declared = take(root, "variables")) {
      check_shape(declared->value, kVariablesField, "/variables", declared->place, "'variables' of the file", source_,
                  problems_);
      for (Member& variable : declared->value.members) {
        const std::string at = join("/variables", variable.name);
        if (variable.duplicate || !fits(Format::Identifier, variable.name)) continue;
        if (known.size() == kMaxVariables) {
          add_problem(at, variable.place, fmt::format("the file has more than {} variables", kMaxVariables),
                      "use fewer, or move some to an included file");
          break;
        }
        known.push_back(variable.name);
        if (variable.name == kNamespaceVariable || variable.name == kInstanceVariable) {
          add_problem(at, variable.place, fmt::format("the variable '{}' is predefined", variable.name),
                      "give this one another name");
          continue;
        }
        substitution_.apply(variable.value, scope, at);
        if (variable.value.kind == Is::Bad) continue;
        Node value = variable.value;
        if (const auto text = given.texts.find(variable.name); text != given.texts.end()) {
          std::optional<Node> other = value_like(value, text->second);
          if (!other)
            throw Error(ErrorCode::InvalidArgument,
                        fmt::format("variable '{}' cannot be '{}'", variable.name, text->second),
                        fmt::format("give {}: without it, it is {}", kind_of(value), text_of(value)));
          value = std::move(*other);
          source_.included.push_back(fmt::format("--var {}={}", variable.name, text->second));
          value.place = {.line = 0, .column = 0, .file = static_cast<std::uint32_t>(source_.included.size())};
        }
        if (const Node* other = given.values.find(variable.name))
          assign(value, *other, variable.name, join(given.pointer, variable.name));
        scope.set(variable.name, std::move(value));
      }
    }
    for (const auto& [name, text] : given.texts)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no variable '{}'", source_.file_name, name),
                    suggestion(name, known, "add it to 'variables' of the file, or leave it out"));
    for (const Member& member : given.values.members)
      if (!member.duplicate && std::find(known.begin(), known.end(), member.name) == known.end())
        add_problem(join(given.pointer, member.name), member.place,
                    fmt::format("{} has no variable '{}'", chain_.back().path, member.name),
                    suggestion(member.name, known, "remove it, or add it to 'variables' of that file"));
    return scope;
  }

  void assign(Node& value, Node other, const std::string& name, const std::string& pointer) {
    if (value.kind == Is::Text && other.from_variable) other = text_node(text_of(other), other.place);
    if (other.kind == Is::Bad) return;
    if (fits_as(value, other)) {
      value = std::move(other);
      return;
    }
    add_problem(pointer, other.place, fmt::format("variable '{}' is {}, not {}", name, kind_of(value), text_of(other)),
                fmt::format("write {}", kind_of(value)));
  }

  /// Takes the `when` of a part; false: it does not hold.
  bool kept(Node& node, const Scope& scope, const std::string& pointer, const std::string& subject) {
    std::optional<Member> when = take(node, "when");
    if (!when) return true;
    check_shape(when->value, kWhenField, pointer + "/when", when->place, fmt::format("'when' of {}", subject), source_,
                problems_);
    return substitution_.holds(when->value, scope, pointer + "/when").value_or(true);
  }

  void processes(Node& all, const Scope& scope, const std::string& pointer, Composed& part) {
    std::erase_if(all.members, [&](Member& process) {
      const std::string at = join(pointer, process.name);
      if (process.value.kind != Is::Object) {
        substitution_.apply(process.value, scope, at);
        return false;
      }
      bool keep = kept(process.value, scope, at, fmt::format("process '{}'", process.name));
      for (Member& member : process.value.members) {
        const std::string inside = join(at, member.name);
        if (member.name != "components" || member.value.kind != Is::Object) {
          substitution_.apply(member.value, scope, inside);
          continue;
        }
        const bool some = !member.value.members.empty();
        components(member.value, scope, inside, part);
        if (some && member.value.members.empty()) keep = false;  // each of them was left out
        if (keep) continue;
        for (const Member& component : member.value.members) left_out_.add(scoped(scope, component.name));
      }
      if (!keep) left_out_.add(scoped(scope, process.name));
      return !keep;
    });
  }

  void chains(Node& all, const Scope& scope, const std::string& pointer) {
    std::erase_if(all.members, [&](Member& chain) {
      const std::string at = join(pointer, chain.name);
      const bool keep =
          chain.value.kind != Is::Object || kept(chain.value, scope, at, fmt::format("chain '{}'", chain.name));
      if (!keep) left_out_.add_chain(scoped(scope, chain.name));
      substitution_.apply(chain.value, scope, at);
      return !keep;
    });
  }

  void transforms(Node& all, const Scope& scope, const std::string& pointer) {
    std::size_t number = 0;
    std::erase_if(all.elements, [&](Node& transform) {
      const std::string at = fmt::format("{}/{}", pointer, number++);
      const bool keep = transform.kind != Is::Object || kept(transform, scope, at, fmt::format("transform {}", number));
      substitution_.apply(transform, scope, at);
      return !keep;
    });
  }

  static std::string scoped(const Scope& scope, const std::string& name) {
    const std::string name_space = text_of(*scope.find(kNamespaceVariable));
    return name_space.empty() ? name : name_space + "." + name;
  }

  void components(Node& all, const Scope& scope, const std::string& pointer, Composed& part) {
    std::vector<Member> kept_ones;
    const auto add = [&](Member component, const Scope& inner) {
      const std::string at = join(pointer, component.name);
      if (component.value.kind == Is::Object &&
          !kept(component.value, inner, at, fmt::format("component '{}'", component.name))) {
        left_out_.add(scoped(scope, component.name));
        return;
      }
      substitution_.apply(component.value, inner, at);
      kept_ones.push_back(std::move(component));
    };
    for (Member& component : all.members) {
      std::optional<Member> instances;
      if (component.value.kind == Is::Object) instances = take(component.value, "instances");
      if (!instances) {
        add(std::move(component), scope);
        continue;
      }
      const std::string at = join(join(pointer, component.name), "instances");
      const std::string subject = fmt::format("'instances' of component '{}'", component.name);
      substitution_.apply(instances->value, scope, at);
      check_shape(instances->value, kInstancesField, at, instances->place, subject, source_, problems_);
      if (instances->value.kind == Is::Object && instances->value.members.empty())
        add_problem(at, instances->place, fmt::format("{} has no instance", subject), "add one, or remove it");
      for (const Member& instance : instances->value.members) {
        if (instance.duplicate || instance.value.kind != Is::Object || !fits(Format::Name, instance.name)) continue;
        if (!substitution_.spend(cost(component.value), at, instance.place)) break;
        Scope inner(&scope);
        inner.set(std::string(kInstanceVariable), text_node(instance.name, instance.place));
        for (const Member& variable : instance.value.members) {
          const std::string here = join(join(at, instance.name), variable.name);
          const Node* const declared = scope.find(variable.name);
          if (declared == nullptr || variable.name == kNamespaceVariable) {
            add_problem(here, variable.place,
                        fmt::format("there is no variable '{}' in 'variables' of the file", variable.name),
                        suggestion(variable.name, scope.names(), R"(add "variables": {"name": value} to the file)"));
            continue;
          }
          Node value = *declared;
          assign(value, variable.value, variable.name, here);
          inner.set(variable.name, std::move(value));
        }
        Member copy = component;
        copy.name = instance.name + "." + component.name;
        copy.place = instance.place;
        part.namings[copy.name] = {{.prefix = "/" + instance.name}};
        add(std::move(copy), inner);
      }
    }
    all.members = std::move(kept_ones);
  }

  void includes(Member include, const Scope& scope, const std::string& name_space, Composed& part) {
    std::vector<bool> kept_ones;
    for (std::size_t i = 0; i < include.value.elements.size(); ++i) {
      Node& entry = include.value.elements[i];
      const std::string at = fmt::format("/include/{}", i);
      kept_ones.push_back(entry.kind != Is::Object || kept(entry, scope, at, fmt::format("include {}", i + 1)));
      substitution_.apply(entry, scope, at);
    }
    check_shape(include.value, kIncludeField, "/include", include.place, "'include' of the file", source_, problems_);
    if (include.value.kind != Is::Array) part.whole = false;
    Node own = std::move(part.root);
    part.root = node_of(Is::Object, own.place);
    const auto processes =
        std::find_if(own.members.begin(), own.members.end(), [](const Member& m) { return m.name == "processes"; });
    for (Member& member : own.members)
      if (member.name != "processes") part.root.members.push_back(std::move(member));
    (void)part_of(part.root, "processes", Is::Object,
                  processes != own.members.end() ? processes->place : include.place);
    for (std::size_t i = 0; i < include.value.elements.size(); ++i)
      if (!this->include(include.value.elements[i], kept_ones[i], fmt::format("/include/{}", i), name_space, part))
        part.whole = false;
    // After what is included: the file's own processes start when those that they build on are there.
    Node last = node_of(Is::Object, own.place);
    for (Member& member : own.members)
      if (member.name == "processes") last.members.push_back(std::move(member));
    merge(part.root, std::move(last), include.place, source_, problems_);
  }

  /// False: it could not be.
  bool include(const Node& entry, bool keep, const std::string& pointer, const std::string& name_space,
               Composed& part) {
    const Node* const named = entry.find("file");
    if (entry.kind != Is::Object || named == nullptr) return false;  // reported
    const Node* const inner_name = entry.find("namespace");
    const std::string inner = inner_name != nullptr ? inner_name->text : "";
    const std::string full = inner.empty() || name_space.empty() ? name_space + inner : name_space + "." + inner;
    if (!keep) {
      if (!inner.empty())
        left_out_.add_namespace(full);
      else if (named->kind == Is::Text)
        left_out_.add_file(path_of(*named), full);
      return true;
    }
    const std::size_t files = chain_.size();
    std::optional<Node> root = load(*named, pointer + "/file");
    if (!root) return false;
    Given given{.values = node_of(Is::Object), .pointer = pointer + "/variables"};
    if (const Node* values = entry.find("variables")) given.values = *values;
    IncludeLinks links{.name_space = full};
    if (!inner.empty()) links.naming.prefix = "/" + inner;
    if (const Node* topics = entry.find("topics"))
      for (const Member& link : topics->members)
        if (link.value.kind == Is::Text && links.naming.links.emplace(link.name, link.value.text).second)
          links.open.emplace(link.name, link.place);
    const std::size_t left_out_before = left_out_.size();
    Composed included = file(std::move(*root), given, full);
    chain_.resize(files);
    rename(included, inner, links);
    const bool all_there = included.whole && left_out_.size() == left_out_before;  // else it may use them
    if (all_there && !links.open.empty()) source_.links.push_back(std::move(links));
    part.namings.merge(included.namings);
    merge(part.root, std::move(included.root), named->place, source_, problems_);
    return included.whole;
  }

  /// Of a file that the last one of the chain includes.
  [[nodiscard]] std::string path_of(const Node& named) const {
    return (fs::path(chain_.back().path).parent_path() / named.text).lexically_normal().string();
  }

  /// The tree of an included file, which is then the last of the chain.
  std::optional<Node> load(const Node& named, const std::string& pointer) {
    const auto refuse = [&](std::string cause, std::string remedy) {
      add_problem(pointer, named.place, std::move(cause), std::move(remedy));
      return std::nullopt;
    };
    const std::string path = path_of(named);
    File next{path, canonical(path)};
    if (std::any_of(chain_.begin(), chain_.end(), [&](const File& f) { return f.canonical == next.canonical; })) {
      std::string way;
      for (const File& f : chain_) way += f.path + " → ";
      return refuse(fmt::format("the files include each other in a circle: {}{}", way, path), "remove one of them");
    }
    if (chain_.size() > static_cast<std::size_t>(kMaxIncludeDepth))
      return refuse(fmt::format("files include files more than {} deep", kMaxIncludeDepth),
                    "include it in a file further out");
    if (++count_ > kMaxIncludes)
      return refuse(fmt::format("more than {} files are included", kMaxIncludes), "merge some of them");
    if (const auto known = documents_.find(next.canonical); known == documents_.end()) {
      std::string text;
      try {
        const std::size_t left = kMaxTextBytes - std::min(bytes_, kMaxTextBytes);
        text = read(options_, path, left);
      } catch (const Error& e) {
        return refuse(e.cause(),
                      fmt::format("check the path; it is looked for from the folder of {}", chain_.back().path));
      }
      if (!spend_text(text.size())) return refuse_size(refuse);
      source_.included.push_back(path);
      std::vector<Problem> found;
      Document document = read_document(text, found);
      for (Problem& problem : found) {
        problem.file = path;
        problems_.push_back(std::move(problem));
      }
      if (document.complete && document.root.kind != Is::Object && document.root.kind != Is::Bad)
        refuse(fmt::format("{} does not hold an object", path), "a configuration is one: {\"processes\": {…}}");
      mark(document.root, static_cast<std::uint32_t>(source_.included.size()));
      const bool usable = document.complete && document.root.kind == Is::Object;
      documents_.emplace(next.canonical, Known{usable ? std::move(document.root) : Node{}, text.size()});
    } else if (!spend_text(known->second.bytes)) {
      return refuse_size(refuse);
    }
    const Node& root = documents_.find(next.canonical)->second.root;
    if (root.kind != Is::Object) return {};  // reported
    chain_.push_back(std::move(next));
    return root;
  }

  bool spend_text(std::size_t bytes) {
    bytes_ += bytes;
    return bytes_ <= kMaxTextBytes;
  }
  template <class Refuse>
  static std::optional<Node> refuse_size(const Refuse& refuse) {
    return refuse(fmt::format("the files together have more than {} MiB", kMaxTextBytes >> 20U),
                  "include fewer files, or include them fewer times");
  }

  struct Known {
    Node root;
    std::size_t bytes;
  };

  const ReadOptions& options_;
  Source& source_;
  std::vector<Problem>& problems_;
  Substitution substitution_;
  std::size_t bytes_;      ///< of text, of all files
  std::size_t count_ = 0;  ///< of includes
  std::vector<File> chain_;
  std::map<std::string, Known> documents_;
  LeftOut left_out_;
};

}  // namespace

Composed compose(Node root, std::size_t bytes, const ReadOptions& options, Source& source,
                 std::vector<Problem>& problems) {
  return Composer(bytes, options, source, problems).all(std::move(root));
}

}  // namespace cardan::config
