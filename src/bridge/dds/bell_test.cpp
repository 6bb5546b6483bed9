// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/bell.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <vector>

namespace cardan::bridge::dds {
namespace {

bool is_readable(const Bell& bell) {
  pollfd fd{.fd = bell.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&fd, 1, 0) == 1;
}

std::vector<Bell::Who> named(const Bell::Rung& rung) { return {rung.named().begin(), rung.named().end()}; }

TEST(Bell, AtFirstEverybodyMayHaveSomething) {
  Bell bell;
  const Bell::Rung rung = bell.answer();
  EXPECT_TRUE(rung);
  EXPECT_TRUE(rung.everybody());
  EXPECT_FALSE(bell.answer());
}

TEST(Bell, SaysWhoRangEachOnce) {
  Bell bell;
  (void)bell.answer();
  for (const Bell::Who who : {7, 9, 7, 9, 7}) bell.ring(who);
  EXPECT_TRUE(is_readable(bell));
  const Bell::Rung rung = bell.answer();
  EXPECT_EQ(named(rung), (std::vector<Bell::Who>{7, 9}));
  EXPECT_FALSE(rung.everybody());
  EXPECT_FALSE(is_readable(bell));
  bell.ring();
  const Bell::Rung nobody = bell.answer();
  EXPECT_TRUE(nobody);
  EXPECT_TRUE(nobody.named().empty());
  EXPECT_FALSE(nobody.everybody());
}

TEST(Bell, OfTooManyItKnowsThatEverybodyMayHaveRung) {
  Bell bell;
  (void)bell.answer();
  for (Bell::Who who = 1; who <= static_cast<Bell::Who>(Bell::Rung::kMostNamed); ++who) bell.ring(who);
  EXPECT_FALSE(bell.answer().everybody());
  for (Bell::Who who = 1; who <= static_cast<Bell::Who>(Bell::Rung::kMostNamed) + 1; ++who) bell.ring(who);
  EXPECT_TRUE(bell.answer().everybody());
  bell.ring_all();
  EXPECT_TRUE(is_readable(bell));
  EXPECT_TRUE(bell.answer().everybody());
}

TEST(Bell, ARingThatComesToItsDescriptorLateLeavesItNotReadable) {
  Bell bell;
  (void)bell.answer();
  bell.ring();
  ASSERT_TRUE(bell.answer());
  // A ring was marked and answered before it wrote, as on a busy computer. It writes now.
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(bell.fd(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
  (void)bell.answer();
  EXPECT_FALSE(is_readable(bell)) << "the bridge would never sleep again";
  EXPECT_FALSE(bell.answer());
}

}  // namespace
}  // namespace cardan::bridge::dds
