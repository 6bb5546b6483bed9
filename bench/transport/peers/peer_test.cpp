// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/peers/peer.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

const RegisteredPeer kAdded(
    {.peer = Peer{"added"}, .place = 1000, .waits = block_only, .play = [](const Area&, std::uint32_t) {}});

// The work of a newcomer: one file, and the bench offers it.
TEST(Peers, AFileAddsOne) {
  EXPECT_EQ(names_of_peers(), "raw,sim,uds,tcp,tzc,cardan,added");
  const TransportOptions options = parse_options({.peers = "added"}, {0, 1});
  EXPECT_EQ(options.contenders, (std::vector<Contender>{{Peer{"added"}, Wait::Block}}));
}

TEST(Peers, AreFoundByName) {
  ASSERT_NE(find_peer("uds"), nullptr);
  EXPECT_EQ(find_peer("uds")->peer, Peer{"uds"});
  EXPECT_EQ(find_peer("ros"), nullptr);
  EXPECT_EQ(&kind_of(kRaw), find_peer("raw"));
  EXPECT_THROW((void)kind_of(Peer{"ros"}), Error);
}

TEST(Peers, WaitAsTheyCan) {
  EXPECT_EQ(waits_of({Wait::Poll}, {Wait::Block}, {Wait::Spin}), std::vector{Wait::Poll});
  EXPECT_EQ(waits_of({Wait::Poll}, {Wait::Block}, {Wait::Spin, Wait::Block}), (std::vector{Wait::Poll, Wait::Block}));
}

}  // namespace
}  // namespace cardan::bench
