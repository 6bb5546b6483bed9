// SPDX-License-Identifier: Apache-2.0
// Messages arrive, in every executor that this ROS 2 has.
#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "environment.hpp"

namespace cardan::ros::test {
namespace {

constexpr std::size_t kPixels = 64 * 48 * 3;
constexpr Topic<Image> kFront{"/test/front", {.max_bytes = kPixels}};
// Deep enough, and reliable, so that each number arrives.
constexpr Topic<Twist> kNumbers{"/test/numbers",
                                {.depth = 32, .reliable = true, .reliable_timeout = std::chrono::seconds(20)}};

Twist number(double value) {
  Twist twist;
  twist.linear.x = value;
  return twist;
}

class EveryExecutor : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Executors, EveryExecutor, testing::ValuesIn(executors()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryExecutor, DeliversEveryMessageInOrder) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::vector<double> seen;
  std::atomic<std::size_t> count{0};
  const Subscription<Twist> subscription(node, kNumbers, [&](const Twist& twist) {
    seen.push_back(twist.linear.x);
    ++count;
  });
  Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  {
    const Spinning spinning(GetParam(), node);
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(publisher.publish(number(i)));
    EXPECT_TRUE(eventually([&] { return count == 2000; })) << count;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], static_cast<double>(i));
  EXPECT_EQ(subscription.received(), 2000u);
  EXPECT_EQ(subscription.missed(), 0u);
}

TEST_P(EveryExecutor, WakesForASingleMessageAfterAPause) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> count{0};
  const Subscription<Twist> subscription(node, kNumbers, [&](const Twist&) { ++count; });
  Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  const Spinning spinning(GetParam(), node);
  for (int i = 1; i <= 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the executor sleeps by now
    publisher.publish(number(i));
    ASSERT_TRUE(eventually([&] { return count == i; })) << "message " << i;
  }
}

TEST_P(EveryExecutor, MessagesFromBeforeTheExecutorAreTaken) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> count{0};
  const Subscription<Twist> subscription(node, kNumbers, [&](const Twist&) { ++count; });
  Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  for (int i = 0; i < 5; ++i) publisher.publish(number(i));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Spinning spinning(GetParam(), node);
  EXPECT_TRUE(eventually([&] { return count == 5; })) << count;
}

TEST_P(EveryExecutor, ANodeMovesFromOneExecutorToAnother) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> count{0};
  const Subscription<Twist> subscription(node, kNumbers, [&](const Twist&) { ++count; });
  Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  int sent = 0;
  for (const std::string& kind : {std::string("single"), GetParam(), std::string("multi"), GetParam()}) {
    const Spinning spinning(kind, node);
    for (int i = 0; i < 10; ++i) publisher.publish(number(++sent));
    ASSERT_TRUE(eventually([&] { return count == sent; })) << kind << ": " << count << " of " << sent;
  }
}

TEST_P(EveryExecutor, ManySubscriptionsOfOneNodeEachGetTheirs) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  constexpr std::size_t kTopics = 100;  // more than wait_any takes
  std::vector<std::string> names;
  std::vector<Subscription<Twist>> subscriptions;
  std::vector<Publisher<Twist>> publishers;
  std::vector<std::atomic<int>> counts(kTopics);
  for (std::size_t i = 0; i < kTopics; ++i) names.push_back("/test/many_" + std::to_string(i));
  for (std::size_t i = 0; i < kTopics; ++i) {
    const Topic<Twist> topic{names[i].c_str(), kNumbers.options};
    subscriptions.emplace_back(node, topic, [&counts, i](const Twist&) { ++counts[i]; });
    publishers.emplace_back(node, topic);
  }
  ASSERT_TRUE(eventually([&] {
    return std::all_of(publishers.begin(), publishers.end(), [](const auto& p) { return p.subscribers() == 1; });
  }));
  const Spinning spinning(GetParam(), node);
  for (int round = 0; round < 3; ++round)
    for (auto& publisher : publishers) publisher.publish(number(round));
  EXPECT_TRUE(
      eventually([&] { return std::all_of(counts.begin(), counts.end(), [](const auto& c) { return c == 3; }); }));
}

