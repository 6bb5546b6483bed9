// SPDX-License-Identifier: Apache-2.0
// `cardan param`: the parameters of components that run.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "apps/command.hpp"
#include "apps/component/components.hpp"
#include "apps/component/others.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "apps/verb.hpp"
#include "cardan/error.hpp"
#include "src/base/text_of_json.hpp"
#include "src/config/suggest.hpp"
#include "src/runtime/parameter_words.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::apps {
namespace {

using host::ComponentReport;
using host::ParameterReport;
using nlohmann::ordered_json;

constexpr const char* kParamExamples = R"(Examples:
  cardan param list                                   all parameters of all components that run
  cardan param list detector                          those of one
  cardan param get detector/threshold
  cardan param set detector/threshold 0.6             the component may refuse it, with a reason
  cardan param save tuned.json                        all values, for cardan run FILE --parameters tuned.json

A change holds until the component or its process restarts; it then starts with the values of `cardan run`'s file and options.
Exit codes: 0 ok, 1 no such component or parameter, or the change was refused, 2 wrong options.)";

constexpr const char* kParamListExamples = R"(Examples:
  cardan param list
  cardan param list detector --json | jq '.parameters[] | {parameter, value}')";

constexpr const char* kGetExamples = R"(Examples:
  cardan param get detector/threshold                 0.5
  cardan param get detector/threshold --json          also its type, range and description)";

constexpr const char* kSetExamples = R"(Examples:
  cardan param set detector/threshold 0.6
  cardan param set detector/night true
  cardan param set planner/offset -- -0.5             a value that starts with a minus)";

constexpr const char* kSaveExamples = R"(Examples:
  cardan param save tuned.json                        of all components that run
  cardan param save tuned.json detector               of one
  cardan run street.json --parameters tuned.json      starts with them

The file appears under its name only when it is complete.
Exit codes: 0 ok, 1 no such component, or the file already exists, 2 wrong options, 3 saved, but a process did not
answer or does not run, or a value could not be saved.)";

struct ParamOptions {
  std::string domain, what, value;
  bool json = false, names = false, force = false;
};

ordered_json value_json(const config::Value& value) {
  return std::visit([](const auto& v) { return ordered_json(v); }, value);
}

ordered_json parameter_json(const ComponentReport& c, const ParameterReport& p) {
  return {{"component", c.name},
          {"parameter", p.name},
          {"type", config::type_of(p.value)},
          {"value", value_json(p.value)},
          {"min", p.min ? value_json(*p.min) : ordered_json(nullptr)},
          {"max", p.max ? value_json(*p.max) : ordered_json(nullptr)},
          {"fixed", p.fixed},
          {"description", p.description},
          {"process", c.process},
          {"pid", c.pid}};
}

std::string range_text(const ParameterReport& p) {
  if (p.min && p.max) return fmt::format("{} to {}", config::text(*p.min), config::text(*p.max));
  if (p.min) return fmt::format("from {}", config::text(*p.min));
  if (p.max) return fmt::format("up to {}", config::text(*p.max));
  return "";
}

