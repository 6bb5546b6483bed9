// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/name_patterns.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace cardan::record {

bool fits(const std::string& pattern, const std::string& name) noexcept {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

bool fits_one(const std::vector<std::string>& patterns, const std::string& name) noexcept {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return fits(pattern, name); });
}

}  // namespace cardan::record
