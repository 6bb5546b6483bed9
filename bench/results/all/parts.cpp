// SPDX-License-Identifier: Apache-2.0
#include "bench/results/all/parts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/results/words.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::uintmax_t kMostStateBytes = 1 << 20;

[[noreturn]] void no_state(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", path, why), "remove it, or give --out another folder");
}

}  // namespace

std::vector<PartRun> parts_of_selection(std::string_view selection) {
  // `transport` has 1, 5 and 10 readers of 4 KiB; `readers` adds what lies between and beyond.
  const std::string more_readers = "1p2s,1p20s,1p40s";
  if (selection == "quick")
    return {
        {"transport", "transport", {"--runs", "3", "--minutes", "5"}, 300},
        {"sensors",
         "transport",
         {"--sensors", "imu,cv,lidar-low,lidar-high,radar", "--waits", "block,prewake", "--runs", "1"},
         120},
        {"readers", "transport", {"--scenarios", more_readers, "--sizes", "4K", "--waits", "block", "--runs", "1"}, 60},
        {"runtime", "runtime", {"--runs", "2", "--frames", "500", "--sizes", "32K,4M"}, 75},
        {"record", "record", {"--quick"}, 100},
        {"bridge", "bridge", {"--quick"}, 70},
        {"pipeline", "pipeline", {"--peers", "raw,cardan,uds,tcp", "--runs", "1"}, 60},
        {"lidar",
         "pipeline",
         {"--chain", "lidar", "--peers", "raw,cardan,uds,tcp", "--runs", "1", "--frames", "50"},
         35},
        {"v2x", "v2x", {"--quick"}, 25}};
  if (selection == "full")
    return {{"transport", "transport", {"--micro"}, 600},
            {"sensors", "transport", {"--sensors", "all", "--waits", "block,prewake,anticipate", "--runs", "3"}, 700},
            {"readers",
             "transport",
             {"--scenarios", more_readers + ",1p64s", "--sizes", "4K,640*480*3", "--waits", "block", "--runs", "3"},
             500},
            {"runtime", "runtime", {}, 245},
            {"record", "record", {}, 900},
            {"bridge", "bridge", {}, 420},
            {"pipeline", "pipeline", {}, 420},
            {"lidar", "pipeline", {"--chain", "lidar"}, 250},
            {"v2x", "v2x", {}, 110}};
  return {};
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
