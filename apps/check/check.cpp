// SPDX-License-Identifier: Apache-2.0
// `cardan check`: everything that is wrong with a configuration file, at once.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/bridge/check_bridges.hpp"
#include "apps/check/check_programs.hpp"
#include "apps/command.hpp"
#include "apps/configuration_file.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "src/bridge/rules.hpp"
#include "src/config/chain_way.hpp"
#include "src/config/check.hpp"
#include "src/config/problem_list.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

constexpr const char* kCheckExamples = R"(Examples:
  cardan check street.json                            each problem as FILE:line:column: error: cause — remedy
  cardan check street.json --json | jq '.problems[]'
  cardan check street.json --no-components            the text and this computer only
  cardan check car.json --var lidar=true              with a variable of the file as `cardan run` gets it

Each component's on_start is called once, in a separate process and without topics, to find out what it declares: the
types of its topics, its parameters and its callbacks are checked against the file.
Exit codes: 0 nothing wrong (there may be warnings), 1 errors, 2 wrong options or no such file.)";

struct CheckOptions {
  std::string file;
  bool json = false, no_components = false;
  plan::PlanOptions changes{};
};

ordered_json problems_json(const std::vector<config::Problem>& problems, const std::string& file) {
  ordered_json list = ordered_json::array();
  for (const config::Problem& p : problems)
    list.push_back({{"file", p.file.empty() ? file : p.file},
                    {"line", p.line},
                    {"column", p.column},
                    {"severity", p.severity == config::Severity::Error ? "error" : "warning"},
                    {"pointer", p.pointer},
                    {"cause", p.cause},
                    {"remedy", p.remedy}});
  return {{"file", file}, {"valid", !config::has_errors(problems)}, {"problems", list}};
}

/// A chain with its way: absent if not all components between could be asked.
ordered_json json_of_way(const config::Chain& chain, const config::ChainWay& way) {
  ordered_json j{{"name", chain.name}, {"from", chain.from}, {"to", chain.to}};
  if (chain.budget.count() != 0) j["budget_ms"] = static_cast<double>(chain.budget.count()) / 1e6;
  if (!way.hops.empty()) {
    j["way"] = way.hops;
    j["components"] = way.components;
  }
  return j;
}

std::string counted(std::size_t number, const char* what) {
  return number == 0 ? std::string() : ", " + number_of(number, what);
}

int check_bridge(const CheckOptions& o, const std::string& text) {
  std::vector<config::Problem> problems;
  bridge::Rules rules;
  bridge::parse_rules(text, o.file, rules, problems);
  config::sort(problems);
  const bool bad = config::has_errors(problems);
  bool written = true;
  if (o.json) {
    written = emit(json_lines(problems_json(problems, o.file)));
  } else {
    show(problems, o.file);
    if (!bad)
      written = emit(fmt::format("{}: rules of a bridge, {} out, {} in; nothing wrong\n", o.file, rules.out.size(),
                                 rules.in.size()));
  }
  return bad || !written ? kFailed : kOk;
}

int check(const CheckOptions& o) {
  // A pipe can be read only once, and bridges' rules do not come through one.
  if (std::error_code ignored; std::filesystem::is_regular_file(o.file, ignored))
    if (const std::string text = config::read_text(o.file, config::kMaxTextBytes); bridge::is_bridge_text(text))
      return check_bridge(o, text);
  std::vector<config::Problem> problems;
  const config::Configuration configuration = plan::make_plan(o.file, o.changes, problems).configuration;
  const config::Machine machine = config::this_machine();
  std::vector<config::Problem> more;
  config::Declarations declared;
  if (!o.no_components)
    more = launcher::check_with_components(configuration, problems, machine, {}, &declared);
  else if (!config::has_errors(problems))
    more = config::check_machine(configuration, machine);
  problems.insert(problems.end(), more.begin(), more.end());
  const std::vector<config::Problem> of_bridges = check_bridges(configuration);
  problems.insert(problems.end(), of_bridges.begin(), of_bridges.end());
  const std::vector<config::Problem> of_programs = check_programs(configuration);
  problems.insert(problems.end(), of_programs.begin(), of_programs.end());
  config::sort(problems);
  const bool bad = config::has_errors(problems);
  if (o.json) {
    ordered_json all = problems_json(problems, o.file);
    for (const config::Chain& chain : configuration.chains)
      all["chains"].push_back(json_of_way(chain, way_of(configuration, declared, chain)));
    if (!emit(json_lines(all))) return kFailed;
    return bad ? kFailed : kOk;
  }
  show(problems, o.file);
  const auto errors = static_cast<std::size_t>(std::count_if(
      problems.begin(), problems.end(), [](const auto& p) { return p.severity == config::Severity::Error; }));
  std::size_t components = 0;
  std::size_t bridges = 0;
  std::size_t recorders = 0;
  std::size_t programs = 0;
  for (const auto& process : configuration.processes) {
    components += process.components.size();
    bridges += process.bridge ? 1U : 0U;
    recorders += process.record ? 1U : 0U;
    programs += process.command.empty() ? 0U : 1U;
  }
  const std::size_t warnings = problems.size() - errors;
  const std::string found =
      fmt::format("{} error{}, {} warning{}", errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
  if (bad)
    warn(fmt::format("{}: {}", o.file, found));
  else if (!emit(fmt::format(
               "{}: {}, {}{}{}{}{}; {}\n", o.file, number_of(configuration.processes.size(), "process", "es"),
               number_of(components, "component"), counted(bridges, "bridge"), counted(recorders, "recorder"),
               counted(programs, "program"), counted(configuration.transforms.size(), "transform"),
               problems.empty() ? "nothing wrong" : found)))
    return kFailed;
  for (const config::Chain& chain : configuration.chains)
    if (const config::ChainWay way = way_of(configuration, declared, chain); !bad && !way.hops.empty())
      if (!emit(fmt::format("chain '{}': {}\n", chain.name, config::text(way, chain)))) return kFailed;
  return bad ? kFailed : kOk;
}

}  // namespace

static void add_check_command(CLI::App& app) {
  auto* const command = app.add_subcommand("check", "Find everything that is wrong with a configuration file");
  command->footer(kCheckExamples);
  auto o = std::make_shared<CheckOptions>();
  command->add_option("file", o->file, "The configuration")->required();
  command->add_flag("--json", o->json, "One JSON object");
  command->add_flag("--no-components", o->no_components, "Do not load the components to find out what they declare");
  add_variables_option(*command, o->changes.variables);
  command->callback([o] {
    if (const int code = check(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kCheckCommand{210, add_check_command};

}  // namespace cardan::apps
