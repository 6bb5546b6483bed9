// SPDX-License-Identifier: Apache-2.0
// Publishers and subscribers within one process: freshness, queues, ownership, waiting, events.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/publisher.hpp"
#include "cardan/stop.hpp"
#include "cardan/subscriber.hpp"
#include "cardan/wait_any.hpp"
#include "tests/support/run_directory.hpp"

namespace {

struct Count {
  std::uint64_t value;
  std::uint64_t twice;
};
struct Text {
  std::uint32_t number;
  cardan::shm::vector<std::uint32_t> values;
};
struct Other {
  std::uint32_t value;
};

}  // namespace

CARDAN_MESSAGE(Count, "test_msgs/msg/Count", value, twice);
CARDAN_MESSAGE(Text, "test_msgs/msg/Text", number, values);
CARDAN_MESSAGE(Other, "test_msgs/msg/Other", value);

namespace {

using namespace std::chrono_literals;
using cardan::Reason;

class Endpoints : public cardan::test::OwnRunDirectory {};

constexpr cardan::Topic<Count> kFresh{"/fresh", {}};
constexpr cardan::Topic<Count> kQueue{"/queue", {.depth = 4}};

void publish(cardan::Publisher<Count>& out, std::uint64_t value) {
  auto loan = out.loan();
  ASSERT_TRUE(loan);
  *loan = {value, 2 * value};
  ASSERT_TRUE(out.publish(std::move(loan)));
}

TEST_F(Endpoints, DepthOneGivesTheFreshestAndCountsTheRest) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  EXPECT_FALSE(in.take());
  EXPECT_EQ(in.reason(), Reason::None);
  for (std::uint64_t i = 1; i <= 5; ++i) publish(out, i);
  auto sample = in.take();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->value, 5U);
  EXPECT_EQ(sample.sequence(), 5U);
  EXPECT_EQ(sample.missed(), 4U);
  EXPECT_EQ(in.missed(), 4U);
  EXPECT_FALSE(in.take());
}

TEST_F(Endpoints, DepthKGivesInOrderAndCountsWhatWasOverwritten) {
  cardan::Publisher out{kQueue};
  cardan::Subscriber in{kQueue};
  for (std::uint64_t i = 1; i <= 6; ++i) publish(out, i);
  for (std::uint64_t i = 3; i <= 6; ++i) {
    auto sample = in.take();
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->value, i);
    EXPECT_EQ(sample.missed(), i == 3 ? 2U : 0U);
  }
  EXPECT_FALSE(in.take());
}

TEST_F(Endpoints, LateJoinerGetsTheLastDepthSamples) {
  cardan::Publisher out{kQueue};
  for (std::uint64_t i = 1; i <= 6; ++i) publish(out, i);
  cardan::Subscriber in{kQueue};
  for (std::uint64_t i = 3; i <= 6; ++i) EXPECT_EQ(in.take()->value, i);
  EXPECT_EQ(in.missed(), 0U);
}

TEST_F(Endpoints, HeldSampleStaysWhilePublisherLaps) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh, {.holds = 2}};
  publish(out, 1);
  const auto held = in.take();
  ASSERT_TRUE(held);
  for (std::uint64_t i = 2; i < 1000; ++i) {
    publish(out, i);
    const auto newer = in.take();
    ASSERT_EQ(newer->value, i);
    ASSERT_EQ(held->value, 1U);
    ASSERT_EQ(held->twice, 2U);
  }
}

TEST_F(Endpoints, SampleOutlivesItsSubscriberAndItsPublisher) {
  cardan::Sample<Count> kept;
  {
    cardan::Publisher out{kFresh};
    {
      cardan::Subscriber in{kFresh};
      publish(out, 7);
      kept = in.take();
    }
    for (std::uint64_t i = 8; i < 50; ++i) publish(out, i);
    EXPECT_EQ(kept->value, 7U);
  }
  EXPECT_EQ(kept->value, 7U);
  EXPECT_EQ(kept->twice, 14U);
}

