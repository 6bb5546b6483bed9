// SPDX-License-Identifier: Apache-2.0
#include "cardan_rclcpp/detail/prompt.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

namespace cardan::ros::detail {
namespace {

struct Scheduling {
  std::uint32_t policy = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice = 0;  // 0: this kernel has none of a thread's own
};

Scheduling of_this_thread() {
  std::array<std::uint64_t, 6> words{};  // struct sched_attr
  EXPECT_EQ(::syscall(SYS_sched_getattr, 0, words.data(), sizeof words, 0), 0);
  return {static_cast<std::uint32_t>(words[0] >> 32U), static_cast<std::int32_t>(words[2]),
          static_cast<std::uint32_t>(words[2] >> 32U), words[3]};
}

bool may_be_realtime() {
  bool may = false;
  std::thread([&may] {
    const sched_param lowest{1};
    may = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &lowest) == 0;
  }).join();
  return may;
}

TEST(Prompt, AThreadGetsTheLowestRealtimePriorityOrAShortSlice) {
  const bool realtime = may_be_realtime();
  std::thread([realtime] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 3), 0);
    const Scheduling before = of_this_thread();
    be_prompt();
    const Scheduling after = of_this_thread();
    if (realtime) {
      EXPECT_EQ(after.policy, static_cast<std::uint32_t>(SCHED_FIFO));
      EXPECT_EQ(after.priority, 1U);
      return;
    }
    EXPECT_EQ(after.policy, static_cast<std::uint32_t>(SCHED_OTHER));
    EXPECT_EQ(after.nice, 3) << "what the user chose stays";
    if (before.slice == 0) GTEST_SKIP() << "Linux before 6.12: no slices of a thread's own";
    EXPECT_EQ(after.slice, 100'000U);
    EXPECT_LT(after.slice, before.slice);
  }).join();
}

TEST(Prompt, AThreadThatIsNotAnOrdinaryOneStaysAsItIs) {
  std::thread([] {
    const sched_param none{0};
    ASSERT_EQ(::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &none), 0);
    be_prompt();
    EXPECT_EQ(of_this_thread().policy, static_cast<std::uint32_t>(SCHED_BATCH));
  }).join();
  if (!may_be_realtime()) return;
  std::thread([] {
    const sched_param high{7};
    ASSERT_EQ(::pthread_setschedparam(::pthread_self(), SCHED_RR, &high), 0);
    be_prompt();
    EXPECT_EQ(of_this_thread().policy, static_cast<std::uint32_t>(SCHED_RR));
    EXPECT_EQ(of_this_thread().priority, 7U);
  }).join();
}

}  // namespace
}  // namespace cardan::ros::detail

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