/// A word of the command line as a value of a parameter's type; nothing: it is not one.
std::optional<config::Value> value_of(const std::string& word, const config::Value& like) {
  if (std::holds_alternative<std::string>(like)) return word;
  if (config::is_list(like)) {
    auto list = plan::value_in_json(word);
    if (!list) return std::nullopt;
    list = config::as_type_of(like, *std::move(list));
    return list->index() == like.index() ? list : std::nullopt;
  }
  if (std::holds_alternative<bool>(like)) {
    if (word == "true" || word == "false") return word == "true";
    return std::nullopt;
  }
  const char* const end = word.data() + word.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(word.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
    return whole;  // also where a double is wanted
  double number = 0;
  if (const auto read = std::from_chars(word.data(), end, number);
      read.ec == std::errc{} && read.ptr == end && std::isfinite(number))
    return number;
  return std::nullopt;
}

struct Found {
  const ComponentReport* component = nullptr;
  const ParameterReport* parameter = nullptr;
};

/// The one parameter called "component/parameter"; else the reason was printed.
std::optional<Found> find_parameter(const host::DomainComponents& all, const std::string& what) {
  const auto slash = what.rfind('/');
  const std::string component = what.substr(0, slash);
  const std::string parameter = slash == std::string::npos ? "" : what.substr(slash + 1);
  std::vector<Found> found;
  const ComponentReport* there = nullptr;
  for (const ComponentReport& c : all.components) {
    if (c.name != component) continue;
    there = &c;
    for (const ParameterReport& p : c.parameters)
      if (p.name == parameter) found.push_back({&c, &p});
  }
  if (found.size() == 1) return found.front();
  if (there == nullptr) {
    no_such_component(all, component);
  } else if (found.empty()) {
    std::vector<std::string> names;
    for (const ParameterReport& p : there->parameters) names.push_back(p.name);
    const std::string which = config::suggestion(parameter, names, "it has none");
    warn(parameter.empty() ? fmt::format("name a parameter of component '{0}' as {0}/PARAMETER — {1}", component, which)
                           : fmt::format("component '{}' has no parameter '{}' — {}", component, parameter, which));
  } else {
    warn(fmt::format("{} components are called '{}' — give each `cardan run` of this computer its own domain",
                     found.size(), component));
  }
  return std::nullopt;
}

std::string no_parameters(const host::DomainComponents& all, bool of_one) {
  if (of_one || !all.components.empty()) return "no parameters\n";
  return fmt::format("no components run — {}\n", why_none(all.others, kStartSome));
}

int list_parameters(const ParamOptions& o) {
  const host::DomainComponents all = components_there(o.domain);
  ordered_json parameters = ordered_json::array();
  Table table({{"PARAMETER"}, {"VALUE"}, {"TYPE"}, {"RANGE"}, {"DESCRIPTION"}});
  std::string names;
  bool known = o.what.empty();
  for (const ComponentReport& c : all.components) {
    if (!o.what.empty() && c.name != o.what) continue;
    known = true;
    for (const ParameterReport& p : c.parameters) {
      const std::string name = printable(c.name + "/" + p.name);
      parameters.push_back(parameter_json(c, p));
      names += name + "\n";
      table.row({name, printable(config::text(p.value)), std::string(config::type_of(p.value)),
                 printable(range_text(p)), printable(p.description + (p.fixed ? " (only in the configuration)" : ""))});
    }
  }
  if (!known) return no_such_component(all, o.what);
  const std::string text = o.names         ? names
                           : o.json        ? one_line({{"parameters", parameters}}) + "\n"
                           : names.empty() ? no_parameters(all, !o.what.empty())
                                           : table.shown();
  return emit(text) ? kOk : kFailed;
}

int get(const ParamOptions& o) {
  host::ControlClient client({.domain = o.domain});
  const host::DomainComponents all = components_there(client);
  const auto found = find_parameter(all, o.what);
  if (!found) return kFailed;
  return emit((o.json ? one_line(parameter_json(*found->component, *found->parameter))
                      : printable(config::text(found->parameter->value))) +
              "\n")
             ? kOk
             : kFailed;
}

int set(const ParamOptions& o) {
  host::ControlClient client({.domain = o.domain});
  const host::DomainComponents all = components_there(client);
  const auto found = find_parameter(all, o.what);
  if (!found) return kFailed;
  const ParameterReport& p = *found->parameter;
  const auto value = value_of(o.value, p.value);
  if (!value) {
    warn(fmt::format("parameter '{}' is {}, and '{}' is not — {}", o.what, detail::noun_of(p.value), o.value,
                     std::holds_alternative<bool>(p.value) ? "use true or false"
                     : config::is_list(p.value)            ? "use a list as JSON has it, as '[1, 2]'"
                     : range_text(p).empty()               ? "use a number, as 3 or 0.5"
                                                           : "use a number, " + range_text(p)));
    return kFailed;
  }
  try {
    client.set_parameter(*found->component, p.name, *value);
  } catch (const Error& e) {  // the component's word, not the command line's fault
    warn(e.what());
    return kFailed;
  }
  if (!o.json)
    return emit(fmt::format("{} = {}\n", printable(o.what), printable(config::text(*value)))) ? kOk : kFailed;
  const ordered_json said{{"component", found->component->name},
                          {"parameter", p.name},
                          {"value", value_json(*value)},
                          {"before", value_json(p.value)}};
  return emit(one_line(said) + "\n") ? kOk : kFailed;
}

/// Replaces or makes the file in one step: a reader sees one of them in full. Throws Error (System).
void write_whole(const std::string& path, const std::string& text, bool force) {
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  const auto cannot = [&](const char* what) {
    const int error = errno;
    ::unlink(beside.c_str());
    return Error(
        ErrorCode::System, fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(error)),
        error == EEXIST ? "give another name, or --force" : "check the path, its rights, and whether the disk is full");
  };
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) throw cannot("write");
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t wrote = ::write(fd, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    at += static_cast<std::size_t>(wrote);
  }
  const bool whole = at == text.size() && ::fsync(fd) == 0;
  if (::close(fd) != 0 || !whole) throw cannot("write");
  if (::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, path.c_str(), force ? 0U : RENAME_NOREPLACE) == 0) return;
  if (force || (errno != EINVAL && errno != ENOSYS)) throw cannot("write");
  // A file system (NFS, some of FUSE) without that flag; a second name for it does not replace one either.
  if (::link(beside.c_str(), path.c_str()) != 0) throw cannot("write");
  ::unlink(beside.c_str());
}

