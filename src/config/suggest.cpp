// SPDX-License-Identifier: Apache-2.0
#include "src/config/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace cardan::config {
namespace {

char lower(char c) noexcept { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_above, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view wrong, const std::vector<std::string>& known) {
  if (wrong.size() > 255) return {};  // not a slip of the finger, and the work would grow with its square
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, std::min<std::size_t>(wrong.size() / 3, 4)) + 1;
  for (const std::string& name : known) {
    const std::size_t d = distance(wrong, name);
    // "threshold" for "detection_threshold" is near too, however long the rest.
    const bool part = wrong.size() >= 4 && name.size() >= 4 &&
                      (name.find(wrong) != std::string::npos || wrong.find(name) != std::string::npos);
    const std::size_t cost = part ? std::min<std::size_t>(d, 2) : d;
    if (cost >= least) continue;
    least = cost;
    best = &name;
  }
  return best != nullptr ? *best : std::string{};
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known, std::string_view otherwise) {
  constexpr std::size_t kMost = 12;
  if (const std::string near = nearest(wrong, known); !near.empty()) return fmt::format("did you mean '{}'?", near);
  if (known.empty()) return std::string(otherwise);
  if (known.size() == 1) return fmt::format("there is '{}'", known.front());
  const auto shown = static_cast<std::ptrdiff_t>(std::min(known.size(), kMost));
  return fmt::format("there are '{}'{}", fmt::join(known.begin(), known.begin() + shown, "', '"),
                     known.size() > kMost ? fmt::format(" and {} more", known.size() - kMost) : "");
}

}  // namespace cardan::config
