// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/places.hpp"

#include <algorithm>

namespace cardan::bridge::foxglove {
namespace {

std::size_t count_of(const Shares& taken, std::string_view share) {
  return static_cast<std::size_t>(std::count(taken.begin(), taken.end(), share));
}

std::size_t count_of_strangers(const Shares& taken) { return taken.size() - count_of(taken, {}); }

std::size_t first_of(const Shares& taken, std::string_view share) {
  return static_cast<std::size_t>(std::find(taken.begin(), taken.end(), share) - taken.begin());
}

}  // namespace

Places::Answer Places::ask(const Shares& taken, std::string_view share) const {
  const bool full = taken.size() >= all_;
  if (share.empty()) return full && count_of(taken, share) >= of_one() ? Answer::Full : Answer::Yes;
  if (count_of(taken, share) >= of_one() || count_of_strangers(taken) >= of_strangers()) return Answer::ShareIsUsed;
  return full ? Answer::Full : Answer::Yes;
}

std::optional<std::size_t> Places::who_gives_way(const Shares& taken, std::string_view share) const {
  if (!share.empty() && count_of(taken, share) >= of_one()) return first_of(taken, share);
  if (taken.size() < all_ && (share.empty() || count_of_strangers(taken) < of_strangers())) return std::nullopt;
  // The share with the most, so that one with few places keeps them.
  std::string_view most;
  for (const std::string_view one : taken)
    if (!one.empty() && (most.empty() || count_of(taken, one) > count_of(taken, most))) most = one;
  if (!most.empty()) return first_of(taken, most);
  return share.empty() ? 0 : taken.size();
}

}  // namespace cardan::bridge::foxglove
