// SPDX-License-Identifier: Apache-2.0
// Values of parameters that an operator set at run time, of components that keep them ("keep": true).
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/system/launcher/supervisor.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::launcher {
namespace {

using nlohmann::json;

constexpr std::size_t kMostKept = 256;  ///< parameters of one component

std::optional<config::Value> value_in(const config::Component& component, const std::string& parameter) {
  const auto found = component.parameters.find(parameter);
  return found == component.parameters.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

/// A line of src/system/host/host_answers.cpp. Code of the process could write others.
void Supervisor::keep(std::size_t index, std::string_view words) {
  const json all = json::parse(words, nullptr, false);
  if (!all.is_object() || !all.contains("value")) return;
  const auto text = [&](const char* name) {
    return all.contains(name) && all[name].is_string() ? all[name].get<std::string>() : std::string();
  };
  const config::Component* const component = plan_->configuration.processes[index].component(text("component"));
  const std::string parameter = text("parameter");
  auto value = plan::value_of(all["value"]);
  if (component == nullptr || !component->keep || parameter.empty() || !value) return;
  auto& kept = slots_[index].kept[component->name];
  if (kept.size() < kMostKept || kept.contains(parameter)) kept.insert_or_assign(parameter, std::move(*value));
}

/// The plan that its next run gets. Throws Error as plan::seal().
void Supervisor::seal_kept(std::size_t index) {
  Slot& slot = slots_[index];
  slot.kept_plan = {};
  if (slot.kept.empty()) return;
  plan::Plan plan = *plan_;
  for (config::Component& component : plan.configuration.processes[index].components)
    if (const auto kept = slot.kept.find(component.name); kept != slot.kept.end())
      for (const auto& [parameter, value] : kept->second) component.parameters.insert_or_assign(parameter, value);
  slot.kept_plan = plan::seal(plan);
}

/// For a new plan: forgets kept values of parameters that the plan changes.
void Supervisor::forget_changed(Slot& slot, const config::Process& before, const config::Process& now) {
  for (auto kept = slot.kept.begin(); kept != slot.kept.end();) {
    const config::Component* const old = before.component(kept->first);
    const config::Component* const next = now.component(kept->first);
    const bool gone = old == nullptr || next == nullptr || !next->keep;
    for (auto one = kept->second.begin(); one != kept->second.end();)
      one =
          gone || value_in(*old, one->first) != value_in(*next, one->first) ? kept->second.erase(one) : std::next(one);
    kept = kept->second.empty() ? slot.kept.erase(kept) : std::next(kept);
  }
}

}  // namespace cardan::launcher
