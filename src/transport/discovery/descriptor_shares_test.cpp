// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/descriptor_shares.hpp"
#include "src/transport/endpoint/foreign.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "src/base/socket.hpp"

namespace {

using cardan::detail::DescriptorShares;
const uid_t kA = ::geteuid() + 1000;

TEST(DescriptorShares, OneUserHasASixteenthAndAllTogetherAQuarter) {
  DescriptorShares shares(1024);
  std::vector<DescriptorShares::Claim> claims;
  std::size_t most = 0;
  std::size_t all = 0;
  for (uid_t uid = kA; uid < kA + 20; ++uid) {
    std::size_t one = 0;
    while (auto claim = shares.claim(uid, 1)) {
      claims.push_back(std::move(*claim));
      ++one;
    }
    most = std::max(most, one);
    all += one;
  }
  EXPECT_EQ(most, 64U);
  EXPECT_EQ(all, 256U);
  EXPECT_TRUE(shares.claim(::geteuid(), 5000)) << "our own user is not counted";
  EXPECT_TRUE(shares.claim(0, 5000)) << "nor is root";
  claims.clear();
  EXPECT_TRUE(shares.claim(kA, 64));
}

TEST(DescriptorShares, AClaimGivesBackWhatItTookOver) {
  DescriptorShares shares(64);
  auto first = shares.claim(kA, 2);
  auto second = shares.claim(kA, 2);
  ASSERT_TRUE(first && second);
  first->join(std::move(*second));
  second.reset();
  EXPECT_FALSE(shares.claim(kA, 1));
  first->give_back();
  EXPECT_TRUE(shares.claim(kA, 4));
}

TEST(DescriptorShares, AnUnmappedUserIsAnotherUser) {
  EXPECT_TRUE(cardan::detail::is_foreign(cardan::socket::kUnmapped));
}

}  // namespace
