// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/names.hpp"

#include <algorithm>
#include <array>

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kMostLetters = 255;
constexpr std::size_t kMostOfValue = 128;  ///< a type's hash has 71
constexpr std::string_view kTopicPrefix = "rt";

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Letters, digits and '_'; no digit first.
bool is_word(std::string_view text) noexcept {
  return !text.empty() && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

}  // namespace

bool is_ros_topic(std::string_view name) noexcept {
  if (name.size() < 2 || name.size() > kMostLetters || name[0] != '/') return false;
  if (name.find("__") != std::string_view::npos) return false;
  for (std::string_view rest = name.substr(1);;) {
    const auto slash = rest.find('/');
    if (!is_word(rest.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
}

std::optional<std::string> dds_topic_of(std::string_view ros) {
  if (!is_ros_topic(ros)) return std::nullopt;
  return std::string(kTopicPrefix) + std::string(ros);
}

std::optional<std::string> ros_topic_of(std::string_view dds) {
  if (!dds.starts_with(kTopicPrefix)) return std::nullopt;
  dds.remove_prefix(kTopicPrefix.size());
  if (!is_ros_topic(dds)) return std::nullopt;
  return std::string(dds);
}

std::optional<std::string> service_of_replies(std::string_view dds) {
  constexpr std::string_view kPrefix = "rr", kSuffix = "Reply";
  if (!dds.starts_with(kPrefix) || !dds.ends_with(kSuffix) || dds.size() < kPrefix.size() + kSuffix.size())
    return std::nullopt;
  dds.remove_prefix(kPrefix.size());
  dds.remove_suffix(kSuffix.size());
  if (!is_ros_topic(dds)) return std::nullopt;
  return std::string(dds);
}

std::optional<std::string> dds_type_of(std::string_view ros) {
  const auto first = ros.find('/');
  const auto last = ros.rfind('/');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const std::string_view package = ros.substr(0, first);
  const std::string_view kind = ros.substr(first + 1, last - first - 1);
  const std::string_view name = ros.substr(last + 1);
  if (!is_word(package) || !is_word(kind) || !is_word(name)) return std::nullopt;
  return std::string(package) + "::" + std::string(kind) + "::dds_::" + std::string(name) + "_";
}

std::optional<std::string> ros_type_of(std::string_view dds) {
  if (dds.size() > kMostLetters) return std::nullopt;  // it is remembered for each writer
  std::array<std::string_view, 4> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto colons = dds.find("::");
    if ((colons == std::string_view::npos) != (i + 1 == parts.size())) return std::nullopt;
    parts[i] = dds.substr(0, colons);
    if (!is_word(parts[i])) return std::nullopt;
    if (colons != std::string_view::npos) dds.remove_prefix(colons + 2);
  }
  if (parts[2] != "dds_" || parts[3].size() < 2 || parts[3].back() != '_') return std::nullopt;
  parts[3].remove_suffix(1);
  return std::string(parts[0]) + "/" + std::string(parts[1]) + "/" + std::string(parts[3]);
}

std::string value_in(std::string_view user_data, std::string_view key) {
  while (!user_data.empty()) {
    const auto end = user_data.find(';');
    const std::string_view entry = user_data.substr(0, end);
    if (entry.size() > key.size() && entry.starts_with(key) && entry[key.size()] == '=')
      return std::string(entry.substr(key.size() + 1, kMostOfValue));
    if (end == std::string_view::npos) break;
    user_data.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace cardan::bridge::dds
