// SPDX-License-Identifier: Apache-2.0
// A publisher of a type that is known at run time only, read by a subscriber that knows it.
#include "cardan/any_publisher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "cardan/error.hpp"
#include "cardan/subscriber.hpp"
#include "src/transport/discovery/announcement.hpp"
#include "tests/support/run_directory.hpp"

namespace any_publisher_test {

struct Plain {
  std::uint64_t value = 7;
  std::uint32_t more = 8;
};
CARDAN_MESSAGE(Plain, "test_msgs/msg/AnyPlain", value, more);

struct Listing {
  std::uint32_t number = 1;
  cardan::shm::vector<std::uint32_t> values;
  cardan::shm::string text;
};
CARDAN_MESSAGE(Listing, "test_msgs/msg/AnyListing", number, values, text);

using namespace std::chrono_literals;
using cardan::AnyPublisher;
using cardan::Subscriber;
using cardan::Topic;
using cardan::detail::message_type_of;

TEST(Via, NetworksAreSeparatedBySpaces) {
  using cardan::detail::came_through;
  EXPECT_TRUE(came_through("dds:0", "dds:0"));
  EXPECT_TRUE(came_through("dds:0 zenoh", "zenoh"));
  EXPECT_TRUE(came_through("a dds:0 zenoh", "dds:0"));
  EXPECT_FALSE(came_through("dds:01", "dds:0"));
  EXPECT_FALSE(came_through("dds:0", "dds:01"));
  EXPECT_FALSE(came_through("", "dds:0"));
  EXPECT_FALSE(came_through("dds:0  zenoh", "")) << "no network: everything is wanted";
}

class AnyPublisherTest : public cardan::test::OwnRunDirectory {};

TEST_F(AnyPublisherTest, MessagesFromANetworkDoNotReachItsSenders) {
  AnyPublisher from_dds("/via", message_type_of<Plain>(), {}, {.via = "dds:0 zenoh"});
  AnyPublisher made_here("/via", message_type_of<Plain>(), {});
  Subscriber<Plain> to_dds(Topic<Plain>{"/via", {}}, {.not_via = "dds:0"});
  Subscriber<Plain> to_other_dds(Topic<Plain>{"/via", {}}, {.not_via = "dds:1"});
  Subscriber<Plain> plain(Topic<Plain>{"/via", {}});
  EXPECT_EQ(to_dds.publishers(), 1U);
  EXPECT_EQ(to_other_dds.publishers(), 2U);
  EXPECT_EQ(plain.publishers(), 2U);
  while (const auto event = to_dds.event()) EXPECT_EQ(event->kind, cardan::Event::Kind::Joined) << event->text;
  EXPECT_THROW(AnyPublisher("/via", message_type_of<Plain>(), {}, {.via = std::string(300, 'x')}), cardan::Error);
}

TEST_F(AnyPublisherTest, ItsMessagesAreReadAsTheType) {
  AnyPublisher out("/plain", message_type_of<Plain>(), {.depth = 4});
  Subscriber<Plain> in(Topic<Plain>{"/plain", {}});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    auto loan = out.loan();
    ASSERT_TRUE(loan);
    EXPECT_EQ(loan.arena(), nullptr);
    auto* message = reinterpret_cast<Plain*>(loan.message());
    EXPECT_EQ(message->value, 0U) << "zeroed, also what a reader has held before";
    EXPECT_EQ(message->more, 0U);
    message->value = i;
    message->more = 5;
    loan.set_source_time(static_cast<std::int64_t>(i) * 100);
    EXPECT_TRUE(out.publish(std::move(loan)));
    EXPECT_FALSE(loan);
  }
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto sample = in.take();
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->value, i);
    EXPECT_EQ(sample->more, 5U);
    EXPECT_EQ(sample.source_time(), static_cast<std::int64_t>(i) * 100);
  }
  EXPECT_EQ(out.published(), 3U);
  EXPECT_EQ(out.subscribers(), 1U);
}