TEST_F(Endpoints, TakeBeyondTheAnnouncementIsRefused) {
  cardan::Publisher out{kQueue};
  cardan::Subscriber in{kQueue};
  for (std::uint64_t i = 1; i <= 4; ++i) publish(out, i);
  auto a = in.take();
  auto b = in.take();  // holds 1 + threads 1
  EXPECT_FALSE(in.take());
  EXPECT_EQ(in.reason(), Reason::Limit);
  a.reset();
  EXPECT_EQ(in.take()->value, 3U);
  EXPECT_EQ(b->value, 2U);
}

TEST_F(Endpoints, SamplesAreSharedLikeSharedPointers) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  publish(out, 1);
  auto a = in.take();
  const cardan::Sample<Count> b = a;
  a.reset();
  for (std::uint64_t i = 2; i < 20; ++i) publish(out, i);
  EXPECT_EQ(b->value, 1U);
  EXPECT_FALSE(a);
}

TEST_F(Endpoints, LoansAreOwnedOnceAndGivenBack) {
  cardan::Publisher out{kFresh};
  auto loan = out.loan();
  EXPECT_TRUE(loan);
  EXPECT_FALSE(out.loan()) << "loans = 1";
  loan = {};
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(out.loan());
  EXPECT_EQ(out.published(), 0U);
}

TEST_F(Endpoints, VectorsLiveInTheSlot) {
  const cardan::Topic<Text> topic{"/text", {.max_bytes = 4096}};
  cardan::Publisher out{topic};
  cardan::Subscriber in{topic};
  auto loan = out.loan();
  loan->number = 3;
  for (std::uint32_t i = 0; i < 100; ++i) loan->values.push_back(i * i);
  EXPECT_TRUE(out.publish(std::move(loan)));
  const auto sample = in.take();
  ASSERT_TRUE(sample);
  ASSERT_EQ(sample->values.size(), 100U);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(sample->values[i], i * i);
}

TEST_F(Endpoints, SeveralPublishersAreMergedByPublishTime) {
  cardan::Publisher a{kQueue};
  cardan::Publisher b{kQueue};
  cardan::Subscriber in{kQueue};
  EXPECT_EQ(in.publishers(), 2U);
  for (std::uint64_t i = 1; i <= 4; ++i) publish(i % 2 == 0 ? a : b, i);
  for (std::uint64_t i = 1; i <= 4; ++i) EXPECT_EQ(in.take()->value, i);
}

TEST_F(Endpoints, WaitTimesOut) {
  cardan::Subscriber in{kFresh};
  EXPECT_FALSE(in.wait(10ms));
  EXPECT_EQ(in.reason(), Reason::TimedOut);
}

class EveryWaiting : public Endpoints, public testing::WithParamInterface<cardan::Waiting> {};

TEST_P(EveryWaiting, ReaderGetsEveryPublicationOfASlowPublisher) {
  cardan::Publisher out{kQueue};
  cardan::Subscriber in{kQueue, {.waiting = GetParam()}};
  std::thread publisher([&] {
    for (std::uint64_t i = 1; i <= 100; ++i) {
      auto loan = out.loan();
      *loan = {i, 2 * i};
      if (i % 10 == 0) std::this_thread::sleep_for(1ms);
      out.publish(std::move(loan));
      std::this_thread::sleep_for(500us);
      if (i % 7 == 0) (void)out.loan();  // abandoned
    }
  });
  std::uint64_t last = 0;
  while (last < 100) {
    const auto sample = in.wait(10s);
    ASSERT_TRUE(sample) << "after " << last;
    ASSERT_EQ(sample->value, sample.sequence());
    ASSERT_EQ(sample.sequence(), last + sample.missed() + 1);
    last = sample.sequence();
  }
  publisher.join();
  EXPECT_EQ(in.received() + in.missed(), 100U);
}
INSTANTIATE_TEST_SUITE_P(All, EveryWaiting,
                         testing::Values(cardan::block(), cardan::spin_then_block(100us), cardan::prewake(),
                                         cardan::anticipate()));

