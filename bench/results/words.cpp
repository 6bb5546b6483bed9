// SPDX-License-Identifier: Apache-2.0
#include "bench/results/words.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

// Lists of samples line by line would be a million lines that nobody can read.
std::string text_of(const nlohmann::ordered_json& json) {
  if (!json.is_object() || !json.contains("measurements") || json.at("measurements").empty())
    return json.dump(2) + "\n";
  nlohmann::ordered_json others = json;
  others.erase("measurements");
  std::string out = others.dump(2);
  out.resize(out.size() - (others.empty() ? 1 : 2));  // the closing brace
  out += others.empty() ? "\n  \"measurements\": [" : ",\n  \"measurements\": [";
  bool first = true;
  for (const auto& one : json.at("measurements")) {
    out += (first ? "\n    " : ",\n    ") + one.dump();
    first = false;
  }
  return out + "\n  ]\n}\n";
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string name_of_duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

nlohmann::ordered_json to_json(const Summary& s, double steps) {
  return {{"min", rounded(s.min, steps)}, {"mean", rounded(s.mean, steps)}, {"p50", rounded(s.p50, steps)},
          {"p95", rounded(s.p95, steps)}, {"p99", rounded(s.p99, steps)},   {"max", rounded(s.max, steps)},
          {"std", rounded(s.std, steps)}};
}

void write_file(const std::string& path, const std::string& content, const std::string& remedy) {
  const std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  const auto fail = [&](const std::string& why) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(ErrorCode::System, fmt::format("cannot write {}{}", path, why), remedy);
  };
  {
    std::ofstream file(temporary, std::ios::binary);
    file << content;
    if (!file.flush()) fail("");
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) fail(": " + error.message());
}

void write_json(const std::string& path, const nlohmann::ordered_json& json) {
  write_file(path, text_of(json), "give --json a file in a folder that you may write");
}

}  // namespace cardan::bench
