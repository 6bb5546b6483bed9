// SPDX-License-Identifier: Apache-2.0
// A plain ROS 2 node on the other side of `cardan bridge dds`. Until SIGINT, unless said otherwise:
//   ros2_peer watch TOPIC reliable|best_effort   a line for each image
//   ros2_peer images TOPIC WIDTH HEIGHT HZ       publishes images; the n-th has bytes that follow from n
//   ros2_peer talk TOPIC                         text "hello N" ten times a second
//   ros2_peer transforms_of TOPIC                a line "FRAME CHILD" for each transform, also of those before it
//   ros2_peer broadcast CHILD                    one transform on /tf_static, as tf2_ros's static broadcaster does
//   ros2_peer graph                              twice a second the names of nodes, topics and their publishers' nodes
//   ros2_peer parameters NODE NAME [VALUE]       sets NAME if there is a VALUE, and ends with a line of what is there
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "parameters.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "std_msgs/msg/string.hpp"
#include "tf2_msgs/msg/tf_message.hpp"

namespace {

using sensor_msgs::msg::Image;
using tf2_msgs::msg::TFMessage;

/// The data that a verb keeps while the node spins.
struct Ends {
  rclcpp::SubscriptionBase::SharedPtr in;
  rclcpp::PublisherBase::SharedPtr out;
  rclcpp::TimerBase::SharedPtr timer;
};

void show(const Image& image) {
  const bool whole = !image.data.empty() && image.data.size() == std::size_t{image.step} * image.height &&
                     std::all_of(image.data.begin(), image.data.end(), [&](auto b) { return b == image.data[0]; });
  std::printf("{\"stamp\": %lld, \"width\": %u, \"height\": %u, \"encoding\": \"%s\", \"first\": %d, \"whole\": %s}\n",
              static_cast<long long>(image.header.stamp.sec) * 1'000'000'000 + image.header.stamp.nanosec, image.width,
              image.height, image.encoding.c_str(), image.data.empty() ? -1 : image.data[0], whole ? "true" : "false");
  std::fflush(stdout);
}

Ends watch(rclcpp::Node& node, const std::string& topic, const std::string& reliability) {
  rclcpp::QoS qos(5);
  if (reliability == "best_effort") qos.best_effort();
  return {node.create_subscription<Image>(topic, qos, [](const Image& image) { show(image); }), {}, {}};
}

Ends send_images(rclcpp::Node& node, const std::string& topic, std::uint32_t width, std::uint32_t height, double hz) {
  const auto out = node.create_publisher<Image>(topic, rclcpp::SensorDataQoS());
  auto image = std::make_shared<Image>();
  image->width = width;
  image->height = height;
  image->step = width * 3;
  image->encoding = "bgr8";
  image->header.frame_id = "rear";
  const auto send = [out, image] {
    const std::uint32_t number = ++image->header.stamp.nanosec;
    image->data.assign(std::size_t{image->step} * image->height, static_cast<std::uint8_t>(number % 251));
    out->publish(*image);
  };
  return {{}, out, node.create_wall_timer(std::chrono::duration<double>(1 / hz), send)};
}

Ends talk(rclcpp::Node& node, const std::string& topic) {
  const auto out = node.create_publisher<std_msgs::msg::String>(topic, 10);
  const auto say = [out, number = std::make_shared<int>(0)] {
    std_msgs::msg::String text;
    text.data = "hello " + std::to_string(++*number);
    out->publish(text);
  };
  return {{}, out, node.create_wall_timer(std::chrono::milliseconds(100), say)};
}

Ends show_transforms(rclcpp::Node& node, const std::string& topic) {
  const auto show_all = [](const TFMessage& message) {
    for (const auto& one : message.transforms)
      std::printf("%s %s\n", one.header.frame_id.c_str(), one.child_frame_id.c_str());
    std::fflush(stdout);
  };
  return {node.create_subscription<TFMessage>(topic, rclcpp::QoS(100).reliable().transient_local(), show_all), {}, {}};
}

Ends broadcast(rclcpp::Node& node, const std::string& child) {
  const auto out = node.create_publisher<TFMessage>("/tf_static", rclcpp::QoS(1).reliable().transient_local());
  TFMessage message;
  message.transforms.resize(1);
  message.transforms[0].header.frame_id = "base";
  message.transforms[0].child_frame_id = child;
  message.transforms[0].transform.rotation.w = 1;
  out->publish(message);
  return {{}, out, {}};
}

Ends show_graph(rclcpp::Node& node) {
  const auto show_it = [&node] {
    for (const std::string& name : node.get_node_names()) std::printf("node %s\n", name.c_str());
    for (const auto& [topic, types] : node.get_topic_names_and_types()) {
      std::printf("topic %s %s\n", topic.c_str(), types.front().c_str());
      for (const auto& info : node.get_publishers_info_by_topic(topic))
        std::printf("publisher %s %s %s\n", topic.c_str(), info.node_name().c_str(), info.topic_type().c_str());
    }
    std::puts("end");
    std::fflush(stdout);
  };
  return {{}, {}, node.create_wall_timer(std::chrono::milliseconds(500), show_it)};
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const auto word = [&](int i) { return std::string(argc > i ? argv[i] : ""); };
  const std::string verb = word(1);
  const auto node = std::make_shared<rclcpp::Node>("ros2_peer");
  Ends ends;
  if (verb == "watch" && argc == 4) {
    ends = watch(*node, word(2), word(3));
  } else if (verb == "images" && argc == 6) {
    ends = send_images(*node, word(2), static_cast<std::uint32_t>(std::atoi(argv[3])),
                       static_cast<std::uint32_t>(std::atoi(argv[4])), std::atof(argv[5]));
  } else if (verb == "talk" && argc == 3) {
    ends = talk(*node, word(2));
  } else if (verb == "transforms_of" && argc == 3) {
    ends = show_transforms(*node, word(2));
  } else if (verb == "broadcast" && argc == 3) {
    ends = broadcast(*node, word(2));
  } else if (verb == "graph" && argc == 2) {
    ends = show_graph(*node);
  } else if (verb == "parameters" && (argc == 4 || argc == 5)) {
    const int code = ask_parameters(node, word(2), word(3), word(4));
    rclcpp::shutdown();
    return code;
  } else {
    std::fputs("usage: see the head of peer.cpp\n", stderr);
    return 2;
  }
  rclcpp::spin(node);
  rclcpp::shutdown();
}
