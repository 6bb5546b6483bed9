// SPDX-License-Identifier: Apache-2.0
#include "apps/trace/hop_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/terminal/output.hpp"
#include "src/base/text_of_json.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;
using trace::HopTimes;
using trace::percentile_of;
using trace::TracedFrame;
using trace::TracedWay;

constexpr std::size_t kSlowest = 10;
constexpr std::size_t kMostMeanwhile = 3;

using Pick = std::function<std::int64_t(const TracedFrame&)>;

std::vector<std::int64_t> all_of(const TracedWay& way, const Pick& pick) {
  std::vector<std::int64_t> values;
  values.reserve(way.frames.size());
  for (const TracedFrame& frame : way.frames) values.push_back(pick(frame));
  return values;
}

double mean_of(const std::vector<std::int64_t>& values) {
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Of each frame, from end to end.
std::vector<std::int64_t> whole_of(const TracedWay& way) {
  return all_of(way, [](const TracedFrame& f) { return f.all(); });
}

std::vector<std::int64_t> whole_of(const trace::TracedChain& chain) {
  std::vector<std::int64_t> all;
  for (const TracedWay& way : chain.ways) {
    const std::vector<std::int64_t> times = whole_of(way);
    all.insert(all.end(), times.begin(), times.end());
  }
  return all;
}

std::string whole_text(const std::vector<std::int64_t>& times) {
  return fmt::format("{}, end to end p50 {}, p99 {}, mean {}", number_of(times.size(), "frame"),
                     time_text(static_cast<double>(percentile_of(times, 50))),
                     time_text(static_cast<double>(percentile_of(times, 99))), time_text(mean_of(times)));
}

/// The parts of one hop, and their sum.
std::vector<std::pair<const char*, Pick>> parts_of(std::size_t hop) {
  return {{"transport", [hop](const TracedFrame& f) { return f.hops[hop].transport; }},
          {"waiting", [hop](const TracedFrame& f) { return f.hops[hop].waiting; }},
          {"running", [hop](const TracedFrame& f) { return f.hops[hop].running; }},
          {"all", [hop](const TracedFrame& f) { return f.hops[hop].all(); }}};
}

std::string two_times(const std::vector<std::int64_t>& values) {
  return time_text(static_cast<double>(percentile_of(values, 50))) + " / " +
         time_text(static_cast<double>(percentile_of(values, 99)));
}

std::size_t slowest_hop(const TracedFrame& frame) {
  const auto slowest = std::max_element(frame.hops.begin(), frame.hops.end(),
                                        [](const HopTimes& a, const HopTimes& b) { return a.all() < b.all(); });
  return static_cast<std::size_t>(slowest - frame.hops.begin());
}

std::vector<const TracedFrame*> slowest_frames(const TracedWay& way) {
  std::vector<const TracedFrame*> slowest;
  for (const TracedFrame& frame : way.frames)
    if (!frame.hops.empty()) slowest.push_back(&frame);
  const auto end = slowest.begin() + static_cast<std::ptrdiff_t>(std::min(kSlowest, slowest.size()));
  std::partial_sort(slowest.begin(), end, slowest.end(),
                    [](const TracedFrame* a, const TracedFrame* b) { return a->all() > b->all(); });
  slowest.erase(end, slowest.end());
  return slowest;
}

std::string table_of(const TracedWay& way) {
  Table table({{"HOP"},
               {"TO"},
               {"TRANSPORT p50 / p99", true},
               {"WAITING", true},
               {"RUNNING", true},
               {"MEAN", true},
               {"SHARE", true}});
  const double whole = mean_of(whole_of(way));
  for (std::size_t hop = 0; hop < way.hops.size(); ++hop) {
    std::vector<std::string> cells{printable(way.hops[hop].by), printable(way.hops[hop].to)};
    for (const auto& [name, pick] : parts_of(hop))
      if (std::string_view(name) != "all") cells.push_back(two_times(all_of(way, pick)));
    const double mean = mean_of(all_of(way, [hop](const TracedFrame& f) { return f.hops[hop].all(); }));
    cells.push_back(time_text(mean));
    cells.push_back(whole > 0 ? fmt::format("{:.0f} %", 100 * mean / whole) : "-");
    table.row(std::move(cells));
  }
  return table.shown();
}

std::string ran_text(const std::vector<trace::RanCallback>& ran) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostMeanwhile, ran.size()); ++i)
    text +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(ran[i].name), time_text(static_cast<double>(ran[i].ns)));
  return text.empty() ? "-" : text;
}

std::string slow_frames_text(const TracedWay& way, const Meanwhile& meanwhile) {
  Table table({{"FRAME", true}, {"TIME", true}, {"SLOWEST HOP"}, {"TOOK", true}, {"MEANWHILE ON ITS PROCESSOR"}});
  for (const TracedFrame* frame : slowest_frames(way)) {
    const std::size_t hop = slowest_hop(*frame);
    table.row({fmt::format("{}", frame->sequence), time_text(static_cast<double>(frame->all())),
               printable(way.hops[hop].by), time_text(static_cast<double>(frame->hops[hop].all())),
               ran_text(meanwhile(frame->hops[hop], way.hops[hop].by))});
  }
  return table.shown();
}

