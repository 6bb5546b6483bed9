// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cardan/messages/transforms.hpp"
#include "src/config/check_parts.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

/// An input or output and whose it is.
struct Use {
  const DeclaredEndpoint* endpoint;
  const Component* component;
  const Process* process;
  std::string pointer;  ///< its rename, or else its component
};

/// "component 'camera' (output '/image')"
std::string owner(const Use& use) {
  return fmt::format("component '{}' ({} '{}')", use.component->name, use.endpoint->output ? "output" : "input",
                     use.endpoint->topic_in_code);
}

struct Topic {
  std::string name{};
  std::vector<Use> writers{};
  std::vector<Use> readers{};
  const TopicSettings* settings = nullptr;

  [[nodiscard]] const Use& first() const { return writers.empty() ? readers.front() : writers.front(); }
  /// All but first().
  [[nodiscard]] std::vector<Use> others() const {
    std::vector<Use> all = writers;
    all.insert(all.end(), readers.begin(), readers.end());
    all.erase(all.begin());
    return all;
  }
};

class TopicCheck {
 public:
  TopicCheck(const Configuration& configuration, const Declarations& declared, const Machine& machine,
             ProblemList& problems)
      : c_(configuration), machine_(machine), all_known_(declared.unknown.empty()), problems_(problems) {
    for (const DeclaredEndpoint& e : declared.endpoints) {
      add(e);
      in_code_[e.component].push_back(e.topic_in_code);
    }
  }

  void check() {
    for (const auto& [name, topic] : topics_) {
      types(topic);
      writers(topic);
      confined(topic);
      codecs(topic);
      if (topic.writers.empty()) unwritten(topic);
      options(topic);
      sizes(topic);
      reserved(topic);
    }
    memory();
    for (const auto& [name, settings] : c_.topics) {
      unused(name, settings);
      spins(name, settings);
    }
    for (const IncludeLinks& links : c_.source.links) unused_links(links);
    for (const Transition& t : c_.transitions)
      if (t.when.is_of_topics()) watched(t);
  }

 private:
  void add(const DeclaredEndpoint& e) {
    const Component* component = c_.component(e.component);
    if (component == nullptr) return;
    const std::string name = component->bus_name(e.topic_in_code);
    Topic& topic = topics_[name];
    topic.name = name;
    if (const auto found = c_.topics.find(name); found != c_.topics.end()) topic.settings = &found->second;
    const std::string rename = join(component->pointer + "/topics", e.topic_in_code);
    (e.output ? topic.writers : topic.readers)
        .push_back(
            {&e, component, c_.process_of(component->name), problems_.stands(rename) ? rename : component->pointer});
  }

  /// Whether `cardan run` itself publishes on it: the transforms of the file.
  [[nodiscard]] bool is_of_launcher(const std::string& topic) const {
    return topic == kStaticTransforms.name && !c_.transforms.empty();
  }

  /// Topics with a writer of that type.
  [[nodiscard]] std::vector<std::string> written(const DeclaredEndpoint& like, const std::string& except) const {
    std::vector<std::string> names;
    for (const auto& [name, topic] : topics_)
      if (name != except && !topic.writers.empty() && topic.writers.front().endpoint->type_hash == like.type_hash &&
          topic.writers.front().endpoint->type_name == like.type_name)
        names.push_back(name);
    return names;
  }

  void types(const Topic& topic) {
    const Use& a = topic.first();
    for (const Use& b : topic.others()) {
      const DeclaredEndpoint& x = *a.endpoint;
      const DeclaredEndpoint& y = *b.endpoint;
      if (x.type_name == y.type_name && x.type_hash == y.type_hash) continue;
      if (x.type_name == y.type_name) {
        problems_.error(b.pointer,
                        fmt::format("topic '{}' is {} for {} and for {}, but their layouts differ", topic.name,
                                    x.type_name, owner(a), owner(b)),
                        fmt::format("build '{}' and '{}' against the same version of {}", a.component->library,
                                    b.component->library, x.type_name));
        continue;
      }
      const std::vector<std::string> fitting = y.output ? std::vector<std::string>{} : written(y, topic.name);
      problems_.error(b.pointer,
                      fmt::format("topic '{}' is {} for {}, but {} for {}", topic.name, x.type_name, owner(a),
                                  y.type_name, owner(b)),
                      fitting.empty() ? fmt::format("give one of them another topic in its 'topics'")
                                      : fmt::format("rename it in 'topics' of '{}'; {} is on '{}'", b.component->name,
                                                    y.type_name, fmt::join(fitting, "', '")));
    }
  }

