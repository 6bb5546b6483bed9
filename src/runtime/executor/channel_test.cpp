// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/channel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "cardan/sample.hpp"
#include "src/runtime/executor/last_samples.hpp"
#include "src/runtime/executor/runtime_clock.hpp"

namespace cardan::detail::channel_test {
namespace {

using namespace std::chrono_literals;

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

/// Publishes numbers as an output does.
class Numbers {
 public:
  Numbers(Channel& channel, std::uint32_t depth) : channel_(channel), last_(depth) { channel_.add(last_, nullptr); }
  ~Numbers() { channel_.remove(last_, nullptr); }
  void publish(int value, std::int64_t time = 0) {
    const auto sample =
        make_sample<int>(std::make_shared<const int>(value), {.sequence = ++count_, .publish_time = time});
    const std::lock_guard lock(last_.mutex());
    channel_.deliver(*block_of(sample), time, last_);
    last_.add(*block_of(sample));
  }
  [[nodiscard]] LastSamples& last() noexcept { return last_; }

 private:
  Channel& channel_;
  LastSamples last_;
  std::uint64_t count_ = 0;
};

class ChannelTest : public testing::Test {
 protected:
  std::unique_ptr<Port> input(std::uint32_t depth) {
    return std::make_unique<Port>("in", group_, strand_, 0, depth, 0, [this](SampleBlock* block) {
      const Sample<int> sample = sample_of<int>(block);
      got_.push_back(*sample);
    });
  }
  std::vector<int> run() {
    while (group_.run_one()) {
    }
    return std::exchange(got_, {});
  }

  RuntimeClock clock_;
  Group group_{{.workers = 0}, clock_, {}};
  Strand strand_;
  std::vector<int> got_;
  Channel channel_{"/numbers", {.cpp = typeid(int)}};
};

TEST_F(ChannelTest, ALateInputIsGivenTheLastOfEachOutputInTheOrderOfTimes) {
  Numbers odd(channel_, 2), even(channel_, 2);
  for (const int n : {1, 3, 5}) odd.publish(n, n);
  for (const int n : {2, 4, 6}) even.publish(n, n);
  const auto port = input(8);
  group_.expect(*port);
  channel_.add(*port);
  odd.publish(7, 7);
  EXPECT_EQ(run(), (std::vector<int>{3, 4, 5, 6, 7}));
  EXPECT_EQ(port->statistics().dropped.load(), 0U);
  channel_.remove(*port);
  odd.publish(9, 9);
  EXPECT_EQ(run(), std::vector<int>{});
  group_.forget(*port);
}

TEST_F(ChannelTest, MessagesOfSeveralOutputsThatDoNotFitAreCounted) {
  Numbers one(channel_, 1), two(channel_, 1), three(channel_, 3);
  one.publish(1, 1);
  two.publish(2, 2);
  for (const int n : {3, 4, 5}) three.publish(n, n);
  const auto port = input(1);
  group_.expect(*port);
  channel_.add(*port);
  EXPECT_EQ(run(), std::vector<int>{5});
  EXPECT_EQ(port->statistics().dropped.load(), 2U) << "the older ones of one output are not a loss";
  channel_.remove(*port);
  group_.forget(*port);
}

TEST_F(ChannelTest, AnOutputWhoseComponentHasEndedGivesNothingOfBeforeAndContinues) {
  Numbers output(channel_, 2);
  output.publish(1);
  channel_.forget(output.last());
  output.last().stop();
  const auto port = input(8);
  group_.expect(*port);
  channel_.add(*port);
  output.publish(2);
  EXPECT_EQ(run(), std::vector<int>{2});
  channel_.remove(*port);
  group_.forget(*port);
}

TEST_F(ChannelTest, WhileOnePublisherWaitsTheOthersPublish) {
  Numbers quick(channel_, 2), waits(channel_, 2);
  quick.publish(1, 1);
  const auto port = input(8);
  group_.expect(*port);
  quick.last().stop();          // so that it shows when the port comes to it
  waits.last().mutex().lock();  // as in a publication that waits for a reliable reader
  std::atomic<bool> added{false};
  std::thread adding([&] {
    channel_.add(*port);
    added = true;
  });
  EXPECT_TRUE(soon([&] { return quick.last().wanted(); }));
  bool could_publish = false;
  soon([&] { return could_publish = could_publish || quick.last().mutex().try_lock(); });
  EXPECT_TRUE(could_publish);
  if (could_publish) quick.last().mutex().unlock();
  EXPECT_FALSE(added);
  if (could_publish) quick.publish(2, 2);
  waits.last().mutex().unlock();
  adding.join();
  waits.publish(3, 3);
  EXPECT_EQ(run(), (std::vector<int>{2, 3})) << "what came meanwhile comes once";
  channel_.remove(*port);
  group_.forget(*port);
}

}  // namespace
}  // namespace cardan::detail::channel_test
