// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/chain_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "apps/bag/bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;
using record::RecordedChain, record::RecordedWay;

constexpr std::size_t kSlowest = 10;
/// One way never has this many (RecordedCauses::kMostSamples). A small file can list many ways that share no hop, and
/// then nearly all cells are empty.
constexpr std::size_t kMostCells = std::size_t{1} << 26;

std::int64_t whole(const RecordedWay& way, std::size_t frame) {
  const auto times = way.times(frame);
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

/// Nanoseconds.
struct Figures {
  double mean = 0;
  std::int64_t p50 = 0, p99 = 0, greatest = 0;
};

Figures figures_of(std::vector<std::int64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&values](double part) {
    return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
  };
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  return {sum / static_cast<double>(values.size()), at(0.5), at(0.99), values.back()};
}

Figures of_hop(const RecordedWay& way, std::size_t hop) {
  std::vector<std::int64_t> values;
  for (std::size_t frame = 0; frame < way.frames.size(); ++frame) values.push_back(way.times(frame)[hop]);
  return figures_of(std::move(values));
}

Figures of_all(const RecordedWay& way) {
  std::vector<std::int64_t> values;
  for (std::size_t frame = 0; frame < way.frames.size(); ++frame) values.push_back(whole(way, frame));
  return figures_of(std::move(values));
}

std::vector<std::size_t> slowest_frames(const RecordedWay& way) {
  std::vector<std::pair<std::int64_t, std::size_t>> all;
  for (std::size_t frame = 0; frame < way.frames.size(); ++frame) all.emplace_back(-whole(way, frame), frame);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(kSlowest, all.size()));
  std::partial_sort(all.begin(), end, all.end());
  std::vector<std::size_t> slowest;
  for (auto one = all.begin(); one != end; ++one) slowest.push_back(one->second);
  return slowest;
}

std::size_t slowest_hop(const RecordedWay& way, std::size_t frame) {
  const auto times = way.times(frame);
  return static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

std::string hop_name(const RecordedWay& way, std::size_t hop) { return way.topics[hop] + " → " + way.topics[hop + 1]; }

std::string hops_text(const RecordedWay& way, double mean) {
  Table table({{"HOP"}, {"p50", true}, {"p99", true}, {"GREATEST", true}, {"MEAN", true}, {"SHARE", true}});
  for (std::size_t hop = 0; hop < way.hops(); ++hop) {
    const Figures hops = of_hop(way, hop);
    table.row({printable(hop_name(way, hop)), time_text(static_cast<double>(hops.p50)),
               time_text(static_cast<double>(hops.p99)), time_text(static_cast<double>(hops.greatest)),
               time_text(hops.mean), mean > 0 ? fmt::format("{:.0f} %", 100 * hops.mean / mean) : "-"});
  }
  return table.shown();
}

std::string slowest_text(const RecordedWay& way) {
  Table table({{"FRAME", true}, {"AT"}, {"TIME", true}, {"SLOWEST HOP"}, {"TOOK", true}});
  for (const std::size_t frame : slowest_frames(way)) {
    const std::size_t hop = slowest_hop(way, frame);
    table.row({std::to_string(way.frames[frame].sequence), stamp_text(way.frames[frame].stamp_ns),
               time_text(static_cast<double>(whole(way, frame))), printable(hop_name(way, hop)),
               time_text(static_cast<double>(way.times(frame)[hop]))});
  }
  return table.shown();
}

Json json_of(const Figures& figures) {
  return {{"mean", figures.mean / 1000},
          {"p50", static_cast<double>(figures.p50) / 1000},
          {"p99", static_cast<double>(figures.p99) / 1000},
          {"greatest", static_cast<double>(figures.greatest) / 1000}};
}

}  // namespace

