// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/before_start.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace cardan::mcap {
namespace {

constexpr std::string_view kMessagesOf = "messages of ";
/// A file may say anything.
constexpr std::uint64_t kMostDepth = 4096;

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t number_of(const Metadata& metadata, const char* key) {
  const auto found = metadata.metadata.find(key);
  return found == metadata.metadata.end() ? 0 : number_in(found->second).value_or(0);
}

/// The value after "key:" in a line of YAML, without quotes; empty: another line.
std::string_view value_in(std::string_view line, std::string_view key) {
  const std::size_t at = line.find_first_not_of(" -");
  if (at == std::string_view::npos || !line.substr(at).starts_with(key)) return {};
  line.remove_prefix(at + key.size());
  if (!line.starts_with(':')) return {};
  const std::size_t begin = line.find_first_not_of(" :\"'"), end = line.find_last_not_of(" \"'\r,}");
  return begin == std::string_view::npos || end < begin ? std::string_view() : line.substr(begin, end - begin + 1);
}

}  // namespace

Metadata before_start_record(const BeforeStart& before) {
  Metadata metadata{.name = kBeforeStartName,
                    .metadata = {{"start", std::to_string(before.start)},
                                 {"last", std::to_string(before.last)},
                                 {"chunks", std::to_string(before.chunks)}}};
  for (const auto& [topic, count] : before.messages)
    metadata.metadata[std::string(kMessagesOf) + topic] = std::to_string(count);
  return metadata;
}

std::optional<BeforeStart> before_start_of(const Metadata& metadata) {
  if (metadata.name != kBeforeStartName) return std::nullopt;
  BeforeStart before{.start = number_of(metadata, "start"),
                     .last = number_of(metadata, "last"),
                     .chunks = number_of(metadata, "chunks")};
  for (const auto& [key, value] : metadata.metadata)
    if (key.starts_with(kMessagesOf)) before.messages[key.substr(kMessagesOf.size())] = number_in(value).value_or(0);
  if (before.start == 0) return std::nullopt;
  return before;
}

std::uint32_t latched_depth(const Channel& channel) {
  if (const auto own = channel.metadata.find(kDepthKey); own != channel.metadata.end())
    return static_cast<std::uint32_t>(std::min(number_in(own->second).value_or(0), kMostDepth));
  const auto qos = channel.metadata.find("offered_qos_profiles");
  if (qos == channel.metadata.end()) return 0;
  // One profile of each publisher: a list, each of whose elements begins with "- ".
  std::uint64_t sum = 0, depth = 0;
  bool latched = false;
  const auto end_profile = [&] {
    if (latched) sum += std::clamp<std::uint64_t>(depth, 1, kMostDepth);
    depth = 0;
    latched = false;
  };
  for (std::string_view rest = qos->second; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("- ")) end_profile();
    if (const auto value = value_in(line, "depth"); !value.empty()) depth = number_in(value).value_or(0);
    if (const auto value = value_in(line, "durability"); !value.empty())
      latched = value == "1" || value == "transient_local";
  }
  end_profile();
  return static_cast<std::uint32_t>(std::min(sum, kMostDepth));
}

}  // namespace cardan::mcap
