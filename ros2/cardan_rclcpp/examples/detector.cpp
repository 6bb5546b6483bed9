// SPDX-License-Identifier: Apache-2.0
// A ROS 2 node that gets its images through Cardan, and publishes what it found on ROS 2, as before.
//
//   ros2 run cardan_rclcpp detector
//   ros2 topic echo /brightness
#include <memory>
#include <string>

#include "cardan_rclcpp/cardan_rclcpp.hpp"
#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"
#include "topics.hpp"

#ifdef CARDAN_EXAMPLE_OPENCV
#include <opencv2/core.hpp>
#endif

class Detector : public rclcpp::Node {
 public:
  Detector()
      : Node("detector"),
        front_(this, kFront, [this](const cardan::Sample<cardan::Image>& frame) { detect(frame); }),
        found_(create_publisher<std_msgs::msg::String>("brightness", 10)) {}

 private:
  void detect(const cardan::Sample<cardan::Image>& frame) {
#ifdef CARDAN_EXAMPLE_OPENCV
    const cv::Mat image = frame->mat();  // the publisher's pixels: no copy, read-only
    const double mean = image.empty() ? 0 : cv::mean(image)[0];
#else
    const double mean = frame->valid() && !frame->data.empty() ? frame->data[0] : 0;
#endif
    std_msgs::msg::String text;
    text.data = std::to_string(frame->width) + " x " + std::to_string(frame->height) + ", mean " +
                std::to_string(mean) + ", " + std::to_string(frame.age().count() / 1000) + " us old";
    found_->publish(text);
    RCLCPP_INFO_THROTTLE(get_logger(), *get_clock(), 1000, "%s", text.data.c_str());
  }

  cardan::ros::Subscription<cardan::Image> front_;
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr found_;
};

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<Detector>());
  rclcpp::shutdown();
}
