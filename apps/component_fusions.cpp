// SPDX-License-Identifier: Apache-2.0
#include "apps/component_fusions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cardan::apps {
namespace {

using host::FusionInputReport;
using host::FusionReport;
using nlohmann::ordered_json;

struct Counter {
  const char* name;
  std::uint64_t FusionInputReport::* count;
};
/// All but `waiting`, which is no count of what has happened.
constexpr std::array kCounters{Counter{"offered", &FusionInputReport::offered},
                               Counter{"used", &FusionInputReport::used},
                               Counter{"unfired", &FusionInputReport::unfired},
                               Counter{"replaced", &FusionInputReport::replaced},
                               Counter{"overtaken", &FusionInputReport::overtaken},
                               Counter{"pushed_out", &FusionInputReport::pushed_out},
                               Counter{"late", &FusionInputReport::late},
                               Counter{"cleared", &FusionInputReport::cleared},
                               Counter{"never_arrived", &FusionInputReport::never_arrived},
                               Counter{"too_old", &FusionInputReport::too_old},
                               Counter{"absent", &FusionInputReport::absent},
                               Counter{"unstamped", &FusionInputReport::unstamped}};

}  // namespace

FusionReport less(FusionReport now, const FusionReport& before) {
  if (before.fired > now.fired || before.inputs.size() != now.inputs.size()) return now;
  now.fired -= before.fired;
  for (std::size_t i = 0; i < now.inputs.size(); ++i)
    for (const Counter& c : kCounters)
      now.inputs[i].*c.count -= std::min(now.inputs[i].*c.count, before.inputs[i].*c.count);
  return now;
}

ordered_json fusion_json(const FusionReport& figures, const FusionReport& totals, double seconds) {
  ordered_json inputs = ordered_json::array();
  for (const FusionInputReport& in : figures.inputs) {
    ordered_json one{{"input", in.name}, {"topic", in.topic}};
    for (const Counter& c : kCounters) one[c.name] = in.*c.count;
    one["waiting"] = in.waiting;
    inputs.push_back(std::move(one));
  }
  return {{"fusion", figures.name},
          {"policy", figures.policy},
          {"time", figures.time},
          {"rate_hz", static_cast<double>(figures.fired) / seconds},
          {"fired", figures.fired},
          {"fired_total", totals.fired},
          {"silent", figures.silent ? ordered_json(figures.why) : ordered_json(nullptr)},
          {"inputs", inputs}};
}

void add_fusion_rows(Table& table, const FusionReport& figures, double seconds, std::string& component) {
  table.row({std::exchange(component, ""),
             fmt::format("{} ({} by {})", printable(figures.name), figures.policy, figures.time),
             count_text(static_cast<double>(figures.fired) / seconds), "", "", "", figures.silent ? "no set" : "", "",
             "", "", "", ""});
  for (const FusionInputReport& in : figures.inputs) {
    const std::uint64_t lost =
        in.unfired + in.replaced + in.overtaken + in.pushed_out + in.late + in.cleared;  // what was offered for nothing
    std::vector<std::string> why;
    for (const auto& [what, count] : {std::pair{"unfired", in.unfired},
                                      {"replaced", in.replaced},
                                      {"overtaken", in.overtaken},
                                      {"pushed out", in.pushed_out},
                                      {"late", in.late},
                                      {"cleared", in.cleared},
                                      {"unstamped", in.unstamped}})
      if (count != 0) why.push_back(fmt::format("{} {}", count, what));
    table.row({"", "  " + printable(in.name), count_text(static_cast<double>(in.offered) / seconds), "", "", "", "",
               std::to_string(in.waiting),
               why.empty() ? std::to_string(lost) : fmt::format("{} ({})", lost, fmt::join(why, ", ")), "", "", ""});
  }
}

std::string silent_fusions(const std::vector<host::ComponentReport>& components) {
  std::string out;
  for (const host::ComponentReport& c : components)
    for (const FusionReport& f : c.fusions)
      if (f.silent)
        out += fmt::format("{}: fusion '{}' gets samples and makes no set: {}\n", printable(c.name), printable(f.name),
                           printable(f.why));
  return out;
}

}  // namespace cardan::apps
