// SPDX-License-Identifier: Apache-2.0
#include "cardan/any_type.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "cardan/wait_any.hpp"
#include "tests/support/run_directory.hpp"

namespace any_type_test {

using namespace std::chrono_literals;
using cardan::AnyPublisher;
using cardan::AnySample;
using cardan::AnySubscriber;
using cardan::AnyType;
using cardan::CdrFramer;
using Bytes = std::vector<std::byte>;

const char* const kScan = "string name\nuint8[] data\nstring[] tags\n";

/// XCDR1 of kScan.
Bytes scan(const std::string& name, std::size_t size, const std::vector<std::string>& tags) {
  std::string cdr{0, 1, 0, 0};
  const auto count = [&](std::size_t n) {
    cdr.resize((cdr.size() + 3) / 4 * 4);
    for (int i = 0; i < 4; ++i) cdr += static_cast<char>(n >> (8 * i));
  };
  const auto text = [&](const std::string& t) {
    count(t.size() + 1);
    cdr += t + '\0';
  };
  text(name);
  count(size);
  for (std::size_t i = 0; i < size; ++i) cdr += static_cast<char>(i * 7);
  count(tags.size());
  for (const std::string& tag : tags) text(tag);
  const auto all = std::as_bytes(std::span(cdr));
  return {all.begin(), all.end()};
}

Bytes joined(const cardan::CdrFrame& frame) {
  Bytes all(frame.prefix);
  all.insert(all.end(), frame.payload.begin(), frame.payload.end());
  all.insert(all.end(), frame.suffix.begin(), frame.suffix.end());
  return all;
}

class AnyTypeTest : public cardan::test::OwnRunDirectory {};

TEST_F(AnyTypeTest, CdrGoesInAndComesOutWithoutACopyOfThePayload) {
  const AnyType type = AnyType::of_definition("any_msgs/msg/Scan", kScan);
  const Bytes large = scan("front", 300'000, {"a", "", "long tag"}), small = scan("", 0, {});
  AnyPublisher out("/scan", type.message_type(), {.max_bytes = type.payload_bytes(large.size()), .depth = 4});
  const auto found = AnyType::of_topic("/scan");
  ASSERT_TRUE(found) << "by what the publisher says of itself";
  EXPECT_EQ(found->message_type().hash, type.message_type().hash);
  EXPECT_FALSE(AnyType::of_topic("/nobody"));
  AnySubscriber in("/scan", found->message_type());
  for (const Bytes* cdr : {&large, &small, &large}) {
    auto loan = out.loan();
    ASSERT_TRUE(type.fill(*cdr, loan));
    loan.set_source_time(77);
    ASSERT_TRUE(out.publish(std::move(loan)));
  }
  CdrFramer framer(*found);
  EXPECT_EQ(cardan::wait_any_for(1s, in), 0U);
  std::uint64_t sequence = 0;
  for (const Bytes* cdr : {&large, &small, &large}) {
    const AnySample sample = in.take();
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample.sequence(), ++sequence);
    EXPECT_EQ(sample.source_time(), 77);
    ASSERT_TRUE(framer.frame(sample));
    EXPECT_EQ(joined(framer.parts()), *cdr);
    if (cdr == &large) {
      const auto payload = framer.parts().payload;
      EXPECT_EQ(payload.size(), 300'000U);
      EXPECT_GE(payload.data(), sample.payload().data());
      EXPECT_LE(payload.data() + payload.size(), sample.payload().data() + sample.payload().size()) << "where it lies";
    }
  }
  EXPECT_FALSE(in.take());
  EXPECT_EQ(in.received(), 3U);
}

TEST_F(AnyTypeTest, TwoProgramsMakeTheSameTypeOfADefinition) {
  const AnyType one = AnyType::of_definition("any_msgs/msg/Scan", kScan);
  const AnyType other =
      AnyType::of_definition("any_msgs/msg/Scan", "# a scan\nstring name 'x'\nuint8[] data # bytes\nstring[] tags");
  AnyPublisher out("/scan", one.message_type(), {.max_bytes = 1000});
  AnySubscriber in("/scan", other.message_type());
  auto loan = out.loan();
  ASSERT_TRUE(one.fill(scan("x", 3, {"y"}), loan));
  EXPECT_TRUE(out.publish(std::move(loan)));
  EXPECT_TRUE(in.take());
  const AnyType third = AnyType::of_definition("any_msgs/msg/Scan", "string name\nuint8[] data\n");
  EXPECT_THROW(AnySubscriber("/scan", third.message_type()), cardan::Error);
}

TEST_F(AnyTypeTest, CardansOwnTypesAreThemselves) {
  using Traits = cardan::message_traits<cardan::NavSatFix>;
  const AnyType own = AnyType::of_definition(Traits::type_name(), Traits::schema());
  EXPECT_EQ(own.message_type().hash, Traits::type_hash());
  // One of the same name whose fields are others, as other versions of a package have them.
  const AnyType other = AnyType::of_definition(Traits::type_name(), "float64 latitude\nfloat64 longitude\n");
  EXPECT_NE(other.message_type().hash, Traits::type_hash());
  EXPECT_EQ(other.layout().size, 16U);
}

TEST_F(AnyTypeTest, ARefusedMessageSaysWhy) {
  const AnyType type = AnyType::of_definition("any_msgs/msg/Scan", kScan);
  AnyPublisher out("/scan", type.message_type(), {.max_bytes = 500});
  auto loan = out.loan();
  const auto too_large = type.fill(scan("x", 3000, {}), loan);
  EXPECT_EQ(too_large.error, cardan::CdrError::NoRoom);
  EXPECT_EQ(too_large.field, "data");
  EXPECT_TRUE(type.fill(scan("x", 300, {}), loan)) << "the loan can be filled again";
  EXPECT_THROW((void)AnyType::of_definition("any_msgs/msg/Scan", "strng name\n"), cardan::Error);
  EXPECT_THROW((void)AnyType::of_definition("any_msgs/msg/" + std::string(127, 'S'), kScan), cardan::Error);
  EXPECT_FALSE(AnyType::of_publisher("any_msgs/msg/Scan", 1, kScan));
}

TEST_F(AnyTypeTest, TypedAndUntypedMeet) {
  const AnyType type = *AnyType::of_publisher(std::string(cardan::message_traits<cardan::Image>::type_name()),
                                              cardan::message_traits<cardan::Image>::type_hash(), "");
  const cardan::Topic<cardan::Image> topic{"/image", {.max_bytes = 1 << 16}};
  cardan::Publisher out{topic};
  AnySubscriber in("/image", type.message_type());
  auto loan = out.loan();
  loan->resize(10, 20, "bgr8")[5] = 9;
  const Bytes expected = cardan::to_cdr(*loan);
  out.publish(std::move(loan));
  const AnySample sample = in.wait(1s);
  ASSERT_TRUE(sample);
  CdrFramer framer(type);
  ASSERT_TRUE(framer.frame(sample));
  EXPECT_EQ(joined(framer.parts()), expected);
}

}  // namespace any_type_test
