// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/not_asked.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using cardan::detail::Declined;
using cardan::detail::Offer;
using cardan::detail::SubscriberCore;
using cardan::detail::Tries;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Subscribers by address alone: no function here looks into one.
const SubscriberCore* subscriber(std::size_t number) {
  struct alignas(64) Place {
    std::byte byte{};
  };
  static const std::array<Place, 8> addresses{};
  return reinterpret_cast<const SubscriberCore*>(&addresses.at(number));
}

TEST(Declined, LackOfRoomIsForNow) {
  Declined declined;
  const Offer refused{subscriber(0), "p", 1};
  const Offer full{subscriber(0), "p", 2};
  declined.insert(refused);
  EXPECT_EQ(declined.due_at(), 0);
  declined.insert_for_now(full, kSecond);
  declined.insert_for_now({subscriber(0), "p", 3}, 2 * kSecond);
  EXPECT_EQ(declined.due_at(), 3 * kSecond) << "the first decides";
  declined.release_due(3 * kSecond - 1);
  EXPECT_TRUE(declined.contains(full));
  declined.release_due(3 * kSecond);
  EXPECT_FALSE(declined.contains(full));
  EXPECT_TRUE(declined.contains(refused));
  EXPECT_EQ(declined.due_at(), 0);
}

TEST(Declined, EachSubscriberHasItsOwn) {
  Declined declined;
  for (const std::size_t number : {0U, 1U}) {
    declined.insert({subscriber(number), "p", 1});
    declined.insert_for_now({subscriber(number), "p", 2}, kSecond);
  }
  declined.forget(*subscriber(0));
  EXPECT_FALSE(declined.contains({subscriber(0), "p", 1}));
  EXPECT_FALSE(declined.contains({subscriber(0), "p", 2}));
  EXPECT_TRUE(declined.contains({subscriber(1), "p", 1}));
  EXPECT_TRUE(declined.contains({subscriber(1), "p", 2}));
  EXPECT_FALSE(declined.contains({subscriber(1), "q", 1}));
}

TEST(Tries, GrowToTheLongest) {
  Tries tries;
  EXPECT_EQ(tries.wait_for("p", 0), 0);
  std::int64_t now = kSecond;
  for (const std::int64_t delay : {100, 200, 400, 800, 1600, 3200, 5000, 5000}) {
    EXPECT_EQ(tries.failed("p", Tries::kFirst, now), delay * 1'000'000);
    EXPECT_EQ(tries.wait_for("p", now), delay * 1'000'000);
    EXPECT_EQ(tries.wait_for("q", now), 0);
    now += delay * 1'000'000;
    EXPECT_EQ(tries.wait_for("p", now), 0);
  }
  tries.forget("p");
  EXPECT_EQ(tries.failed("p", 7, now), 7);
}

TEST(Tries, AreBounded) {
  Tries tries;
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(tries.failed(std::to_string(i), Tries::kFirst, 0), Tries::kFirst);
  EXPECT_EQ(tries.failed("one more", Tries::kFirst, 0), Tries::kLongest);
  EXPECT_EQ(tries.wait_for("one more", 0), 0) << "it is not remembered";
  EXPECT_EQ(tries.failed("one more", Tries::kFirst, kSecond), Tries::kFirst) << "those that are due made room";
}

}  // namespace