TEST_F(AnyPublisherTest, VectorsLieInThePayload) {
  AnyPublisher out("/listing", message_type_of<Listing>(), {.max_bytes = 1000});
  Subscriber<Listing> in(Topic<Listing>{"/listing", {}});
  for (std::uint32_t n : {3U, 100U, 0U}) {
    auto loan = out.loan();
    ASSERT_NE(loan.arena(), nullptr);
    EXPECT_EQ(loan.arena()->used, 0U);
    auto* message = reinterpret_cast<Listing*>(loan.message());
    cardan::shm::bind(*message, *loan.arena());
    message->number = n;
    for (std::uint32_t i = 0; i < n; ++i) message->values.push_back(i * i);
    EXPECT_FALSE(message->values.try_reserve(1000)) << "max_bytes is the bound";
    message->text = "hello";
    ASSERT_TRUE(out.publish(std::move(loan)));
    const auto sample = in.take();
    ASSERT_TRUE(sample);
    ASSERT_EQ(sample->values.size(), n);
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(sample->values[i], i * i);
    EXPECT_EQ(sample->text.view(), "hello");
  }
}

TEST_F(AnyPublisherTest, AnotherTypeIsRefused) {
  auto type = message_type_of<Plain>();
  type.hash ^= 1;
  const AnyPublisher out("/plain", type, {});
  try {
    const Subscriber<Plain> in(Topic<Plain>{"/plain", {}});
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), cardan::ErrorCode::Incompatible) << e.what();
  }
}

TEST_F(AnyPublisherTest, ALoanThatIsDroppedIsFreeAgain) {
  AnyPublisher out("/plain", message_type_of<Plain>(), {});
  for (int i = 0; i < 100; ++i) {
    auto first = out.loan();
    ASSERT_TRUE(first) << i;
    EXPECT_FALSE(out.loan()) << "one at a time";
    auto moved = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(first.message(), nullptr);
    moved.reset();
  }
  EXPECT_EQ(out.published(), 0U);
  EXPECT_FALSE(out.publish({}));
}

TEST_F(AnyPublisherTest, ReliableReadersAreWaitedForWithoutDemotingThem) {
  AnyPublisher out("/plain", message_type_of<Plain>(), {.depth = 2, .reliable = true, .reliable_timeout = 1ms});
  EXPECT_TRUE(out.wait_for_readers(0ns)) << "nobody to wait for";
  Subscriber<Plain> in(Topic<Plain>{"/plain", {}});
  const Subscriber<Plain> careless(Topic<Plain>{"/plain", {}}, {.reliable = false});
  const auto publish = [&] { return out.publish(out.loan()); };
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(out.wait_for_readers(0ns));
    EXPECT_TRUE(publish());
  }
  EXPECT_FALSE(out.wait_for_readers(0ns));
  EXPECT_FALSE(out.wait_for_readers(20ms));
  std::thread reader([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(in.take());
  });
  EXPECT_TRUE(out.wait_for_readers(10s));
  reader.join();
  EXPECT_TRUE(publish()) << "it was not demoted";
  EXPECT_FALSE(out.wait_for_readers(0ns));
  EXPECT_FALSE(publish()) << "now it is";
  EXPECT_TRUE(out.wait_for_readers(0ns)) << "one that was is not waited for until it has caught up";
}

TEST_F(AnyPublisherTest, AReaderThatLeavesIsNotWaitedFor) {
  AnyPublisher out("/plain", message_type_of<Plain>(), {.depth = 1, .reliable = true});
  auto in = std::make_unique<Subscriber<Plain>>(Topic<Plain>{"/plain", {}});
  ASSERT_TRUE(out.publish(out.loan()));
  EXPECT_FALSE(out.wait_for_readers(0ns));
  std::thread leaving([&] {
    std::this_thread::sleep_for(20ms);
    in.reset();
  });
  EXPECT_TRUE(out.wait_for_readers(10s));
  leaving.join();
}

}  // namespace any_publisher_test
