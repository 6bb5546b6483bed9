// SPDX-License-Identifier: Apache-2.0
#include "bench/results/all/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/results/words.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::uintmax_t kMostStateBytes = 1 << 20;

[[noreturn]] void no_state(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", path, why), "remove it, or give --out another folder");
}

using Peers = std::vector<std::string>;

/// Those of `names` that are in `peers`.
std::string known_of(const Peers& peers, std::initializer_list<const char*> names) {
  Peers known;
  for (const char* name : names)
    if (std::find(peers.begin(), peers.end(), name) != peers.end()) known.emplace_back(name);
  return fmt::format("{}", fmt::join(known, ","));
}

// Single operations of Cardan, among them 1 to 1000 topics.
std::vector<std::string> operations(const char* runs) {
  return {"--micro", "--peers", "cardan", "--sizes", "none", "--runs", runs};
}

// Oops! IV-A, Fig. 3 (shares of CPU), and IV-D (threads against load, priority).
std::vector<std::string> under_load(const Peers& peers, const char* runs, const char* frames) {
  return {"--peers",      known_of(peers, {"raw", "uds", "fastdds", "cardan"}),
          "--waits",      "block",
          "--sensors",    "cv",
          "--conditions", "none,load=1x50,load=8x50,load=1x90,load=8x90,load=8x90+fifo,cpu=10,cpu=20,cpu=50",
          "--frames",     frames,
          "--runs",       runs};
}
// Oops! IV-C: independent pairs on one budget of CPU, here a core.
std::vector<std::string> links_at_once(const Peers& peers, bool cpu_budget, const char* runs, const char* frames) {
  return {"--peers",      known_of(peers, {"uds", "tcp", "fastdds", "cyclone", "iceoryx", "cardan"}),
          "--waits",      "block",
          "--sensors",    "cv",
          "--scenarios",  "1p1s,2x1p1s,4x1p1s,8x1p1s",
          "--conditions", cpu_budget ? "cpu=100" : "none",
          "--frames",     frames,
          "--runs",       runs};
}
// Oops! V-3: a message each 12 to 50 ms, and 20 ms of work for each.
std::vector<std::string> at_rates(const char* runs, const char* frames) {
  return {"--peers", "uds,cardan", "--waits",  "block",    "--sizes", "4K",     "--conditions",
          "work=20", "--rate",     "20,40,80", "--frames", frames,    "--runs", runs};
}
// Oops! IV-B, Fig. 4b.
std::vector<std::string> two_reliabilities(const Peers& peers, const char* runs) {
  return {"--peers",
          known_of(peers, {"fastdds", "fastdds-reliable", "cyclone", "cyclone-reliable", "cardan", "cardan-reliable"}),
          "--waits",
          "block",
          "--sizes",
          "4K,4000000",
          "--rate",  // of its own: other parts measure these sizes at other rates, minutes before
          "50",
          "--runs",
          runs};
}

// The quick selection has fewer peers than sizes have: of a middleware its fastest ways. Most of the time is their
// start.
std::vector<std::string> of_sensors(const Peers& peers, const char* sensors) {
  return {"--peers",
          known_of(peers, {"raw", "sim", "uds", "lot", "ros1", "zenoh-shm", "fastdds", "fastdds-loans", "cyclone",
                           "iceoryx", "iceoryx2", "ecal-zero-copy", "cardan"}),
          "--waits",
          "block,prewake",
          "--sensors",
          sensors,
          "--runs",
          "1"};
}
std::vector<std::string> many_readers(const Peers& peers, const std::string& scenarios) {
  return {"--peers",
          known_of(peers, {"raw", "uds", "tcp", "zenoh-shm", "fastdds-loans", "iceoryx", "iceoryx2", "ecal-zero-copy",
                           "cardan"}),
          "--waits",
          "block",
          "--scenarios",
          scenarios,
          "--sizes",
          "4K",
          "--runs",
          "1"};
}

}  // namespace

