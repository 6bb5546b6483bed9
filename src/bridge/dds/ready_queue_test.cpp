// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/ready_queue.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <limits>
#include <vector>

namespace cardan::bridge::dds {
namespace {

using Ids = std::vector<ReadyQueue::Id>;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

Fd readable() { return Fd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); }

TEST(ReadyQueue, AnAddedEntityIsReadyOnce) {
  ReadyQueue ready_queue;
  EXPECT_EQ(ready_queue.take(0), Ids{});
  ready_queue.add(5);
  ready_queue.add(3);
  ready_queue.add(5);
  EXPECT_EQ(ready_queue.take(0), (Ids{3, 5}));
  EXPECT_EQ(ready_queue.take(0), Ids{});
}

TEST(ReadyQueue, AReadableDescriptorReportsOnceForEachWatch) {
  ReadyQueue ready_queue;
  const Fd fd = readable(), quiet(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(ready_queue.watch(1, fd.get()));
  ASSERT_TRUE(ready_queue.watch(2, quiet.get()));
  EXPECT_EQ(ready_queue.take(0), Ids{1});
  EXPECT_EQ(ready_queue.take(0), Ids{}) << "although it is still readable: its topic may have to wait";
  ASSERT_TRUE(ready_queue.watch(1, fd.get()));
  EXPECT_EQ(ready_queue.take(0), Ids{1}) << "it was readable before it was watched";
  EXPECT_FALSE(ready_queue.watch(3, -1));
}

TEST(ReadyQueue, ADescriptorThatTakesTheNumberOfAClosedOneIsWatched) {
  ReadyQueue ready_queue;
  Fd first(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int number = first.get();
  ASSERT_TRUE(ready_queue.watch(1, number));
  first = Fd();
  const Fd second = readable();
  ASSERT_EQ(second.get(), number);
  ASSERT_TRUE(ready_queue.watch(2, number));
  EXPECT_EQ(ready_queue.take(0), Ids{2});
}

TEST(ReadyQueue, TimesComeInOrderAndTheLastOneCounts) {
  ReadyQueue ready_queue;
  EXPECT_EQ(ready_queue.next_ns(), kNever);
  ready_queue.at(1, 100);
  ready_queue.at(2, 50);
  ready_queue.at(2, 200);
  EXPECT_EQ(ready_queue.next_ns(), 100);
  EXPECT_EQ(ready_queue.take(99), Ids{});
  EXPECT_EQ(ready_queue.take(100), Ids{1});
  EXPECT_EQ(ready_queue.next_ns(), 200);
  ready_queue.at(2, kNever);
  EXPECT_EQ(ready_queue.next_ns(), kNever);
  EXPECT_EQ(ready_queue.take(1000), Ids{});
}

TEST(ReadyQueue, AForgottenEntityIsNotReady) {
  ReadyQueue ready_queue;
  ready_queue.add(1);
  ready_queue.at(1, 10);
  ready_queue.forget(1);
  EXPECT_EQ(ready_queue.take(20), Ids{});
}

TEST(ReadyQueue, ManyReadableOnesAllComeInTheEnd) {
  ReadyQueue ready_queue;
  std::vector<Fd> all;
  for (ReadyQueue::Id id = 1; id <= 200; ++id) {
    all.push_back(readable());
    ASSERT_TRUE(ready_queue.watch(id, all.back().get()));
  }
  std::size_t reported = 0;
  for (int i = 0; i < 10; ++i) reported += ready_queue.take(0).size();
  EXPECT_EQ(reported, 200U);
}

}  // namespace
}  // namespace cardan::bridge::dds
