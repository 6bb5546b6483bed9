// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/port.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cardan/sample.hpp"
#include "src/runtime/executor/runtime_clock.hpp"

namespace cardan::detail::port_test {
namespace {

class PortTest : public testing::Test {
 protected:
  PortTest() { group_.expect(port_); }
  ~PortTest() override { group_.forget(port_); }
  static Sample<int> sample(std::uint64_t sequence, std::uint64_t missed = 0) {
    return make_sample<int>(std::make_shared<const int>(0), {.sequence = sequence, .missed = missed});
  }
  void push(const Sample<int>& sample) {
    port_.push(*block_of(sample), 0, [this](Callback& callback, auto add) noexcept { group_.offer(callback, add); });
  }
  void fail_on(std::uint64_t sequence) {
    port_.statistics().last_sequence = sequence;
    port_.note_failure();
  }
  [[nodiscard]] std::uint32_t times(std::uint64_t sequence) const {
    std::uint32_t sum = 0;
    for (const FailedOn& failed : port_.failed_on())
      if (failed.sequence == sequence) sum += failed.times;
    return sum;
  }

  RuntimeClock clock_;
  Group group_{{.workers = 0}, clock_, {}};
  Strand strand_;
  Port port_{"in", group_, strand_, 0, 4, 0, [](SampleBlock* block) { drop(block); }};
};

TEST_F(PortTest, LossesBeforeASkippedSampleAreCountedToo) {
  port_.leave_out({.sequence = 7});
  push(sample(7, 3));
  EXPECT_EQ(port_.statistics().skipped.load(), 1U);
  EXPECT_EQ(port_.statistics().missed.load(), 3U);
}

TEST_F(PortTest, ItLeavesOutWhatFailedTwice) {
  port_.remember_failures({{.sequence = 1}, {.sequence = 2, .times = 2}});
  push(sample(1));
  push(sample(2));
  EXPECT_EQ(port_.statistics().skipped.load(), 1U);
  fail_on(1);
  EXPECT_EQ(times(1), 2U) << "the next one leaves it out";
  EXPECT_EQ(port_.failed_on().size(), 2U) << "each once";
}

TEST_F(PortTest, ItsMemoryOfFailuresIsBounded) {
  port_.leave_out({.sequence = 1'000'000});  // a poison sample counts for nothing here
  port_.remember_failures(std::vector<FailedOn>(1, {.sequence = 5, .times = 2}));
  for (std::uint64_t n = 10; n < 10 + 5 * kMostFailedOn; ++n) {
    fail_on(n);
    ASSERT_LE(port_.failed_on().size(), kMostFailedOn);
  }
  EXPECT_EQ(times(5), 2U) << "one that came again is worth more than those that will not";
  EXPECT_EQ(port_.failed_on().back().sequence, 9 + 5 * kMostFailedOn);
  for (const FailedOn& failed : port_.failed_on()) EXPECT_NE(failed.sequence, 1'000'000U);
}

}  // namespace
}  // namespace cardan::detail::port_test