  void writers(const Topic& topic) {
    const bool in_file = topic.settings != nullptr && topic.settings->writers;
    const bool exclusive = std::any_of(topic.writers.begin(), topic.writers.end(),
                                       [](const Use& use) { return use.endpoint->options.exclusive; });
    if (!in_file && !exclusive) return;
    const std::size_t most = in_file ? static_cast<std::size_t>(*topic.settings->writers) : 1;
    const std::size_t own = is_of_launcher(topic.name) ? 1 : 0;
    if (topic.writers.empty() || topic.writers.size() + own <= most) return;
    std::vector<std::string> names;
    if (own != 0) names.emplace_back("cardan run ('transforms' of the file)");
    for (const Use& use : topic.writers) names.push_back(owner(use));
    problems_.error(topic.writers[most - own].pointer,
                    fmt::format("topic '{}' may have {} writer{}, but it has {}: {}", topic.name, most,
                                most == 1 ? "" : "s", names.size(), fmt::join(names, ", ")),
                    in_file
                        ? fmt::format("rename one in its 'topics', or raise 'writers' in {}",
                                      c_.source.line(c_.source.value(topic.settings->pointer + "/writers")))
                        : fmt::format("rename one in its 'topics'; the code allows '{}' only one writer", topic.name));
  }

  void confined(const Topic& topic) {
    const Use& a = topic.first();
    const auto is_private = [&](const Use& use) {
      return c_.options_of(topic.name, use.endpoint->options).process_private;
    };
    const std::vector<Use> others = topic.others();
    if (!is_private(a) && std::none_of(others.begin(), others.end(), is_private)) return;
    for (const Use& b : others) {
      if (b.process == a.process) continue;
      const bool in_file = topic.settings != nullptr && topic.settings->process_private;
      problems_.error(in_file ? topic.settings->pointer + "/private" : b.pointer,
                      fmt::format("topic '{}' is private, but {} is in process '{}' and {} in process '{}'", topic.name,
                                  owner(a), a.process->name, owner(b), b.process->name),
                      in_file
                          ? "put both components into one process, or write \"private\": false"
                          : fmt::format("put both components into one process, or write \"private\": false for '{}' "
                                        "in 'topics' of the file",
                                        topic.name));
      return;
    }
    if (topic.writers.empty() && all_known_)
      problems_.error(a.pointer,
                      fmt::format("topic '{}' is private, but no component of process '{}' writes it for {}",
                                  topic.name, a.process->name, owner(a)),
                      "add the component that writes it to the process, or rename the topic");
  }

  /// A type that is neither a message nor has a codec never arrives in another process.
  void codecs(const Topic& topic) {
    const auto is_private = [&](const Use& use) {
      return c_.options_of(topic.name, use.endpoint->options).process_private;
    };
    if (std::any_of(topic.writers.begin(), topic.writers.end(), is_private)) return;  // reported above
    for (const Use& reader : topic.readers) {
      const DeclaredEndpoint& in = *reader.endpoint;
      if (!in.confined || is_private(reader)) continue;
      const std::string remedy = fmt::format(
          "put both components into one process, specialize cardan::codec<{0}>, or make {0} a message with "
          "CARDAN_MESSAGE",
          in.type_name);
      for (const Use& writer : topic.writers) {
        const DeclaredEndpoint& out = *writer.endpoint;
        if (writer.process == reader.process || !out.confined || out.type_name != in.type_name) continue;
        problems_.error(
            reader.pointer,
            fmt::format("topic '{}' is {}, which cannot leave its process (not a message, and without a codec): {} "
                        "is in process '{}' and {} in process '{}'",
                        topic.name, in.type_name, owner(writer), writer.process->name, owner(reader),
                        reader.process->name),
            remedy);
        break;
      }
      if (topic.writers.empty() && all_known_)
        problems_.error(
            reader.pointer,
            fmt::format("topic '{}' is {}, which cannot leave its process (not a message, and without a codec), and "
                        "no component of process '{}' writes it for {}",
                        topic.name, in.type_name, reader.process->name, owner(reader)),
            "add the component that writes it to the process, or rename the topic");
    }
  }