TEST_F(Endpoints, DescriptorIsReadableWhenSomethingIsThere) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  pollfd fd{.fd = in.fd(), .events = POLLIN, .revents = 0};
  for (std::uint64_t i = 1; i <= 20; ++i) {
    while (in.take()) {
    }
    std::thread later([&] {
      std::this_thread::sleep_for(2ms);
      publish(out, i);
    });
    cardan::Sample<Count> sample;
    do {
      ASSERT_EQ(::poll(&fd, 1, 5000), 1);
      sample = in.take();
    } while (!sample);
    EXPECT_EQ(sample->value, i);
    later.join();
  }
}

TEST_F(Endpoints, WaitAnyNamesTheOneThatIsReady) {
  cardan::Publisher a{kFresh};
  cardan::Publisher b{kQueue};
  cardan::Subscriber in_a{kFresh};
  cardan::Subscriber in_b{kQueue};
  EXPECT_EQ(cardan::wait_any_for(5ms, in_a, in_b), cardan::kNothing);
  std::thread later([&] {
    std::this_thread::sleep_for(5ms);
    publish(b, 1);
  });
  EXPECT_EQ(cardan::wait_any(in_a, in_b), 1U);
  later.join();
  cardan::Timer timer{3ms};
  EXPECT_EQ(cardan::wait_any(in_a, timer), 1U);
  EXPECT_GE(timer.expired(), 1U);
  publish(a, 1);
  EXPECT_EQ(cardan::wait_any(in_a, timer), 0U);
  EXPECT_TRUE(in_a.take());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(cardan::wait_any(in_a, cardan::Readable{ends[0]}), 1U) << "made in the call, as the guide shows it";
  for (const int end : ends) ::close(end);
}

TEST_F(Endpoints, TheLongestTimeOutsDoNotEnd) {
  cardan::Publisher out{kQueue};
  cardan::Subscriber in{kQueue};
  std::uint64_t n = 0;
  for (const auto timeout : {std::chrono::nanoseconds::max(), std::chrono::nanoseconds::max() - 1h}) {
    std::thread later([&] {
      std::this_thread::sleep_for(5ms);
      publish(out, ++n);
    });
    EXPECT_EQ(cardan::wait_any_for(timeout, in), 0U);
    later.join();
    EXPECT_TRUE(in.take());
    std::thread again([&] {
      std::this_thread::sleep_for(5ms);
      publish(out, ++n);
    });
    EXPECT_TRUE(in.wait(timeout));
    again.join();
  }
}

TEST_F(Endpoints, StopEndsEveryWait) {
  cardan::Publisher out{kFresh};
  cardan::Subscriber in{kFresh};
  std::thread waiter([&] {
    EXPECT_FALSE(in.wait());
    EXPECT_EQ(in.reason(), Reason::Stopped);
  });
  std::this_thread::sleep_for(20ms);
  cardan::request_stop();
  waiter.join();
  cardan::detail::clear_stop();
}

TEST_F(Endpoints, EventsSayWhoCameAndWent) {
  std::vector<cardan::Event::Kind> seen;
  cardan::Subscriber in{kFresh, {.events_end_wait = true}};
  {
    cardan::Publisher out{kFresh};
    EXPECT_FALSE(in.wait(5s));
    ASSERT_EQ(in.reason(), Reason::Event);
    EXPECT_EQ(in.event()->kind, cardan::Event::Kind::Joined);
    publish(out, 1);
  }
  EXPECT_EQ(in.wait(5s)->value, 1U) << "what a publisher left is delivered before its end";
  EXPECT_FALSE(in.wait(5s));
  EXPECT_EQ(in.event()->kind, cardan::Event::Kind::Left);
}

TEST_F(Endpoints, AnotherTypeOnTheTopicIsAnError) {
  cardan::Publisher out{kFresh};
  const cardan::Topic<Other> other{"/fresh", {}};
  try {
    cardan::Subscriber in{other};
    FAIL() << "no error";
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), cardan::ErrorCode::Incompatible);
    EXPECT_NE(std::string(e.what()).find("test_msgs/msg/Count"), std::string::npos) << e.what();
  }
}

