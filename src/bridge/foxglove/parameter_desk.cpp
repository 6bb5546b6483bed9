// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/parameter_desk.hpp"

#include <map>
#include <set>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::int64_t kFresh = 200'000'000;       ///< ns
constexpr std::int64_t kMostTime = 5'000'000'000;  ///< ns; each parameter may take seconds
constexpr std::size_t kShownName = 200;            ///< bytes

Parameters named(Parameters all, const std::set<std::string>& names) {
  if (!names.empty()) std::erase_if(all, [&](const auto& one) { return !names.contains(one.first); });
  return all;
}

}  // namespace

const host::DomainComponents& ParameterDesk::there() {
  if (asked_ns_ == 0 || steady_now() - asked_ns_ >= kFresh) {
    asked_ns_ = 0;
    there_ = components_.look();
    asked_ns_ = steady_now();
  }
  return there_;
}

Parameters ParameterDesk::all() {
  Parameters all;
  for (const host::ComponentReport& component : there().components)
    for (const host::ParameterReport& p : component.parameters) all[component.name + "/" + p.name] = p.value;
  return all;
}

std::string ParameterDesk::answer(const GetParameters& request) {
  return parameters_text(named(all(), request.names), request.request);
}

std::string ParameterDesk::answer(const SetParameters& request) {
  const std::int64_t until = steady_now() + kMostTime;
  std::map<std::string, std::pair<const host::ComponentReport*, const host::ParameterReport*>> known;
  for (const host::ComponentReport& component : there().components)
    for (const host::ParameterReport& p : component.parameters) known[component.name + "/" + p.name] = {&component, &p};
  std::set<std::string> names;
  for (const auto& [name, value] : request.parameters) {
    if (components_.stops()) break;
    const std::string shown = "'" + name.substr(0, kShownName) + "'";
    if (steady_now() > until)
      throw Error(ErrorCode::Unavailable,
                  "the components were busy for five seconds: " + shown + " and those after it by name are not set",
                  "set fewer at once");
    const auto it = known.find(name);
    if (it == known.end())
      throw Error(ErrorCode::InvalidArgument, "no component has a parameter " + shown, "cardan param list names them");
    const auto& [component, parameter] = it->second;
    asked_ns_ = 0;  // the next look shows what it has become
    components_.set(*component, parameter->name, config::as_type_of(parameter->value, value));
    names.insert(name);
  }
  return parameters_text(named(all(), names), request.request);
}

}  // namespace cardan::bridge::foxglove
