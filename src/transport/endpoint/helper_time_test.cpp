// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/helper_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace {

using cardan::detail::HelperTime;

constexpr std::int64_t kBegin = 1'000'000'000'000;
constexpr std::int64_t kPiece = 500'000;
uid_t user(unsigned n) { return ::geteuid() + 2000 + n; }

/// The time that each of `users` users gets of a thread within `length`, if all of them always want more.
std::vector<std::int64_t> had_by(unsigned users, std::int64_t length) {
  HelperTime time;
  std::vector<std::int64_t> had(users, 0);
  for (std::int64_t now = kBegin; now < kBegin + length;) {
    const std::int64_t before = now;
    for (unsigned u = 0; u < users; ++u) {
      if (time.opens_at(user(u), now) != 0) continue;
      now += kPiece;
      time.spend(user(u), kPiece, now);
      had[u] += kPiece;
    }
    if (now == before) now += kPiece;
  }
  return had;
}

TEST(HelperTime, OneUserGetsATenthAndABurst) {
  constexpr std::int64_t kLength = 10'000'000'000;
  const std::int64_t had = had_by(1, kLength).at(0);
  EXPECT_LE(had, kLength / 10 + HelperTime::kBurst + kPiece);
  EXPECT_GE(had, kLength / 10);
}

TEST(HelperTime, AllUsersTogetherGetHalf) {
  constexpr std::int64_t kLength = 4'000'000'000;
  std::int64_t all = 0;
  for (const std::int64_t had : had_by(40, kLength)) all += had;
  EXPECT_LE(all, kLength / 2 + 10 * HelperTime::kBurst) << "what they have at once is less, too";
  EXPECT_GE(all, kLength / 3);
}

TEST(HelperTime, AQuietUserIsNotDelayedByOthers) {
  HelperTime time;
  for (unsigned u = 0; u < 1000; ++u) time.spend(user(u), 1'000'000'000, kBegin);
  EXPECT_NE(time.opens_at(user(0), kBegin), 0);
  EXPECT_EQ(time.opens_at(user(0), kBegin + 3600'000'000'000), 0);
  EXPECT_EQ(time.opens_at(::geteuid(), kBegin), 0);
  EXPECT_EQ(time.opens_at(0, kBegin), 0) << "root";
  HelperTime few;
  few.spend(user(0), 10'000'000'000, kBegin);
  EXPECT_EQ(few.opens_at(user(1), kBegin), 0);
  few.spend(user(1), HelperTime::kBurst / 2, kBegin);
  EXPECT_EQ(few.opens_at(user(1), kBegin), 0) << "within its burst";
}

}  // namespace
