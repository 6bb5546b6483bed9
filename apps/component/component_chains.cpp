// SPDX-License-Identifier: Apache-2.0
#include "apps/component/component_chains.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/component/component_fusions.hpp"
#include "apps/report_json.hpp"

namespace cardan::apps {

using host::ChainHopReport;
using host::ChainReport;
using nlohmann::ordered_json;

ChainReport less(ChainReport now, const ChainReport& before) {
  if (before.publications > now.publications) return now;
  now.age = less(now.age, before.age);
  for (auto count : {&ChainReport::publications, &ChainReport::late, &ChainReport::unknown})
    now.*count -= std::min(now.*count, before.*count);
  for (ChainHopReport& hop : now.hops)
    for (const ChainHopReport& old : before.hops)
      if (old.component == hop.component) {
        hop.longest -= std::min(hop.longest, old.longest);
        hop.late -= std::min(hop.late, old.late);
      }
  std::erase_if(now.hops, [](const ChainHopReport& hop) { return hop.longest == 0; });
  return now;
}

void subtract(std::vector<ChainReport>& now, const std::vector<ChainReport>& before) {
  for (ChainReport& x : now)
    for (const ChainReport& y : before)
      if (y.chain == x.chain) x = less(std::move(x), y);
}

ordered_json chain_json(const ChainReport& figures, const ChainReport& totals) {
  ordered_json hops = ordered_json::array();
  for (const ChainHopReport& hop : figures.hops)
    hops.push_back({{"component", hop.component},
                    {"longest", hop.longest},
                    {"late", hop.late},
                    {"longest_us", static_cast<double>(hop.longest_ns) / 1e3}});
  const bool known = totals.greatest_age != 0 || !totals.age.empty();
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  return {{"name", figures.chain},
          {"from", figures.from},
          {"to", figures.to},
          {"budget_ms", figures.budget_ns == 0 ? ordered_json() : ordered_json(ms(figures.budget_ns))},
          {"publications", figures.publications},
          {"late", figures.late},
          {"unknown", figures.unknown},
          {"age_us", latency_json(figures.age)},
          {"greatest_us", known ? ordered_json(static_cast<double>(totals.greatest_age) / 1e3) : ordered_json()},
          {"hops", hops},
          {"publications_total", totals.publications},
          {"late_total", totals.late},
          {"last_late_ago_ms", totals.late_ago_ns < 0 ? ordered_json() : ordered_json(ms(totals.late_ago_ns))}};
}

void add_chain_rows(Table& table, const std::vector<ChainReport>& chains, double seconds, bool narrow,
                    std::string& component) {
  for (const ChainReport& x : chains)
    table.row({std::exchange(component, ""), "⇒ " + printable(x.chain),
               count_text(static_cast<double>(x.publications) / seconds), "", "", "",
               x.greatest_age == 0 ? "" : time_text(static_cast<double>(x.greatest_age)),
               percentiles_text(x.age, narrow), "", "", "", "", std::to_string(x.late)});
}

}  // namespace cardan::apps
