// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

namespace cardan::record {

bool fits(const std::string& pattern, const std::string& name) noexcept {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

bool is_selected(const RecorderOptions& options, const std::string& topic, const std::string& type) {
  const auto one_fits = [](const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return fits(pattern, name); });
  };
  if (one_fits(options.exclude, topic)) return false;
  if (options.topics.empty() && options.types.empty()) return true;
  return one_fits(options.topics, topic) || one_fits(options.types, type);
}

std::string numbered(const std::string& path, std::size_t number) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format("{}_{:04}{}", whole.stem().string(), number, whole.extension().string()))
      .string();
}

}  // namespace cardan::record
