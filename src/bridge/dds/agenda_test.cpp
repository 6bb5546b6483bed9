// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/agenda.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <limits>
#include <vector>

namespace cardan::bridge::dds {
namespace {

using Ids = std::vector<Agenda::Id>;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

Fd readable() { return Fd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); }

TEST(Agenda, WhoeverIsAddedHasSomethingToDoOnce) {
  Agenda agenda;
  EXPECT_EQ(agenda.take(0), Ids{});
  agenda.add(5);
  agenda.add(3);
  agenda.add(5);
  EXPECT_EQ(agenda.take(0), (Ids{3, 5}));
  EXPECT_EQ(agenda.take(0), Ids{});
}

TEST(Agenda, AReadableDescriptorReportsOnceForEachWatch) {
  Agenda agenda;
  const Fd fd = readable(), quiet(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(agenda.watch(1, fd.get()));
  ASSERT_TRUE(agenda.watch(2, quiet.get()));
  EXPECT_EQ(agenda.take(0), Ids{1});
  EXPECT_EQ(agenda.take(0), Ids{}) << "although it is still readable: its topic may have to wait";
  ASSERT_TRUE(agenda.watch(1, fd.get()));
  EXPECT_EQ(agenda.take(0), Ids{1}) << "it was readable before it was watched";
  EXPECT_FALSE(agenda.watch(3, -1));
}

TEST(Agenda, ADescriptorThatTakesTheNumberOfAClosedOneIsWatched) {
  Agenda agenda;
  Fd first(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int number = first.get();
  ASSERT_TRUE(agenda.watch(1, number));
  first = Fd();
  const Fd second = readable();
  ASSERT_EQ(second.get(), number);
  ASSERT_TRUE(agenda.watch(2, number));
  EXPECT_EQ(agenda.take(0), Ids{2});
}

TEST(Agenda, TimesComeInOrderAndTheLastOneCounts) {
  Agenda agenda;
  EXPECT_EQ(agenda.next_ns(), kNever);
  agenda.at(1, 100);
  agenda.at(2, 50);
  agenda.at(2, 200);
  EXPECT_EQ(agenda.next_ns(), 100);
  EXPECT_EQ(agenda.take(99), Ids{});
  EXPECT_EQ(agenda.take(100), Ids{1});
  EXPECT_EQ(agenda.next_ns(), 200);
  agenda.at(2, kNever);
  EXPECT_EQ(agenda.next_ns(), kNever);
  EXPECT_EQ(agenda.take(1000), Ids{});
}

TEST(Agenda, WhatIsForgottenHasNothingToDo) {
  Agenda agenda;
  agenda.add(1);
  agenda.at(1, 10);
  agenda.forget(1);
  EXPECT_EQ(agenda.take(20), Ids{});
}

TEST(Agenda, ManyReadableOnesAllComeInTheEnd) {
  Agenda agenda;
  std::vector<Fd> all;
  for (Agenda::Id id = 1; id <= 200; ++id) {
    all.push_back(readable());
    ASSERT_TRUE(agenda.watch(id, all.back().get()));
  }
  std::size_t reported = 0;
  for (int i = 0; i < 10; ++i) reported += agenda.take(0).size();
  EXPECT_EQ(reported, 200U);
}

}  // namespace
}  // namespace cardan::bridge::dds
