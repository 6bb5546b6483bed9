// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/selection.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cardan/record/name_patterns.hpp"

namespace cardan::record {

bool is_selected(const RecorderOptions& options, const std::string& topic, const std::string& type) {
  if (fits_one(options.exclude, topic)) return false;
  if (options.topics.empty() && options.types.empty()) return true;
  return fits_one(options.topics, topic) || fits_one(options.types, type);
}

std::string numbered(const std::string& path, std::size_t number) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format("{}_{:04}{}", whole.stem().string(), number, whole.extension().string()))
      .string();
}

}  // namespace cardan::record