std::string chain_tables(const RecordedChain& chain, const std::string& from, const std::string& to) {
  std::string text;
  for (const RecordedWay& way : chain.ways) {
    const Figures all = of_all(way);
    text += fmt::format("{} → {}: {}, end to end p50 {}, p99 {}, greatest {}, mean {}\n", printable(from),
                        printable(to), number_of(way.frames.size(), "frame"), time_text(static_cast<double>(all.p50)),
                        time_text(static_cast<double>(all.p99)), time_text(static_cast<double>(all.greatest)),
                        time_text(all.mean));
    text += hops_text(way, all.mean) + "Shares are of the mean: means of hops add up, percentiles do not.\n\n";
    text += slowest_text(way) + "\n";
  }
  const auto count = [&](std::uint64_t number, const std::string& what) {
    if (number != 0) text += fmt::format("{} of {} on {}: {}\n", number, chain.publications, printable(to), what);
  };
  count(chain.from_others, "do not rest on " + printable(from) + " by their causes");
  count(chain.not_recorded, "a cause on the way was not recorded");
  count(chain.lost, "a cause on the way was lost, left out, or published before the recording");
  count(chain.other_user, "rest on a sample of another user, whose word does not count");
  count(chain.invalid, "the recorded causes cannot be true, or are too old");
  return text;
}

std::string chain_json(const RecordedChain& chain, const std::string& from, const std::string& to) {
  Json ways = Json::array();
  for (const RecordedWay& way : chain.ways) {
    Json hops = Json::array();
    for (std::size_t hop = 0; hop < way.hops(); ++hop)
      hops.push_back({{"from", way.topics[hop]}, {"to", way.topics[hop + 1]}, {"all_us", json_of(of_hop(way, hop))}});
    Json slowest = Json::array();
    for (const std::size_t frame : slowest_frames(way))
      slowest.push_back({{"sequence", way.frames[frame].sequence},
                         {"stamp_ns", way.frames[frame].stamp_ns},
                         {"all_us", static_cast<double>(whole(way, frame)) / 1000},
                         {"slowest_hop", slowest_hop(way, frame)}});
    ways.push_back({{"frames", way.frames.size()},
                    {"all_us", json_of(of_all(way))},
                    {"hops", std::move(hops)},
                    {"slowest", std::move(slowest)}});
  }
  const Json all{{"from", from},
                 {"to", to},
                 {"ways", std::move(ways)},
                 {"publications", chain.publications},
                 {"from_others", chain.from_others},
                 {"not_recorded", chain.not_recorded},
                 {"lost", chain.lost},
                 {"other_user", chain.other_user},
                 {"invalid", chain.invalid}};
  return json_lines(all);
}

std::string chain_csv(const RecordedChain& chain) {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> places;      // in `names`
  std::vector<std::vector<std::size_t>> columns;  // of each way's hops
  std::size_t frames = 0;
  for (const RecordedWay& way : chain.ways) {
    frames += way.frames.size();
    std::vector<std::size_t>& own = columns.emplace_back();
    for (std::size_t hop = 0; hop < way.hops(); ++hop) {
      const auto [known, is_new] = places.try_emplace(hop_name(way, hop), names.size());
      own.push_back(known->second);
      if (is_new) names.push_back(known->first);
    }
  }
  if (frames * (names.size() + 3) > kMostCells)
    throw Error(ErrorCode::Limit,
                fmt::format("the table is too large: {} and {}", number_of(frames, "line"),
                            number_of(names.size() + 3, "column")),
                "use --json, or take a part of the recording with --start and --end");
  const auto cell = [](std::string name) {
    if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
    for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) name.insert(at, 1, '"');
    return '"' + name + '"';
  };
  std::string text = "stamp_ns,sequence";
  for (const std::string& name : names) text += ',' + cell(printable(name));
  text += ",total\n";
  std::vector<std::optional<std::int64_t>> cells;  // a loop takes a hop twice
  for (std::size_t number = 0; number < chain.ways.size(); ++number) {
    const RecordedWay& way = chain.ways[number];
    for (std::size_t frame = 0; frame < way.frames.size(); ++frame) {
      cells.assign(names.size(), {});
      for (std::size_t hop = 0; hop < way.hops(); ++hop)
        cells[columns[number][hop]] = cells[columns[number][hop]].value_or(0) + way.times(frame)[hop] / 1000;
      text += fmt::format("{},{}", way.frames[frame].stamp_ns, way.frames[frame].sequence);
      for (const auto& one : cells) text += one ? fmt::format(",{}", *one) : ",";
      text += fmt::format(",{}\n", whole(way, frame) / 1000);
    }
  }
  return text;
}

}  // namespace cardan::apps