  void unwritten(const Topic& topic) {
    if (!all_known_) return;  // a component that could not be asked may write it
    // A component that asks for places reads both, and many systems have frames of one kind alone.
    if (topic.name == kTransforms.name || topic.name == kStaticTransforms.name) return;
    const Use& a = topic.first();
    if (a.endpoint->confined) return;                                            // an error, reported above
    if (c_.options_of(topic.name, a.endpoint->options).process_private) return;  // the same
    const std::string near = nearest(topic.name, written(*a.endpoint, topic.name));
    const std::size_t more = topic.readers.size() - 1;
    problems_.warning(a.pointer,
                      fmt::format("no component of this file writes topic '{}', which {}{}", topic.name, owner(a),
                                  more > 0 ? fmt::format(" and {} more read", more) : " reads"),
                      (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) +
                          "Rename it in 'topics' of the component, or start a program that publishes it");
  }

  void options(const Topic& topic) {
    if (topic.writers.empty()) return;
    const Use& a = topic.first();
    for (const Use& b : topic.others()) {
      const TopicOptions x = c_.options_of(topic.name, a.endpoint->options);
      const TopicOptions y = c_.options_of(topic.name, b.endpoint->options);
      const bool depth = x.depth != y.depth;
      if (!depth && x.reliable == y.reliable) continue;
      const auto shown = [&](const TopicOptions& o) {
        if (depth) return fmt::format("depth {}", o.depth);
        return std::string(o.reliable ? "reliable" : "not reliable");
      };
      problems_.warning(b.pointer,
                        fmt::format("topic '{}' has {} for {}, but {} for {}{}", topic.name, shown(x), owner(a),
                                    shown(y), owner(b), b.endpoint->output ? "" : ": the writer's applies"),
                        fmt::format("include the same contract in both, or write '{}' of '{}' in 'topics' of the file",
                                    depth ? "depth" : "reliable", topic.name));
    }
  }

  void sizes(const Topic& topic) {
    if (topic.settings == nullptr || !topic.settings->max_bytes) return;
    for (const Use& writer : topic.writers) {
      const std::size_t wanted = writer.endpoint->options.max_bytes;
      if (wanted <= *topic.settings->max_bytes) continue;
      problems_.warning(topic.settings->pointer + "/max_bytes",
                        fmt::format("messages of topic '{}' may have {} bytes, but {} asks for {}: it cannot publish "
                                    "larger ones",
                                    topic.name, *topic.settings->max_bytes, owner(writer), wanted),
                        fmt::format("write at least {}, or remove it", wanted));
      return;
    }
  }

  /// A publisher reserves room for `depth` messages, its loans and one more.
  void memory() {
    constexpr double kMebibyte = 1024 * 1024;
    const auto limit = static_cast<double>(machine_.memory_bytes);
    if (limit <= 0) return;
    double all = 0;
    for (const auto& [name, topic] : topics_)
      for (const Use& writer : topic.writers) {
        const TopicOptions o = c_.options_of(name, writer.endpoint->options);
        double bytes = static_cast<double>(o.max_bytes) * (static_cast<double>(o.depth) + o.loans + 1);
        if (o.max_memory != 0) bytes = std::min(bytes, static_cast<double>(o.max_memory));
        all += bytes;
        if (bytes <= limit) continue;
        problems_.error(
            topic.settings != nullptr ? topic.settings->pointer : writer.pointer,
            fmt::format(
                "topic '{}' of {} needs {:.0f} MiB (depth {}, {} bytes a message), but this computer has {:.0f}", name,
                owner(writer), bytes / kMebibyte, o.depth, o.max_bytes, limit / kMebibyte),
            "lower 'depth' or 'max_bytes' of the topic in 'topics' of the file");
        return;
      }
    if (all > limit)
      problems_.warning("/processes",
                        fmt::format("the topics may need {:.0f} MiB of memory together, but this computer has {:.0f}",
                                    all / kMebibyte, limit / kMebibyte),
                        "lower a 'depth' or 'max_bytes' in 'topics' of the file");
  }