int save(const ParamOptions& o) {
  host::ControlClient client({.domain = o.domain});
  const host::DomainComponents all = components_there(client);
  bool lost = !all.problems.empty() || !all.others.empty();
  ordered_json parameters = ordered_json::object();
  std::size_t count = 0;
  for (const ComponentReport& c : all.components) {
    if (!o.what.empty() && c.name != o.what) continue;
    if (parameters.contains(c.name)) {
      warn(fmt::format("two components are called '{}' — give each `cardan run` of this computer its own domain",
                       printable(c.name)));
      return kFailed;
    }
    ordered_json& its = parameters[c.name] = ordered_json::object();
    for (const ParameterReport& p : c.parameters) {
      const std::vector<config::Value> all_of_it = config::elements_of(p.value);
      if (std::any_of(all_of_it.begin(), all_of_it.end(), [](const config::Value& v) {
            const auto* d = std::get_if<double>(&v);
            return d != nullptr && !std::isfinite(*d);
          })) {
        warn(fmt::format("{}/{} is {}, which JSON cannot represent: it is not saved", printable(c.name),
                         printable(p.name), config::text(p.value)));
        lost = true;
        continue;
      }
      its[p.name] = value_json(p.value);
      ++count;
    }
  }
  if (!o.what.empty() && parameters.empty()) return no_such_component(all, o.what);
  for (const host::DownComponent& c : all.down) {
    if (!o.what.empty()) break;
    warn(
        fmt::format("component '{}' does not run, its process '{}' is {}: its values are not saved — cardan component "
                    "restart {} starts it",
                    printable(c.name), printable(c.process.name), c.process.state, printable(c.name)));
    lost = true;
  }
  try {
    write_whole(o.value, text_of_json(ordered_json{{"parameters", parameters}}, 2) + "\n", o.force);
  } catch (const Error& e) {
    warn(e.what());
    return kFailed;
  }
  const std::string said =
      o.json ? one_line({{"file", o.value}, {"components", parameters.size()}, {"parameters", count}})
             : fmt::format("{}: {} parameter{} of {} component{}", printable(o.value), count, count == 1 ? "" : "s",
                           parameters.size(), parameters.size() == 1 ? "" : "s");
  if (!emit(said + "\n")) return kFailed;
  return lost ? kLoss : kOk;
}

}  // namespace

static void add_param_command(CLI::App& app) {
  auto* const group = app.add_subcommand("param", "Parameters of components that run: list, get, set, save");
  group->footer(kParamExamples);
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const char* examples, int (*run)(const ParamOptions&)) {
    auto o = std::make_shared<ParamOptions>();
    auto* const command = add_verb(group, name, what, examples);
    add_domain_option(command, o->domain);
    command->add_flag("--json", o->json, "One JSON object");
    list_with(command, run, o,
              [name = std::string(name)](const ParamOptions& given) { return !given.what.empty() || name != "list"; });
    return std::pair(command, o);
  };
  const auto [list_command, list_options] =
      add("list", "List values, types, ranges and descriptions", kParamListExamples, list_parameters);
  list_command->add_option("component", list_options->what, "Only parameters of this component");
  list_command->add_flag("--names", list_options->names, "Only the names, one per line");
  const auto [get_command, get_options] = add("get", "Print a parameter's value", kGetExamples, get);
  get_command->add_option("parameter", get_options->what, "COMPONENT/PARAMETER")->required();
  const auto [set_command, set_options] = add("set", "Change a parameter while its component runs", kSetExamples, set);
  set_command->add_option("parameter", set_options->what, "COMPONENT/PARAMETER")->required();
  set_command->add_option("value", set_options->value, "The new value")->required();
  const auto [save_command, save_options] = add("save", "Write the values to a file", kSaveExamples, save);
  save_command->add_option("file", save_options->value, "The file to write")->required();
  save_command->add_option("component", save_options->what, "Only parameters of this component");
  save_command->add_flag("--force", save_options->force, "Replace the file if it exists");
}

const Command kParamCommand{240, add_param_command};

}  // namespace cardan::apps
