// SPDX-License-Identifier: Apache-2.0
// The rules of the shares, without sockets; and whose a socket is.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/bridge/foxglove/allowance.hpp"
#include "src/bridge/foxglove/peer_share.hpp"
#include "src/bridge/foxglove/places.hpp"

namespace cardan::bridge::foxglove {
namespace {

using PlaceAnswer = Places::Answer;
constexpr std::int64_t kSecond = 1'000'000'000;

TEST(FoxglovePlaces, OurUserKeepsAQuarter) {
  const Places places(16);
  Shares taken;
  for (const char* share : {"a", "b", "c", "d"})
    while (places.ask(taken, share) == PlaceAnswer::Yes) taken.emplace_back(share);
  EXPECT_EQ(taken.size(), 12U);
  EXPECT_EQ(places.ask(taken, "e"), PlaceAnswer::ShareIsUsed);
  while (places.ask(taken, "") == PlaceAnswer::Yes) taken.emplace_back();
  EXPECT_EQ(taken.size(), 16U);
  Shares ours(16);
  EXPECT_EQ(places.ask(ours, ""), PlaceAnswer::Full);
  EXPECT_EQ(places.ask(ours, "a"), PlaceAnswer::Full);
}

TEST(FoxglovePlaces, EvenOfFewPlacesOurUserHasOne) {
  for (const std::size_t all : {1U, 2U, 3U}) {
    const Places places(all);
    Shares taken;
    for (const char* share : {"a", "b", "c", "d"})
      while (places.ask(taken, share) == PlaceAnswer::Yes) taken.emplace_back(share);
    EXPECT_EQ(taken.size(), all);
    EXPECT_EQ(places.ask(taken, ""), PlaceAnswer::Yes);
    taken.emplace_back();
    EXPECT_EQ(places.ask(taken, ""), PlaceAnswer::Full);
  }
}

TEST(FoxglovePlaces, NoneOfOursGivesWayToAnotherUser) {
  const Places places(4);
  EXPECT_FALSE(places.who_gives_way({"", "", ""}, "a"));
  EXPECT_EQ(places.who_gives_way({"", "", "", ""}, "a"), 4U) << "the newcomer itself";
  EXPECT_EQ(places.who_gives_way({"", "a", ""}, "a"), 1U) << "its own one";
  EXPECT_EQ(places.who_gives_way({"", "a", "b", "c"}, "d"), 1U);
  EXPECT_EQ(places.who_gives_way({"", "a", "b", "c"}, ""), 1U);
  EXPECT_EQ(places.who_gives_way({"", "", "", ""}, ""), 0U);
  const Places many(16);
  EXPECT_EQ(many.who_gives_way({"a", "b", "b", "b", "c", "c", "c", "d", "d", "d", "e", "e"}, "f"), 1U)
      << "of the one that has the most";
}

TEST(FoxgloveBudget, ASpentBudgetComesBackAndNoMore) {
  Budget budget(1'000);
  std::int64_t now = 50 * kSecond;
  EXPECT_EQ(budget.left(now), 1'000);
  budget.spend(1'500, now);
  EXPECT_EQ(budget.left(now), -500);
  now += kSecond;
  EXPECT_EQ(budget.left(now), 500);
  EXPECT_EQ(budget.left(now + 100 * kSecond), 1'000);
  budget.spend(INT64_MAX, now);
  EXPECT_LE(budget.left(now), 0);
  EXPECT_GT(budget.left(now + 31 * kSecond), 0) << "nobody waits for ever";
  EXPECT_TRUE(budget.is_full(now + 31 * kSecond));
}

TEST(FoxgloveBudget, UsersThatComeAgainFindTheirBudgetAsTheyLeftIt) {
  Budgets budgets(100);
  const std::int64_t now = kSecond;
  for (int i = 0; i < 11; ++i) {
    Allowance one(budgets, "user 1", now);
    one.take_part(10'000, true, now);
  }
  EXPECT_EQ(Allowance(budgets, "user 1", now).raw(now), 0U) << "110 kB; in a second, 2 x 51.2 kB";
  EXPECT_NE(Allowance(budgets, "user 2", now).raw(now), 0U);
  EXPECT_NE(Allowance(budgets, "", now).raw(now), 0U);
}

TEST(FoxgloveBudget, InventedUsersShareOne) {
  Budgets budgets(100);
  const std::int64_t now = kSecond;
  std::vector<Allowance> all;
  for (int i = 0; i < 1'000; ++i) all.emplace_back(budgets, std::to_string(i), now);
  EXPECT_NE(all[999].raw(now), 0U);
  for (int i = 0; i < 100; ++i) all[998].take_part(10'000, true, now);
  EXPECT_EQ(all[999].raw(now), 0U);
  EXPECT_NE(Allowance(budgets, "", now).raw(now), 0U);
}

TEST(FoxgloveBudget, OurUsersMessagesForTopicsAreFree) {
  Budgets budgets(500);
  const std::int64_t now = kSecond;
  Allowance ours(budgets, "", now), other(budgets, "user 1", now);
  ours.publishes(true);
  other.publishes(true);
  for (Allowance* one : {&ours, &other}) {
    for (int i = 0; i < 100; ++i) {
      one->take_raw(1 << 20, now);
      one->take_part(1 << 20, false, now);
      one->take_message(false, now);
    }
  }
  EXPECT_GT(ours.raw(now), std::size_t{1} << 30);
  EXPECT_EQ(other.raw(now), 0U);
  EXPECT_TRUE(other.waits());
  ours.take_part(1 << 20, true, now);
  EXPECT_EQ(ours.raw(now), 0U) << "texts are not";
}

/// Both ends of a connection over the loopback; `user`: of the end that connects.
struct Pair {
  Fd theirs, ours;
  Pair(int family, bool mapped, std::optional<unsigned> user = {}) {
    const Fd listener(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (user) ::setfsuid(*user);
    theirs = Fd(::socket(mapped ? AF_INET : family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (user) ::setfsuid(::geteuid());
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_addr = mapped ? in6addr_any : in6addr_loopback;
    if (family == AF_INET6) {
      if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&six), sizeof(six)) != 0) return;
    } else {
      EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&four), sizeof(four)), 0);
    }
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    socklen_t length = family == AF_INET6 ? sizeof(six) : sizeof(four);
    auto* const name = family == AF_INET6 ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
    EXPECT_EQ(::getsockname(listener.get(), name, &length), 0);
    if (mapped) {
      four.sin_port = six.sin6_port;
      length = sizeof(four);
    }
    auto* const to = mapped ? reinterpret_cast<sockaddr*>(&four) : name;
    EXPECT_EQ(::connect(theirs.get(), to, length), 0);
    ours = Fd(::accept(listener.get(), nullptr, nullptr));
  }
};

TEST(FoxglovePeer, OurUserIsKnownByItsSocket) {
  EXPECT_EQ(share_of_peer(Pair(AF_INET, false).ours.get()), "");
  const Pair six(AF_INET6, false), mapped(AF_INET6, true);
  if (six.ours) {
    EXPECT_EQ(share_of_peer(six.ours.get()), "");
  }
  if (mapped.ours) {
    EXPECT_EQ(share_of_peer(mapped.ours.get()), "");
  }
}

TEST(FoxglovePeer, AnotherUserHasALimitedShare) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can make sockets of other users";
  EXPECT_EQ(share_of_peer(Pair(AF_INET, false, 47110).ours.get()), "user 47110");
  const Pair six(AF_INET6, false, 47111), mapped(AF_INET6, true, 65534);
  if (six.ours) {
    EXPECT_EQ(share_of_peer(six.ours.get()), "user 47111");
  }
  if (mapped.ours) {
    EXPECT_EQ(share_of_peer(mapped.ours.get()), "user 65534");
  }
}

TEST(FoxglovePeer, APeerThatHasLeftIsForgotten) {
  Pair pair(AF_INET, false);
  pair.theirs.reset();  // the kernel reports root as the user of a socket without a file
  EXPECT_EQ(share_of_peer(pair.ours.get()), "127.0.0.1");
}

}  // namespace
}  // namespace cardan::bridge::foxglove
