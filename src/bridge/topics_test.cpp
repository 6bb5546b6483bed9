// SPDX-License-Identifier: Apache-2.0
// Topics on their way out and in: what is carried, thinned, lost and refused is counted, and nothing comes back.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "cardan/subscriber.hpp"
#include "src/bridge/catalogue.hpp"
#include "src/bridge/incoming_topic.hpp"
#include "src/bridge/outgoing_topic.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::bridge {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPixels = 64UL * 48 * 3;
constexpr Topic<Image> kCamera{"/camera", {.max_bytes = kPixels, .depth = 4}};

class BridgedTopics : public test::OwnRunDirectory {
 protected:
  static LocalTopic local() {
    const auto& type = detail::message_type_of<Image>();
    return {.name = "/camera",
            .type = type.name,
            .schema = type.schema,
            .type_hash = type.hash,
            .message_bytes = type.bytes,
            .max_bytes = kPixels,
            .depth = 4};
  }
  static void publish(Publisher<Image>& out, int first_pixel) {
    auto loan = out.loan();
    ASSERT_TRUE(loan);
    (void)loan->resize(48, 64, "bgr8");
    loan->data[0] = static_cast<std::uint8_t>(first_pixel);
    loan.set_source_time(1'000 + first_pixel);
    out.publish(std::move(loan));
  }
  static std::vector<std::byte> bytes_of(const OutgoingFrame& frame) {
    std::vector<std::byte> all(frame.cdr.prefix);
    all.insert(all.end(), frame.cdr.payload.begin(), frame.cdr.payload.end());
    all.insert(all.end(), frame.cdr.suffix.begin(), frame.cdr.suffix.end());
    return all;
  }
};

TEST_F(BridgedTopics, NothingComesInUnderCardansOwnNames) {
  const AnyType type = AnyType::of_definition("std_msgs/msg/String", "string data\n");
  for (const char* const own : {"/cardan/control", "/cardan/log", "/cardan/record/orders"})
    EXPECT_THROW(IncomingTopic("/from/beyond", own, type, {}, {}), Error) << own;
  EXPECT_NO_THROW(IncomingTopic("/cardan/control", "/cardan_of_others/control", type, {}, {}));
}

TEST_F(BridgedTopics, AFrameGoesOutByReferenceAndComesInAgainAsItWas) {
  Publisher<Image> camera{kCamera};
  OutgoingTopic out(local(), {.name_space = "/v1"}, {.network = "net", .holds = 2});
  EXPECT_EQ(out.beyond(), "/v1/camera");
  EXPECT_EQ(camera.subscribers(), 0U) << "nobody on the other side";
  out.open();
  EXPECT_EQ(camera.subscribers(), 1U);
  publish(camera, 7);
  const FramePtr frame = out.next(steady_now());
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->cdr.payload.size(), kPixels);
  EXPECT_EQ(frame->cdr.payload.data(), frame->sample.payload().data()) << "in the publisher's memory";
  EXPECT_EQ(frame->source_ns, 1'007);
  out.carried(*frame, 0);
  EXPECT_EQ(out.counts().carried, 1U);
  EXPECT_LT(out.counts().copied, 200U);

  IncomingTopic in("/v1/camera", "/again", out.type(), {}, {.via = "net"});
  ASSERT_TRUE(in.deliver(bytes_of(*frame), 55)) << in.note();
  Subscriber<Image> reader{Topic<Image>{"/again", {.max_bytes = 2 * kPixels}}};
  const auto sample = reader.wait(5s);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->height, 48U);
  EXPECT_EQ(sample->data.size(), kPixels);
  EXPECT_EQ(sample->data[0], 7);
  EXPECT_EQ(sample.source_time(), 55);
  EXPECT_EQ(in.counts().carried, 1U);
}

TEST_F(BridgedTopics, ARateIsKeptByTimeAndWhatIsLeftOutIsCounted) {
  Publisher<Image> camera{kCamera};
  OutgoingTopic out(local(), {.max_hz = 10}, {.holds = 2});
  out.open();
  std::int64_t now = 1'000'000'000'000;
  int carried = 0;
  for (int i = 0; i < 60; ++i, now += 16'666'667) {  // a second at 60 Hz
    publish(camera, i);
    while (out.next(now)) ++carried;
  }
  EXPECT_GE(carried, 10);
  EXPECT_LE(carried, 11);
  EXPECT_GE(out.counts().thinned, 45U);
  EXPECT_EQ(out.counts().lost, 0U);
}

