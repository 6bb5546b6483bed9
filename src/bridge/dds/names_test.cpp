// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/names.hpp"

#include <gtest/gtest.h>

namespace cardan::bridge::dds {
namespace {

TEST(DdsNames, TopicsGetAndLoseTheirPrefix) {
  EXPECT_EQ(dds_topic_of("/camera/front"), "rt/camera/front");
  EXPECT_EQ(ros_topic_of("rt/camera/front"), "/camera/front");
  EXPECT_EQ(ros_topic_of("rq/camera/set_infoRequest"), std::nullopt) << "a service";
  EXPECT_EQ(ros_topic_of("rtcamera"), std::nullopt);
  EXPECT_EQ(ros_topic_of("ros_discovery_info"), std::nullopt);
}

TEST(DdsNames, RepliesTellTheirService) {
  EXPECT_EQ(service_of_replies("rr/map/regionReply"), "/map/region");
  for (const char* const name :
       {"", "rrReply", "rr/Reply", "rr/map", "rq/mapReply", "rt/mapReply", "rr/../mapReply", "rr/?Reply", "rReply"})
    EXPECT_EQ(service_of_replies(name), std::nullopt) << name;
}

TEST(DdsNames, TopicsThatRosDoesNotAllowHaveNoName) {
  for (const char* const name : {"", "/", "camera", "/camera/", "//camera", "/camera//front", "/1camera",
                                 "/camera-front", "/a/../b", "/a b", "/a__b", "/käse", "/a\n"})
    EXPECT_EQ(dds_topic_of(name), std::nullopt) << name;
  EXPECT_EQ(dds_topic_of("/" + std::string(300, 'a')), std::nullopt);
  EXPECT_TRUE(is_ros_topic("/_hidden/a1"));
}

TEST(DdsNames, TypesAreMangledAsRosDoes) {
  EXPECT_EQ(dds_type_of("sensor_msgs/msg/Image"), "sensor_msgs::msg::dds_::Image_");
  EXPECT_EQ(ros_type_of("sensor_msgs::msg::dds_::Image_"), "sensor_msgs/msg/Image");
  EXPECT_EQ(ros_type_of("my_pkg::action::dds_::Go_FeedbackMessage_"), "my_pkg/action/Go_FeedbackMessage");
  EXPECT_EQ(dds_type_of("Image"), std::nullopt);
  EXPECT_EQ(dds_type_of("sensor_msgs/Image"), std::nullopt);
  for (const char* const name : {"", "Image", "sensor_msgs::msg::Image_", "a::b::dds_::C", "a::b::dds_::_",
                                 "a::b::dds_::C_::d", "../x::msg::dds_::C_", "a::msg::dds_::C/_", "::msg::dds_::C_"})
    EXPECT_EQ(ros_type_of(name), std::nullopt) << name;
}

TEST(DdsNames, ValuesOfUserDataAreFound) {
  EXPECT_EQ(value_in("enclave=/;cardan=12ab;", "cardan"), "12ab");
  EXPECT_EQ(value_in("typehash=RIHS01_12;", "typehash"), "RIHS01_12");
  EXPECT_EQ(value_in("mytypehash=1;typehash=2", "typehash"), "2");
  EXPECT_EQ(value_in("typehash=" + std::string(60'000, 'x'), "typehash"), std::string(128, 'x'))
      << "of an unknown peer";
  EXPECT_EQ(value_in("enclave=/;", "cardan"), "");
  EXPECT_EQ(value_in("", "cardan"), "");
}

}  // namespace
}  // namespace cardan::bridge::dds