  void reserved(const Topic& topic) {
    if (!topic.name.starts_with("/cardan/") || topic.writers.empty()) return;
    const Use& writer = topic.writers.front();
    problems_.error(
        writer.pointer,
        fmt::format("{} writes topic '{}', but names below /cardan/ are Cardan's own", owner(writer), topic.name),
        "give it another name in 'topics' of the component");
  }

  void spins(const std::string& name, const TopicSettings& settings) {
    constexpr std::chrono::seconds kLong{1};
    if (!settings.spin || *settings.spin <= kLong) return;
    problems_.warning(settings.pointer + "/spin_us",
                      fmt::format("a reader of topic '{}' that waits may keep a CPU busy for {:.0f} s without a pause",
                                  name, static_cast<double>(settings.spin->count()) / 1e9),
                      "write microseconds: a spin longer than a wake-up (about 100) gains nothing");
  }

  void unused(const std::string& name, const TopicSettings& settings) {
    if (topics_.contains(name) || is_of_launcher(name) || !all_known_) return;
    for (const auto& [bus, topic] : topics_)
      for (const std::vector<Use>* uses : {&topic.writers, &topic.readers})
        for (const Use& use : *uses)
          if (use.endpoint->topic_in_code == name) {
            problems_.warning(
                settings.pointer,
                fmt::format("no component uses topic '{}': '{}' renames it to '{}'", name, use.component->name, bus),
                fmt::format("write '{}' here", bus));
            return;
          }
    std::vector<std::string> known;
    for (const auto& [bus, topic] : topics_) known.push_back(bus);
    problems_.warning(settings.pointer, fmt::format("no component uses topic '{}'", name),
                      suggestion(name, known, "remove it"));
  }

  /// An include's `topics` with a name that nothing inside has connects nothing.
  void unused_links(const IncludeLinks& links) {
    if (!all_known_) return;
    std::set<std::string> inside(links.in_text.begin(), links.in_text.end());
    for (const Process& process : c_.processes)
      for (const Component& component : process.components)
        if (links.name_space.empty() || component.name.starts_with(links.name_space + "."))
          topics_inside(component, links.naming, inside);
    for (const auto& [name, place] : links.open)
      if (!inside.contains(name))
        problems_.warning(join("/include/topics", name), place,
                          fmt::format("no component of the included file uses topic '{}'", name),
                          suggestion(name, {inside.begin(), inside.end()}, "remove it"));
  }

  /// The component's topics as the file that is included with `naming` calls them.
  void topics_inside(const Component& component, const Naming& naming, std::set<std::string>& names) const {
    const auto include = std::find(component.namings.begin(), component.namings.end(), naming);
    const auto in_code = in_code_.find(component.name);
    if (include == component.namings.end() || in_code == in_code_.end()) return;
    for (std::string name : in_code->second) {
      if (component.topics.contains(name)) continue;  // its name on the bus is in the text
      for (auto inner = component.namings.begin(); inner != include; ++inner) name = inner->name(name);
      names.insert(std::move(name));
    }
  }

  void watched(const Transition& t) {
    if (!all_known_) return;
    const std::string at = fmt::format("{}/when/{}", t.pointer, name_of(t.when.kind));
    const bool list = c_.source.values.contains(at + "/0");
    std::vector<std::string> known;
    for (const auto& [name, topic] : topics_)
      if (!topic.writers.empty()) known.push_back(name);
    for (std::size_t i = 0; i < t.when.names.size(); ++i) {
      const std::string& name = t.when.names[i];
      const auto found = topics_.find(name);
      if (is_of_launcher(name) || (found != topics_.end() && !found->second.writers.empty())) continue;
      problems_.warning(list ? fmt::format("{}/{}", at, i) : at,
                        fmt::format("no component of this file writes topic '{}', which a transition watches", name),
                        suggestion(name, known, "add the component, or remove the transition"));
    }
  }

  const Configuration& c_;
  const Machine& machine_;
  bool all_known_;
  std::map<std::string, std::vector<std::string>> in_code_;  ///< topics by component
  ProblemList& problems_;
  std::map<std::string, Topic> topics_;
};

}  // namespace

void check_topics(const Configuration& configuration, const Declarations& declared, const Machine& machine,
                  ProblemList& problems) {
  TopicCheck(configuration, declared, machine, problems).check();
}

}  // namespace cardan::config