TEST_P(EveryExecutor, TimersAndRosTopicsOfTheNodeContinue) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> cardans{0};
  std::atomic<int> ros{0};
  std::atomic<int> ticks{0};
  const Subscription<Twist> subscription(node, kNumbers, [&](const Twist&) { ++cardans; });
  const auto other = node->create_subscription<geometry_msgs::msg::Twist>(
      "test/ros", 10, [&](const geometry_msgs::msg::Twist&) { ++ros; });
  const auto ros_publisher = node->create_publisher<geometry_msgs::msg::Twist>("test/ros", 10);
  Publisher<Twist> publisher(node, kNumbers);
  const auto timer = node->create_wall_timer(std::chrono::milliseconds(2), [&] {
    ++ticks;
    publisher.publish(number(ticks));
    ros_publisher->publish(geometry_msgs::msg::Twist());
  });
  const Spinning spinning(GetParam(), node);
  EXPECT_TRUE(eventually([&] { return cardans > 50 && ros > 50 && ticks > 50; }))
      << cardans << ' ' << ros << ' ' << ticks;
}

/// Whether `address` lies in shared memory. (Another process could not write there; the publisher is this one.)
bool is_shared(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char access[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &last, access) != 3) continue;
    if (first <= wanted && wanted < last) return access[3] == 's';
  }
  return false;
}

TEST(Subscription, TheCallbackReadsThePublishersMemory) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<bool> done{false};
  std::string wrong;
  const ros::Subscription<Image> subscription(node, kFront, [&](const Sample<Image>& image) {
    if (!is_shared(image->data.data())) wrong = "the pixels are not in shared memory";
    if (image->encoding != "bgr8" || image->data.size() != kPixels || image->data[7] != 42) wrong = "other pixels";
    done = true;
  });
  ros::Publisher<Image> publisher(node, kFront);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  auto loan = publisher.loan();
  std::memset(loan->resize(48, 64, "bgr8").data(), 42, kPixels);
  ASSERT_TRUE(publisher.publish(std::move(loan)));
  const Spinning spinning("single", node);
  ASSERT_TRUE(eventually([&] { return done.load(); }));
  EXPECT_EQ(wrong, "");
}

TEST(Subscription, ARosMessageGoesInAndComesOutUnchanged) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  sensor_msgs::msg::Image sent;
  sent.header.frame_id = "camera";
  sent.header.stamp.sec = 12;
  sent.header.stamp.nanosec = 34;
  sent.height = 48;
  sent.width = 64;
  sent.step = 192;
  sent.encoding = "bgr8";
  sent.data.assign(kPixels, 9);
  std::mutex mutex;
  std::unique_ptr<sensor_msgs::msg::Image> seen;
  const ros::Subscription<Image> subscription(node, kFront, [&](const sensor_msgs::msg::Image& image) {
    const std::lock_guard lock(mutex);
    seen = std::make_unique<sensor_msgs::msg::Image>(image);
  });
  ros::Publisher<Image> publisher(node, kFront);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  ASSERT_TRUE(publisher.publish(sent));
  {
    const Spinning spinning("single", node);
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return seen != nullptr;
    }));
  }
  EXPECT_EQ(*seen, sent);

  sent.data.resize(kPixels + 1);
  EXPECT_THROW(publisher.publish(sent), std::length_error);
  sent.data.resize(4);
  sent.header.frame_id = std::string(200, 'x');
  EXPECT_THROW(publisher.publish(sent), cardan::Error);
  EXPECT_EQ(publisher.published(), 1u);
  sent.header.frame_id.clear();
  EXPECT_TRUE(publisher.publish(sent)) << "a failed conversion gives its loan back";
}

