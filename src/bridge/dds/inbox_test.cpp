// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/inbox.hpp"

#include <gtest/gtest.h>

namespace cardan::bridge::dds {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

Origin message(std::uint8_t writer, std::int64_t sequence) { return {.writer = {writer}, .sequence = sequence}; }

TEST(Inbox, AGapInTheNumbersOfAWriterIsALoss) {
  Inbox inbox(kMiB, Inbox::Way::Kept);
  inbox.note(message(1, 7));  // whatever was before
  EXPECT_EQ(inbox.take_lost(), 0U);
  inbox.note(message(1, 8));
  inbox.note(message(2, 100));
  inbox.note(message(1, 11));
  EXPECT_EQ(inbox.take_lost(), 2U);
  inbox.note(message(2, 101));
  EXPECT_EQ(inbox.take_lost(), 0U) << "each writer counts by itself";
  inbox.note(message(1, 11));
  inbox.note(message(1, 9));
  inbox.note(message(1, 12));
  EXPECT_EQ(inbox.take_lost(), 0U) << "what comes again, or late, was never missing from what is new";
}

TEST(Inbox, TheFirstNumberOfAWriterStaysKnown) {
  Inbox inbox(kMiB, Inbox::Way::Kept);
  EXPECT_EQ(inbox.came_of({1}).value().first, 0);
  for (std::int64_t number = 7; number < 30; ++number) inbox.note(message(1, number));
  EXPECT_EQ(inbox.came_of({1}).value().first, 7);
  EXPECT_EQ(inbox.came_of({1}).value().last, 29);
}

TEST(Inbox, NonsenseInNumbersCostsLittle) {
  Inbox inbox(kMiB, Inbox::Way::Kept);
  inbox.note(message(1, 1));
  inbox.note(message(1, INT64_MAX));
  EXPECT_EQ(inbox.take_lost(), 1U);
  inbox.note(message(1, -5));
  inbox.note(message(1, 0));
  EXPECT_EQ(inbox.take_lost(), 0U);
  for (int round = 0; round < 3; ++round)
    for (int writer = 0; writer < 256; ++writer) inbox.note(message(static_cast<std::uint8_t>(writer), 1 + 10 * round));
  EXPECT_EQ(inbox.take_lost(), 0U) << "of more writers than it knows, each one is new again and again";
  for (int sequence = 1000; sequence < 1003; ++sequence)
    for (int writer = 0; writer < 63; ++writer) inbox.note(message(static_cast<std::uint8_t>(writer), 2 * sequence));
  EXPECT_EQ(inbox.take_lost(), 2U * 63U);
}

TEST(Inbox, TheNextOneContinuesTheNumbers) {
  Inbox first(kMiB, Inbox::Way::Kept);
  EXPECT_TRUE(first.note(message(1, 5)));
  Inbox second(kMiB, Inbox::Way::Kept);
  second.go_on_from(first);
  EXPECT_FALSE(second.note(message(1, 4))) << "a latched one that comes again";
  EXPECT_FALSE(second.note(message(1, 5)));
  EXPECT_TRUE(second.note(message(2, 1)));
  EXPECT_TRUE(second.note(message(1, 9)));
  EXPECT_EQ(second.take_lost(), 3U) << "written while there was no reader";
}

TEST(Inbox, AnInboxThatCopiesCountsNoGaps) {
  Inbox inbox(kMiB);
  inbox.note(message(1, 1));
  inbox.note(message(1, 5));
  EXPECT_EQ(inbox.take_lost(), 0U);
  EXPECT_FALSE(inbox.keep(kMiB));
}

TEST(Inbox, ItKeepsABoundedAmount) {
  Inbox small(kMiB, Inbox::Way::Kept);
  EXPECT_FALSE(small.keep(0));
  EXPECT_TRUE(small.keep(15 * kMiB));
  EXPECT_TRUE(small.keep(kMiB));
  EXPECT_FALSE(small.keep(kMiB));
  small.let_go(2 * kMiB);
  EXPECT_TRUE(small.keep(2 * kMiB));
  EXPECT_FALSE(small.keep(1));
  Inbox large(64 * kMiB, Inbox::Way::Kept);
  EXPECT_TRUE(large.keep(128 * kMiB));
  EXPECT_FALSE(large.keep(1));
}

}  // namespace
}  // namespace cardan::bridge::dds