double in_us(double ns) { return ns / 1000; }

ordered_json figures_of(const std::vector<std::int64_t>& values) {
  return {{"mean", in_us(mean_of(values))},
          {"p50", in_us(static_cast<double>(percentile_of(values, 50)))},
          {"p99", in_us(static_cast<double>(percentile_of(values, 99)))}};
}

ordered_json frame_json(const TracedFrame& frame) {
  ordered_json hops = ordered_json::array();
  for (const HopTimes& hop : frame.hops)
    hops.push_back({{"sequence", hop.sequence},
                    {"transport_us", in_us(static_cast<double>(hop.transport))},
                    {"waiting_us", in_us(static_cast<double>(hop.waiting))},
                    {"running_us", in_us(static_cast<double>(hop.running))}});
  return {{"sequence", frame.sequence},
          {"from_sequence", frame.first_sequence},
          {"from_ns", frame.first_ns},
          {"hops", std::move(hops)}};
}

}  // namespace

std::string hop_tables(const trace::TracedChain& chain, const std::string& from, const std::string& to,
                       const Meanwhile& meanwhile) {
  std::string text;
  for (const TracedWay& way : chain.ways) {
    text += fmt::format("{} → {}: {}\n", printable(from), printable(to), whole_text(whole_of(way)));
    if (way.hops.empty()) continue;
    text += table_of(way) + "Shares are of the mean: means of hops add up, percentiles do not.\n\n";
    text += slow_frames_text(way, meanwhile) + "\n";
  }
  if (chain.ways.size() > 1)
    text += fmt::format("These {} ways: {}.\n", chain.ways.size(), whole_text(whole_of(chain)));
  if (chain.from_others != 0)
    text += fmt::format("Resting on nothing of {}: {} on {}.\n", printable(from),
                        number_of(chain.from_others, "publication"), printable(to));
  if (chain.incomplete != 0)
    text += fmt::format("Not traced on the whole way: {} on {}.\n", number_of(chain.incomplete, "publication"),
                        printable(to));
  if (chain.more_ways != 0)
    text += fmt::format("On further ways than these {}: {} on {}.\n", chain.ways.size(),
                        number_of(chain.more_ways, "publication"), printable(to));
  if (chain.disputed != 0)
    text += fmt::format("Left out: {}, each in a stream that another process publishes.\n",
                        number_of(chain.disputed, "publication"));
  return text;
}

std::string hops_json(const trace::TracedChain& chain, const std::string& from, const std::string& to,
                      const Meanwhile& meanwhile, bool each_frame) {
  ordered_json ways = ordered_json::array();
  for (const TracedWay& way : chain.ways) {
    ordered_json hops = ordered_json::array();
    for (std::size_t hop = 0; hop < way.hops.size(); ++hop) {
      ordered_json one{{"by", way.hops[hop].by}, {"to", way.hops[hop].to}};
      for (const auto& [name, pick] : parts_of(hop)) one[std::string(name) + "_us"] = figures_of(all_of(way, pick));
      hops.push_back(std::move(one));
    }
    ordered_json slowest = ordered_json::array();
    for (const TracedFrame* frame : slowest_frames(way)) {
      const std::size_t hop = slowest_hop(*frame);
      ordered_json ran = ordered_json::array();
      for (const trace::RanCallback& one : meanwhile(frame->hops[hop], way.hops[hop].by))
        if (ran.size() < kMostMeanwhile)
          ran.push_back({{"callback", one.name}, {"us", in_us(static_cast<double>(one.ns))}});
      slowest.push_back({{"sequence", frame->sequence},
                         {"all_us", in_us(static_cast<double>(frame->all()))},
                         {"slowest_hop", hop},
                         {"meanwhile", std::move(ran)}});
    }
    ways.push_back({{"frames", way.frames.size()},
                    {"all_us", figures_of(whole_of(way))},
                    {"hops", std::move(hops)},
                    {"slowest", std::move(slowest)}});
    if (!each_frame) continue;
    ordered_json& each = ways.back()["each_frame"] = ordered_json::array();
    for (const TracedFrame& frame : way.frames) each.push_back(frame_json(frame));
  }
  ordered_json all{{"from", from},
                   {"to", to},
                   {"ways", std::move(ways)},
                   {"from_others", chain.from_others},
                   {"incomplete", chain.incomplete}};
  if (!chain.ways.empty()) all["all_us"] = figures_of(whole_of(chain));
  if (chain.more_ways != 0) all["more_ways"] = chain.more_ways;
  if (chain.disputed != 0) all["disputed"] = chain.disputed;
  return text_of_json(all) + "\n";
}

}  // namespace cardan::apps
