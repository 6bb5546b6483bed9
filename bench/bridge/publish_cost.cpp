// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/publish_cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "bench/results/statistics.hpp"

namespace cardan::bench::bridging {
namespace {

Summary pool(std::vector<double>& all, const std::vector<double>& round) {
  all.insert(all.end(), round.begin(), round.end());
  return summarize(all);
}

void set_ratio(Row& row, const std::string& name, double without, double with, std::optional<Target> target = {}) {
  if (without > 0 && with > 0) row.set(name, "×", with / without, target);
}

}  // namespace

void add_publish_round(Row& row, std::vector<double> without, std::vector<double> with, std::size_t bridges) {
  row.set("bridges", "", static_cast<double>(bridges));
  const Summary all_without = pool(row.samples["publish without"], without);
  const Summary all_with = pool(row.samples["publish with"], with);
  const Summary alone = summarize(std::move(without)), bridged = summarize(std::move(with));
  row.add("publish p50 without", "µs", alone.p50);
  row.add("publish p50 with", "µs", bridged.p50);
  row.add("publish p99 without", "µs", alone.p99);
  row.add("publish p99 with", "µs", bridged.p99);
  set_ratio(row, "p50 with / without", all_without.p50, all_with.p50);
  set_ratio(row, "p99 with / without", all_without.p99, all_with.p99, Target{.limit = kMostPublishRatio});
}

std::string publish_title(const std::string& what, const std::vector<std::string>& bridges,
                          const std::vector<std::string>& left_out) {
  std::string title = fmt::format("publish() of {} with one subscriber, without bridges and with {} bridge{}: {}", what,
                                  bridges.size(), bridges.size() == 1 ? "" : "s", fmt::join(bridges, ", "));
  if (!left_out.empty()) title += fmt::format(" (left out: {})", fmt::join(left_out, ", "));
  return title;
}

}  // namespace cardan::bench::bridging