TEST_F(Endpoints, ReliablePublishWaitsForTheReader) {
  const cardan::Topic<Count> topic{"/reliable", {.depth = 2, .reliable = true, .reliable_timeout = 5s}};
  cardan::Publisher out{topic};
  cardan::Subscriber in{topic};
  std::thread publisher([&] {
    for (std::uint64_t i = 1; i <= 200; ++i) publish(out, i);
  });
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const auto sample = in.wait(10s);
    ASSERT_TRUE(sample);
    ASSERT_EQ(sample->value, i);
    if (i % 50 == 0) std::this_thread::sleep_for(5ms);
  }
  publisher.join();
  EXPECT_EQ(in.missed(), 0U);
}

TEST_F(Endpoints, ReliableTimeoutDemotesUntilCaughtUp) {
  const cardan::Topic<Count> topic{"/demoted", {.depth = 1, .reliable = true, .reliable_timeout = 5ms}};
  cardan::Publisher out{topic};
  cardan::Subscriber in{topic, {.events_end_wait = true}};
  EXPECT_TRUE(out.publish({1, 2}));
  EXPECT_FALSE(out.publish({2, 4})) << "the reader has not taken the first";
  EXPECT_TRUE(out.publish({3, 6})) << "demoted: nobody is waited for";
  EXPECT_EQ(in.take()->value, 3U);
  EXPECT_EQ(in.missed(), 2U);
  EXPECT_TRUE(out.publish({4, 8}));
  EXPECT_FALSE(out.publish({5, 10})) << "it had caught up, so it is waited for again";
}

TEST_F(Endpoints, DeadlineMissIsAnEvent) {
  const cardan::Topic<Count> topic{"/deadline", {.deadline = 20ms}};
  cardan::Publisher out{topic};
  cardan::Subscriber in{topic, {.events_end_wait = true}};
  publish(out, 1);
  EXPECT_TRUE(in.wait(5s));
  for (;;) {
    EXPECT_FALSE(in.wait(5s));
    ASSERT_EQ(in.reason(), Reason::Event);
    if (in.event()->kind == cardan::Event::Kind::DeadlineMissed) break;
  }
}

TEST_F(Endpoints, LifespanDropsWhatIsTooOld) {
  const cardan::Topic<Count> topic{"/lifespan", {.depth = 4, .lifespan = 10ms}};
  cardan::Publisher out{topic};
  cardan::Subscriber in{topic};
  publish(out, 1);
  std::this_thread::sleep_for(20ms);
  publish(out, 2);
  EXPECT_EQ(in.take()->value, 2U);
  EXPECT_EQ(in.missed(), 1U);
}

TEST_F(Endpoints, CopyLatestTakesNothing) {
  const cardan::Topic<Text> topic{"/text", {.max_bytes = 4096}};
  cardan::Publisher out{topic};
  cardan::Subscriber in{topic};
  cardan::ObservedSample copy;
  EXPECT_FALSE(in.copy_latest(copy));
  auto loan = out.loan();
  loan->values.push_back(42);
  out.publish(std::move(loan));
  ASSERT_TRUE(in.copy_latest(copy));
  ASSERT_NE(copy.as<Text>(), nullptr);
  EXPECT_EQ(copy.as<Text>()->values.at(0), 42U);
  EXPECT_EQ(in.received(), 0U);
  EXPECT_EQ(in.take()->values.at(0), 42U);
}

TEST_F(Endpoints, BadOptionsAreNamed) {
  for (const auto& topic :
       {cardan::Topic<Count>{"no-slash", {}}, cardan::Topic<Count>{"/a b", {}},
        cardan::Topic<Count>{"/x", {.depth = 0}}, cardan::Topic<Count>{"/x", {.max_bytes = std::size_t{2} << 30}},
        cardan::Topic<Count>{"/x", {.loans = 0}},
        cardan::Topic<Count>{"/x", {.max_bytes = 1 << 20, .max_memory = 1 << 20}}})
    EXPECT_THROW(cardan::Publisher<Count>{topic}, cardan::Error) << topic.name;
}

}  // namespace
