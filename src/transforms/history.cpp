// SPDX-License-Identifier: Apache-2.0
#include "src/transforms/history.hpp"

#include <algorithm>

namespace cardan::detail {

std::size_t History::until(std::int64_t stamp) const noexcept {
  if (count_ == 0 || stamp < oldest().stamp) return 0;
  if (stamp >= newest().stamp) return count_;
  // Places come at a rate, so that this one is near where it would be with an even one.
  const double share =
      static_cast<double>(stamp - oldest().stamp) / static_cast<double>(newest().stamp - oldest().stamp);
  const auto guess = static_cast<std::size_t>(share * static_cast<double>(count_ - 1));
  constexpr std::size_t kNear = 4;
  std::size_t low = guess > kNear ? guess - kNear : 0;     // at(low).stamp <= stamp
  std::size_t high = std::min(guess + kNear, count_ - 1);  // at(high).stamp > stamp
  if (at(low).stamp > stamp) low = 0;
  if (at(high).stamp <= stamp) high = count_ - 1;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (at(middle).stamp <= stamp ? low : high) = middle;
  }
  return low + 1;
}

bool History::insert(const Place& place, std::int64_t kept_ns, std::size_t most) {
  if (count_ != 0 && place.stamp < newest().stamp - kept_ns) return false;
  const std::size_t at = until(place.stamp);
  if (at != 0 && this->at(at - 1).stamp == place.stamp) return false;
  if (count_ >= most && at == 0) return false;
  if (count_ == ring_.size() && count_ < most) grow();
  std::size_t to = at;
  if (count_ >= most || count_ == ring_.size()) {
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
    --to;
  }
  ++count_;
  for (std::size_t i = count_ - 1; i > to; --i) slot(i) = slot(i - 1);
  slot(to) = place;
  while (oldest().stamp < newest().stamp - kept_ns) {
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
  }
  return true;
}

void History::grow() {
  std::vector<Place> larger(std::max<std::size_t>(4, 2 * ring_.size()));
  for (std::size_t i = 0; i < count_; ++i) larger[i] = at(i);
  ring_.swap(larger);
  first_ = 0;
}

}  // namespace cardan::detail
