// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/helper_time.hpp"

#include <algorithm>
#include <ctime>

#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {
namespace {
constexpr uid_t kFurther = static_cast<uid_t>(-2);
constexpr std::int64_t kLongest = 60'000'000'000;  // ns; no user waits longer
}  // namespace

uid_t HelperTime::place_of(uid_t uid) const { return users_.contains(uid) || users_.size() < kUsers ? uid : kFurther; }

std::int64_t HelperTime::opens_at(uid_t uid, std::int64_t now) const {
  if (!is_foreign(uid)) return 0;
  const auto it = users_.find(place_of(uid));
  if (it == users_.end() || it->second.paid_until <= now + kShare * kBurst) return 0;
  return it->second.paid_until - kShare * kBurst;
}

void HelperTime::spend(uid_t uid, std::int64_t ns, std::int64_t now) {
  if (!is_foreign(uid) || ns <= 0) return;
  const auto lately = [now](const auto& user) { return user.second.last + kMemory > now; };
  if (users_.size() >= kUsers && !users_.contains(uid))
    std::erase_if(users_, [&](const auto& user) { return !lately(user) && user.second.paid_until < now; });
  User& user = users_[place_of(uid)];
  user.last = now;
  const std::int64_t price = std::max<std::int64_t>(kShare, 2 * std::count_if(users_.begin(), users_.end(), lately));
  user.paid_until = std::min(std::max(user.paid_until, now) + price * std::min(ns, kLongest), now + kLongest);
}

std::int64_t thread_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace cardan::detail
