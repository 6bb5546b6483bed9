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
  if (selection == "quick")
    return {{"transport", {"--runs", "3", "--minutes", "6"}, 360},
            {"runtime", {"--runs", "2", "--frames", "500", "--sizes", "32K,4M"}, 70},
            {"record", {"--quick"}, 100},
            {"bridge", {"--quick"}, 70}};
  if (selection == "full")
    return {{"transport", {"--micro"}, 600}, {"runtime", {}, 120}, {"record", {}, 900}, {"bridge", {}, 420}};
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
