// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"
#include "src/base/crc32c.hpp"
#include "src/system/plan/adjust.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::plan {
namespace {

namespace fs = std::filesystem;

std::uint32_t checksum_of(const std::string& text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

/// Remembers a file by its content; what cannot be read again, as a pipe, is left out.
void add_file(Plan& plan, const std::string& path, const std::string& text) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return;
  const std::string absolute = fs::absolute(path, ignored).lexically_normal().string();
  const auto is_it = [&](const PlanFile& f) { return f.path == absolute; };
  if (std::none_of(plan.files.begin(), plan.files.end(), is_it))
    plan.files.push_back({.path = absolute, .bytes = text.size(), .checksum = checksum_of(text)});
}

constexpr std::size_t kMaxParameterBytes = std::size_t{16} << 20U;

/// The output of `cardan param save`, as `--set` takes it.
std::vector<std::string> saved(const std::string& file, Plan& plan) {
  using nlohmann::json;
  const auto wrong = [&](const std::string& why) {
    return Error(ErrorCode::InvalidArgument, fmt::format("cannot use the parameters in {}: {}", file, why),
                 "give a file that `cardan param save` wrote");
  };
  std::string text;
  try {
    text = config::read_text(file, kMaxParameterBytes);
  } catch (const Error&) {
    throw wrong("it cannot be read");
  }
  if (text.size() > kMaxParameterBytes) throw wrong("it has more than 16 MiB");
  add_file(plan, file, text);
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("parameters") || !all["parameters"].is_object())
    throw wrong("it is not a JSON object with \"parameters\"");
  std::vector<std::string> assignments;
  for (const auto& [component, parameters] : all["parameters"].items()) {
    if (!parameters.is_object()) throw wrong(fmt::format("\"{}\" is not an object", component));
    for (const auto& [name, value] : parameters.items()) {
      const auto v = value_of(value);
      if (!v)
        throw wrong(
            fmt::format("\"{}/{}\" is neither true or false, nor a number, a text or a list of such", component, name));
      assignments.push_back(assignment_of(component, name, *v));
    }
  }
  return assignments;
}

std::string used_domain(const config::Configuration& configuration, const std::string& given) {
  if (!given.empty()) return given;
  if (std::string domain = domain_of(configuration); !domain.empty()) return domain;
  const char* const set = std::getenv("CARDAN_DOMAIN");
  return set != nullptr && *set != '\0' ? set : "default";
}

}  // namespace

Plan make_plan(const std::string& file, const PlanOptions& options, std::vector<config::Problem>& problems) {
  Plan plan;
  std::error_code ignored;
  plan.folder = fs::current_path(ignored).string();
  const std::string text = config::read_configuration_text(file);
  add_file(plan, file, text);
  std::vector<config::Problem> found;
  plan.configuration = config::parse_configuration(
      text, file, found, {.variables = options.variables, .read = [&plan](const std::string& path, std::size_t most) {
                            std::string included = config::read_text(path, most);
                            if (included.size() <= most) add_file(plan, path, included);
                            return included;
                          }});
  const bool bad = config::has_errors(found);
  problems.insert(problems.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  config::Configuration& c = plan.configuration;
  c.domain = used_domain(c, options.domain);
  if (bad) return plan;
  if (!options.parameters.empty())
    for (const std::string& assignment : saved(options.parameters, plan))
      set_parameter(c, assignment, fmt::format("--parameters {}:", options.parameters));
  for (const std::string& assignment : options.set) set_parameter(c, assignment);
  remap_topics(c, options.remap);
  for (const std::string& level : options.log_levels) set_log_level(c, level, plan.log_levels);
  if (options.one_process) c = one_process(std::move(c));
  return plan;
}

Plan make_plan(const std::string& file, const PlanOptions& options) {
  std::vector<config::Problem> problems;
  Plan plan = make_plan(file, options, problems);
  for (const config::Problem& problem : problems)
    if (problem.severity == config::Severity::Error)
      throw Error(ErrorCode::InvalidArgument, config::text(problem, file), "see: cardan check " + file);
  return plan;
}

std::vector<ChangedFile> changed_files(const Plan& plan) {
  std::vector<ChangedFile> changed;
  for (const PlanFile& file : plan.files) {
    try {
      const std::string text = config::read_text(file.path, kMaxParameterBytes);
      if (text.size() != file.bytes || checksum_of(text) != file.checksum) changed.push_back({file.path, "changed"});
    } catch (const Error&) {
      changed.push_back({file.path, "cannot be read"});
    }
  }
  return changed;
}

}  // namespace cardan::plan
