// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/name_patterns.hpp"
#include "src/record/causes.hpp"

namespace cardan::record {
namespace {

bool found_by_one(const std::vector<RegularExpression>& expressions, const std::string& topic) {
  return std::any_of(expressions.begin(), expressions.end(), [&](const auto& one) { return one.found_in(topic); });
}

}  // namespace

Selection::Selection(const RecorderOptions& options)
    : topics_(options.topics), types_(options.types), exclude_(options.exclude) {
  for (const std::string& text : options.expressions) expressions_.emplace_back(text);
  for (const std::string& text : options.exclude_expressions) exclude_expressions_.emplace_back(text);
  for (const std::string& name : topics_)
    if (name.find_first_of("*?[") == std::string::npos && !excluded(name)) named_.push_back(name);
}

bool Selection::excluded(const std::string& topic) const {
  // Messages of this name are the recorder's own.
  return topic == kCausesTopic || detail::fits_one(exclude_, topic) || found_by_one(exclude_expressions_, topic);
}

bool Selection::named_or_fitting(const std::string& topic) const {
  const bool all = topics_.empty() && types_.empty() && expressions_.empty();
  return all || detail::fits_one(topics_, topic) || found_by_one(expressions_, topic);
}

bool Selection::may_want(const std::string& topic) const {
  return !excluded(topic) && (!types_.empty() || named_or_fitting(topic));
}

bool Selection::wants(const std::string& topic, const std::string& type) const {
  return !excluded(topic) && (named_or_fitting(topic) || detail::fits_one(types_, type));
}

std::string numbered(const std::string& path, std::size_t number) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format("{}_{:04}{}", whole.stem().string(), number, whole.extension().string()))
      .string();
}

}  // namespace cardan::record
