// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cardan::apps {
namespace {

/// A file name may have 255 bytes: room for a number, ".partial" and an extension.
constexpr std::size_t kLongestStem = 200;

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::string file_stem(std::string_view topic) {
  topic.remove_prefix(std::min(topic.find_first_not_of('/'), topic.size()));
  std::string stem(topic.substr(0, kLongestStem));
  std::replace_if(stem.begin(), stem.end(), [](char c) { return !is_plain(c); }, '_');
  if (stem.empty()) return "topic";
  if (stem.front() == '-') stem.front() = '_';
  return stem;
}

std::string FileStems::next(std::string_view topic) {
  const std::string stem = file_stem(topic);
  unsigned& number = last_[stem];
  std::string name;
  do name = ++number == 1 ? stem : fmt::format("{}_{}", stem, number);
  while (!taken_.insert(small_letters(name)).second);
  return name;
}

std::string FrameNames::next(std::uint64_t log_time) {
  of_time_ = log_time == time_ ? of_time_ + 1 : 1;
  time_ = log_time;
  return of_time_ == 1 ? fmt::format("{:019}", log_time) : fmt::format("{:019}_{}", log_time, of_time_);
}

}  // namespace cardan::apps