TEST_F(BridgedTopics, MessagesThatASlowReceiverDidNotGetAreLost) {
  Publisher<Image> camera{kCamera};
  OutgoingTopic out(local(), {}, {.holds = 2});
  out.open();
  for (int i = 0; i < 20; ++i) publish(camera, i);
  int frames = 0;
  while (out.next(steady_now())) ++frames;
  EXPECT_EQ(frames, 4) << "the depth";
  EXPECT_EQ(out.counts().lost, 16U);
}

TEST_F(BridgedTopics, NoMoreFramesAreHeldThanAnnounced) {
  Publisher<Image> camera{kCamera};
  OutgoingTopic out(local(), {}, {.holds = 2});
  out.open();
  for (int i = 0; i < 4; ++i) publish(camera, i);
  FramePtr first = out.next(steady_now());
  const FramePtr second = out.next(steady_now());
  const FramePtr third = out.next(steady_now());
  ASSERT_TRUE(first && second && third) << "two, and one for the thread that takes";
  EXPECT_FALSE(out.next(steady_now()));
  first.reset();
  EXPECT_TRUE(out.next(steady_now()));
}

TEST_F(BridgedTopics, HostileBytesAreRefusedAndCounted) {
  const AnyType type = OutgoingTopic(local(), {}, {}).type();
  IncomingTopic in("/x", "/x", type, {.max_bytes = 1'000'000}, {});
  const std::vector<std::byte> garbage(100, std::byte{0xff});
  EXPECT_FALSE(in.deliver(garbage, 0));
  EXPECT_FALSE(in.deliver(CdrPieces(), 0));
  EXPECT_FALSE(in.deliver(std::vector<std::byte>(1'000'001), 0));
  EXPECT_NE(in.note().find("max_mib"), std::string::npos);
  EXPECT_EQ(in.counts().refused, 3U);
  EXPECT_EQ(in.counts().carried, 0U);
}

TEST_F(BridgedTopics, MessagesFromANetworkDoNotLeaveThroughIt) {
  const AnyType type = OutgoingTopic(local(), {}, {}).type();
  Publisher<Image> camera{kCamera};
  publish(camera, 1);
  OutgoingTopic there(local(), {}, {.network = "elsewhere"});
  there.open();
  const FramePtr frame = there.next(steady_now());
  ASSERT_TRUE(frame);
  IncomingTopic in("/camera", "/camera", type, {}, {.via = "net"});
  ASSERT_TRUE(in.deliver(bytes_of(*frame), 0)) << in.note();
  OutgoingTopic back(local(), {}, {.network = "net"});
  back.open();
  int frames = 0;
  while (back.next(steady_now())) ++frames;
  EXPECT_EQ(frames, 1) << "the camera's own frame, not the one from the network";
}

/// A std_msgs/msg/String in CDR.
std::vector<std::byte> text_message(std::uint32_t letters) {
  std::vector<std::byte> cdr(4 + 4 + letters + 1);
  cdr[1] = std::byte{1};
  const std::uint32_t size = letters + 1;
  std::memcpy(cdr.data() + 4, &size, 4);
  std::fill(cdr.begin() + 8, cdr.end() - 1, std::byte{'a'});
  return cdr;
}

TEST_F(BridgedTopics, AllThatComeInHaveABoundedMemoryTogether) {
  const AnyType type = AnyType::of_definition("std_msgs/msg/String", "string data");
  const IncomingOptions options{.memory =
                                    std::make_shared<IncomingMemory>(3'000'000)};  // 200 kB, 12 times, and no more
  std::optional<IncomingTopic> first(std::in_place, "/a", "/a", type, TopicRule{}, options);
  IncomingTopic second("/b", "/b", type, {}, options);
  EXPECT_TRUE(first->deliver(text_message(100'000), 0)) << first->note();
  EXPECT_FALSE(second.deliver(text_message(100'000), 0));
  EXPECT_EQ(second.counts().refused, 1U);
  EXPECT_NE(second.note().find("together"), std::string::npos) << second.note();
  EXPECT_TRUE(second.deliver(text_message(100), 0)) << second.note();
  EXPECT_FALSE(first->deliver(text_message(250'000), 0)) << "more room than there is";
  first.reset();
  EXPECT_TRUE(second.deliver(text_message(100'000), 0)) << second.note();
}

TEST_F(BridgedTopics, LargerMessagesGetALargerPublisher) {
  const AnyType type = AnyType::of_definition("std_msgs/msg/String", "string data");
  IncomingTopic in("/text", "/text", type, {}, {});
  EXPECT_TRUE(in.deliver(text_message(10), 0)) << in.note();
  EXPECT_TRUE(in.deliver(text_message(100'000), 0)) << in.note();
  EXPECT_TRUE(in.deliver(text_message(10), 0)) << in.note();
  EXPECT_EQ(in.counts().carried, 3U);
}

}  // namespace
}  // namespace cardan::bridge
