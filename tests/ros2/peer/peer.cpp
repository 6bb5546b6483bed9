// SPDX-License-Identifier: Apache-2.0
// A plain ROS 2 node on the other side of `cardan bridge dds`:
//   ros2_peer watch TOPIC reliable|best_effort   a line for each image until SIGINT
//   ros2_peer talk TOPIC                         text "hello N" ten times a second until SIGINT
//   ros2_peer graph                              twice a second the names of nodes, topics and their publishers' nodes
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "std_msgs/msg/string.hpp"

namespace {

void show(const sensor_msgs::msg::Image& image) {
  const bool whole = !image.data.empty() && image.data.size() == std::size_t{image.step} * image.height &&
                     std::all_of(image.data.begin(), image.data.end(), [&](auto b) { return b == image.data[0]; });
  std::printf("{\"stamp\": %lld, \"width\": %u, \"height\": %u, \"encoding\": \"%s\", \"first\": %d, \"whole\": %s}\n",
              static_cast<long long>(image.header.stamp.sec) * 1'000'000'000 + image.header.stamp.nanosec, image.width,
              image.height, image.encoding.c_str(), image.data.empty() ? -1 : image.data[0], whole ? "true" : "false");
  std::fflush(stdout);
}

void show_graph(rclcpp::Node& node) {
  for (const std::string& name : node.get_node_names()) std::printf("node %s\n", name.c_str());
  for (const auto& [topic, types] : node.get_topic_names_and_types()) {
    std::printf("topic %s %s\n", topic.c_str(), types.front().c_str());
    for (const auto& info : node.get_publishers_info_by_topic(topic))
      std::printf("publisher %s %s %s\n", topic.c_str(), info.node_name().c_str(), info.topic_type().c_str());
  }
  std::puts("end");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const std::string verb = argc > 1 ? argv[1] : "";
  const std::string topic = argc > 2 ? argv[2] : "";
  const auto node = std::make_shared<rclcpp::Node>("ros2_peer");
  rclcpp::SubscriptionBase::SharedPtr in;
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr out;
  rclcpp::TimerBase::SharedPtr timer;
  int number = 0;
  if (verb == "watch" && argc > 3) {
    rclcpp::QoS qos(5);
    if (std::string(argv[3]) == "best_effort") qos.best_effort();
    in = node->create_subscription<sensor_msgs::msg::Image>(topic, qos,
                                                            [](const sensor_msgs::msg::Image& image) { show(image); });
  } else if (verb == "talk" && argc > 2) {
    out = node->create_publisher<std_msgs::msg::String>(topic, 10);
    timer = node->create_wall_timer(std::chrono::milliseconds(100), [&] {
      std_msgs::msg::String text;
      text.data = "hello " + std::to_string(++number);
      out->publish(text);
    });
  } else if (verb == "graph") {
    timer = node->create_wall_timer(std::chrono::milliseconds(500), [&] { show_graph(*node); });
  } else {
    std::fputs("usage: ros2_peer watch TOPIC reliable|best_effort | talk TOPIC | graph\n", stderr);
    return 2;
  }
  rclcpp::spin(node);
  rclcpp::shutdown();
}