std::vector<PartRun> parts_of_selection(std::string_view selection, const Peers& peers, bool cpu_budget) {
  // `transport` has 1, 5 and 10 readers of 4 KiB; `readers` adds what lies between and beyond.
  const std::string more_readers = "1p2s,1p20s,1p40s";
  if (selection == "quick")
    return {{"transport", "transport", {"--runs", "3", "--minutes", "4"}, 265},
            {"sensors", "transport", of_sensors(peers, "imu,cv,lidar-low,lidar-high,radar"), 125},
            {"readers", "transport", many_readers(peers, more_readers), 45},
            {"topics", "transport", operations("1"), 6},
            {"load", "transport", under_load(peers, "1", "50"), 46},
            {"links", "transport", links_at_once(peers, cpu_budget, "1", "40"), 33},
            {"rates", "transport", at_rates("1", "30"), 7},
            {"reliability", "transport", two_reliabilities(peers, "1"), 12},
            {"runtime", "runtime", {"--runs", "1", "--frames", "500", "--sizes", "32K,4M"}, 34},
            {"record", "record", {"--quick"}, 100},
            {"bridge", "bridge", {"--quick"}, 62},
            {"pipeline", "pipeline", {"--peers", "raw,cardan,uds,tcp", "--runs", "1", "--frames", "40"}, 38},
            {"lidar",
             "pipeline",
             {"--chain", "lidar", "--peers", "raw,cardan,uds,tcp", "--runs", "1", "--frames", "50"},
             30},
            {"v2x", "v2x", {"--quick"}, 25}};
  if (selection == "full")
    return {{"transport", "transport", {}, 600},
            {"sensors", "transport", {"--sensors", "all", "--waits", "block,prewake,anticipate", "--runs", "3"}, 700},
            {"readers",
             "transport",
             {"--scenarios", more_readers + ",1p64s", "--sizes", "4K,640*480*3", "--waits", "block", "--runs", "3"},
             500},
            {"topics", "transport", operations("5"), 55},
            {"load", "transport", under_load(peers, "3", "100"), 300},
            {"links", "transport", links_at_once(peers, cpu_budget, "3", "100"), 240},
            {"rates", "transport", at_rates("3", "100"), 100},
            {"reliability", "transport", two_reliabilities(peers, "3"), 60},
            {"runtime", "runtime", {}, 245},
            {"record", "record", {}, 900},
            {"bridge", "bridge", {}, 420},
            {"pipeline", "pipeline", {}, 420},
            {"lidar", "pipeline", {"--chain", "lidar"}, 250},
            {"v2x", "v2x", {}, 110}};
  return {};
}

std::string names_of(const std::vector<PartRun>& parts) {
  std::vector<std::string_view> names;
  for (const PartRun& part : parts) names.push_back(part.name);
  return fmt::format("{}", fmt::join(names, ","));
}

std::vector<PartState> read_state(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  if (!std::filesystem::is_regular_file(path, error)) no_state(path, "it is not a regular file");
  if (std::filesystem::file_size(path, error) > kMostStateBytes) no_state(path, "it is too large for a state");
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  std::vector<PartState> state;
  try {
    const auto json = nlohmann::json::parse(text.str());
    for (const auto& part : json.at("parts"))
      state.push_back({part.at("name").get<std::string>(), part.at("arguments").get<std::vector<std::string>>(),
                       part.at("code").get<int>(), part.at("words").get<std::string>(),
                       part.at("seconds").get<double>()});
  } catch (const nlohmann::json::exception& e) {
    no_state(path, fmt::format("`cardan bench all` did not write it ({})", e.what()));
  }
  return state;
}

void write_state(const std::string& path, const std::vector<PartState>& state) {
  nlohmann::ordered_json json;
  json["parts"] = nlohmann::ordered_json::array();
  for (const PartState& part : state)
    json["parts"].push_back({{"name", part.name},
                             {"arguments", part.arguments},
                             {"code", part.code},
                             {"words", part.words},
                             {"seconds", rounded(part.seconds)}});
  write_file(path, json.dump(2) + "\n", "give --out a folder that you may write");
}

}  // namespace cardan::bench
