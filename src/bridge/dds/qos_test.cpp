// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/qos.hpp"

#include <gtest/gtest.h>

namespace cardan::bridge::dds {
namespace {

const TopicForm kStatic{.name = "/car1/tf_static", .type = "tf2_msgs/msg/TFMessage"};
const TopicForm kMoving{.name = "/tf", .type = "tf2_msgs/msg/TFMessage"};
const TopicForm kTime{.name = "/clock", .type = "rosgraph_msgs/msg/Clock"};
const TopicForm kText{.name = "/text", .type = "std_msgs/msg/String"};
const TopicForm kCamera{.name = "/camera", .type = "sensor_msgs/msg/Image"};

constexpr WritersOffer kBoth{.all_reliable = true, .all_transient_local = true, .one_transient_local = true};

TEST(DdsQos, TransformsAndTheClockAreAsInRos) {
  const EndpointQos fixed = outgoing_qos({}, kStatic, 1000);
  EXPECT_TRUE(fixed.transient_local && fixed.reliable);
  EXPECT_EQ(fixed.depth, 100U);
  EXPECT_TRUE(keeps_copies(fixed, 1000)) << "this many do not take the publisher's slots";
  const EndpointQos moving = outgoing_qos({}, kMoving, 1000);
  EXPECT_TRUE(!moving.transient_local && moving.reliable);
  EXPECT_EQ(moving.depth, 100U);
  EXPECT_EQ(outgoing_qos({}, kTime, 8).depth, 1U);
  EXPECT_TRUE(outgoing_qos({}, kTime, 8).reliable) << "it matches readers of both kinds";
  EXPECT_FALSE(incoming_qos({}, kTime, {.all_reliable = true}).reliable);
  EXPECT_TRUE(incoming_qos({}, kMoving, {.all_reliable = true}).reliable);
  EXPECT_FALSE(outgoing_qos({}, {.name = "/tf_static", .type = "std_msgs/msg/String"}, 9).transient_local)
      << "only of their type";
  EXPECT_EQ(outgoing_qos({}, {.name = "/my_tf", .type = kMoving.type}, 9).depth, 10U);
}

TEST(DdsQos, ARuleHasTheLastWord) {
  EXPECT_FALSE(outgoing_qos({.latched = false}, kStatic, 1000).transient_local);
  EXPECT_EQ(outgoing_qos({.depth = 3}, kStatic, 1000).depth, 3U);
  EXPECT_TRUE(outgoing_qos({.latched = true}, kText, 1000).transient_local);
  EXPECT_EQ(outgoing_qos({.latched = true}, kText, 1000).depth, 1U);
  EXPECT_FALSE(incoming_qos({.latched = false}, kStatic, kBoth).transient_local);
  EXPECT_FALSE(outgoing_qos({.reliable = false}, kText, 1000).reliable);
}

TEST(DdsQos, NothingAsksForMoreThanTheWritersOffer) {
  EXPECT_TRUE(incoming_qos({}, kText, kBoth).transient_local) << "what they keep is wanted";
  EXPECT_FALSE(incoming_qos({.latched = true}, kText, {.all_reliable = true}).transient_local);
  EXPECT_FALSE(incoming_qos({.reliable = true}, kText, {}).reliable);
}

TEST(DdsQos, AWriterThatKeepsNothingTakesNoTransformsFromTheOthers) {
  const WritersOffer one{.all_reliable = true, .one_transient_local = true};
  EXPECT_TRUE(incoming_qos({}, kStatic, one).transient_local) << "as ROS 2's own subscribers";
  EXPECT_FALSE(incoming_qos({}, kText, one).transient_local) << "all of them are heard";
  EXPECT_FALSE(incoming_qos({}, kStatic, {.all_reliable = true}).transient_local);
}

TEST(DdsQos, LargeMessagesStayInThePublishersMemory) {
  const std::size_t large = 8U << 20U;
  EXPECT_EQ(outgoing_qos({}, kCamera, large).depth, 2U);
  EXPECT_FALSE(keeps_copies(outgoing_qos({}, kCamera, large), large));
  EXPECT_EQ(outgoing_qos({}, kStatic, large).depth, 1U) << "this many would take too many slots";
  EXPECT_FALSE(keeps_copies(outgoing_qos({}, kText, 1000), 1000)) << "few small ones do not either";
  EXPECT_TRUE(incoming_qos({}, kCamera, {.all_reliable = true}).reliable) << "what is lost of one is sent again";
  EXPECT_FALSE(incoming_qos({}, kCamera, {}).reliable);
  EXPECT_FALSE(incoming_qos({.reliable = false}, kCamera, {.all_reliable = true}).reliable);
}

}  // namespace
}  // namespace cardan::bridge::dds