TEST(Subscription, NamesFollowNamespaceAndRemapping) {
  rclcpp::NodeOptions options;
  options.arguments({"--ros-args", "-r", "__ns:=/car1", "-r", "/test/front:=/rear"});
  const auto node = std::make_shared<rclcpp::Node>("reader", options);
  const ros::Subscription<Image> remapped(node, kFront, [](const Image&) {});
  const ros::Publisher<Image> publisher(node, kFront);
  const ros::Publisher<Twist> relative(node, Topic<Twist>{"cmd_vel"});
  EXPECT_EQ(remapped.topic(), "/rear");
  EXPECT_EQ(publisher.topic(), "/rear");
  EXPECT_EQ(relative.topic(), "/car1/cmd_vel");
}

TEST(Subscription, AReentrantGroupRunsSeveralCallbacksAtOnce) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  const ros::Subscription<Twist> subscription(node, kNumbers,
                                              [&](const Twist&) {
                                                if (++inside >= 2) together = true;
                                                eventually([&] { return together.load(); });
                                                --inside;
                                              },
                                              {.callback_group = group, .endpoint = {.holds = 4}});
  ros::Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  const Spinning spinning("multi", node);
  for (int i = 0; i < 4; ++i) publisher.publish(number(i));
  EXPECT_TRUE(eventually([&] { return together.load(); }));
}

TEST(Subscription, AnExclusiveGroupRunsOneCallbackAtATime) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> inside{0};
  std::atomic<int> count{0};
  std::atomic<bool> together{false};
  const ros::Subscription<Twist> subscription(node, kNumbers, [&](const Twist&) {
    if (++inside > 1) together = true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --inside;
    ++count;
  });
  ros::Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  const Spinning spinning("multi", node);
  for (int i = 0; i < 300; ++i) publisher.publish(number(i));
  EXPECT_TRUE(eventually([&] { return count == 300; })) << count;
  EXPECT_FALSE(together);
}

TEST(Subscription, ASubscriptionThatHoldsTooManySamplesWaitsAndContinues) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::mutex mutex;
  std::vector<Sample<Twist>> kept;
  std::atomic<int> count{0};
  const ros::Subscription<Twist> subscription(node, kNumbers,
                                              [&](const Sample<Twist>& sample) {
                                                const std::lock_guard lock(mutex);
                                                kept.push_back(sample);
                                                ++count;
                                              },
                                              {.endpoint = {.holds = 3}});
  ros::Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  const Spinning spinning("single", node);
  for (int i = 0; i < 7; ++i) publisher.publish(number(i));
  ASSERT_TRUE(eventually([&] { return subscription.held_up() > 3; }));
  EXPECT_EQ(count, 4);  // what it holds, and the one that each thread may have besides
  {
    const std::lock_guard lock(mutex);
    kept.clear();
  }
  EXPECT_TRUE(eventually([&] { return count == 7; })) << count;
}

// An events executor, for releases that have none.
TEST(Subscription, AnEventsExecutorHearsOfEveryMessage) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  int count = 0;
  const ros::Subscription<Twist> subscription(node, kNumbers, [&](const Twist&) { ++count; });
  rclcpp::Waitable::SharedPtr waitable;
  node->get_node_base_interface()->get_default_callback_group()->find_waitable_ptrs_if(
      [&](const rclcpp::Waitable::SharedPtr& one) {
        if (std::dynamic_pointer_cast<detail::SubscriptionWaitable>(one)) waitable = one;
        return false;
      });
  ASSERT_TRUE(waitable);
  std::atomic<std::size_t> ready{0};
  waitable->set_on_ready_callback([&](std::size_t times, int id) {
    EXPECT_EQ(id, 0);
    ready += times;
  });
  const auto serve = [&] {
    for (; ready > 0; --ready) {
      std::shared_ptr<void> data = waitable->take_data_by_entity_id(0);
      waitable->execute(data);
    }
  };
  ros::Publisher<Twist> publisher(node, kNumbers);
  ASSERT_TRUE(eventually([&] { return publisher.subscribers() == 1; }));
  int sent = 0;
  for (int i = 1; i <= 30; ++i) {
    for (int burst = 0; burst < i % 4; ++burst) publisher.publish(number(++sent));
    ASSERT_TRUE(eventually([&] {
      serve();
      return count == sent;
    })) << count
        << " of " << sent;
  }
  waitable->clear_on_ready_callback();
}

}  // namespace
}  // namespace cardan::ros::test
