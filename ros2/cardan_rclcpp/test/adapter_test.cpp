// SPDX-License-Identifier: Apache-2.0
// Cardan's messages on ROS 2's own topics: by the type adapter, over the middleware and within a process.
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "environment.hpp"

namespace cardan::ros::test {
namespace {

constexpr std::size_t kPixels = 64 * 48 * 3;
constexpr Topic<Image> kFront{"/test/front", {.max_bytes = kPixels}};

LocalMessage<Image> picture(std::uint8_t value) {
  LocalMessage<Image> message(kPixels);
  std::memset(message->resize(48, 64, "bgr8").data(), value, kPixels);
  message->header.frame_id = "camera";
  message->header.stamp = 12'000'000'034;
  return message;
}

TEST(Adapter, ACardanMessageArrivesAsARosMessage) {
  const auto node = std::make_shared<rclcpp::Node>("adapter");
  std::atomic<bool> done{false};
  sensor_msgs::msg::Image seen;
  const auto reader =
      node->create_subscription<sensor_msgs::msg::Image>("pictures", 10, [&](const sensor_msgs::msg::Image& image) {
        if (!done.exchange(true)) seen = image;
      });
  const auto writer = node->create_publisher<Adapted<Image>>("pictures", 10);
  {
    const Spinning spinning("single", node);
    ASSERT_TRUE(eventually([&] {
      writer->publish(Shared<Image>(picture(7)));
      return done.load();
    }));
  }
  EXPECT_EQ(seen.width, 64u);
  EXPECT_EQ(seen.encoding, "bgr8");
  EXPECT_EQ(seen.header.frame_id, "camera");
  EXPECT_EQ(seen.header.stamp.nanosec, 34u);
  EXPECT_EQ(seen.data, std::vector<std::uint8_t>(kPixels, 7));
}

TEST(Adapter, ARosMessageArrivesAsACardanMessage) {
  const auto node = std::make_shared<rclcpp::Node>("adapter");
  std::atomic<bool> done{false};
  Shared<Image> seen;
  const auto reader = node->create_subscription<Adapted<Image>>("pictures", 10, [&](const Shared<Image>& image) {
    if (!done.exchange(true)) seen = image;
  });
  const auto writer = node->create_publisher<sensor_msgs::msg::Image>("pictures", 10);
  sensor_msgs::msg::Image sent;
  to_ros(*picture(9), sent);
  {
    const Spinning spinning("single", node);
    ASSERT_TRUE(eventually([&] {
      writer->publish(sent);
      return done.load();
    }));
  }
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->valid());
  EXPECT_EQ(seen->data[100], 9);
  EXPECT_EQ(seen->header.stamp, 12'000'000'034);
}

TEST(Adapter, ASampleIsPassedToRosFromTheSlot) {
  const auto node = std::make_shared<rclcpp::Node>("adapter");
  std::atomic<bool> done{false};
  const auto reader = node->create_subscription<sensor_msgs::msg::Image>(
      "pictures", 10,
      [&](const sensor_msgs::msg::Image& image) { done = image.data.size() == kPixels && image.data[5] == 3; });
  const auto writer = node->create_publisher<Adapted<Image>>("pictures", 10);
  const ros::Subscription<Image> subscription(
      node, kFront, [&](const Sample<Image>& image) { writer->publish(Shared<Image>(image)); },
      {.endpoint = {.holds = 2}});
  ros::Publisher<Image> publisher(node, kFront);
  const Spinning spinning("single", node);
  ASSERT_TRUE(eventually([&] {
    auto loan = publisher.loan();
    std::memset(loan->resize(48, 64, "bgr8").data(), 3, kPixels);
    publisher.publish(std::move(loan));
    return done.load();
  }));
}

TEST(Adapter, WithinAProcessNothingIsCopied) {
  const auto node = std::make_shared<rclcpp::Node>("adapter", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<const std::uint8_t*> pixels{nullptr};
  const auto reader = node->create_subscription<Adapted<Image>>(
      "pictures", 10, [&](const Shared<Image>& image) { pixels = image->data.data(); });
  const auto writer = node->create_publisher<Adapted<Image>>("pictures", 10);
  Shared<Image> sent(picture(1));
  const std::uint8_t* const expected = sent->data.data();
  writer->publish(std::move(sent));
  const Spinning spinning("single", node);
  ASSERT_TRUE(eventually([&] { return pixels != nullptr; }));
  EXPECT_EQ(pixels, expected);
}

TEST(Adapter, AnEmptyMessageBecomesADefaultOne) {
  sensor_msgs::msg::Image image;
  image.data.resize(5);
  Adapted<Image>::convert_to_ros_message(Shared<Image>(), image);
  EXPECT_EQ(image, sensor_msgs::msg::Image());
}

}  // namespace
}  // namespace cardan::ros::test
