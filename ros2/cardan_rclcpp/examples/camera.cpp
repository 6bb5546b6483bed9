// SPDX-License-Identifier: Apache-2.0
// A ROS 2 node whose images go out through Cardan. Everything else of it stays on ROS 2.
//
//   ros2 run cardan_rclcpp camera
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "cardan_rclcpp/cardan_rclcpp.hpp"
#include "rclcpp/rclcpp.hpp"
#include "topics.hpp"

class Camera : public rclcpp::Node {
 public:
  Camera() : Node("camera"), front_(this, kFront) {
    timer_ = create_wall_timer(std::chrono::milliseconds(33), [this] { shoot(); });
  }

 private:
  void shoot() {
    cardan::Loan<cardan::Image> frame = front_.loan();
    if (!frame) return;
    frame->header.stamp = now().nanoseconds();
    frame->header.frame_id = "camera_front";
    const auto pixels = frame->resize(1200, 1920, "bgr8");  // filled in place, in shared memory
    std::memset(pixels.data(), static_cast<int>(front_.published() % 256), pixels.size());
    front_.publish(std::move(frame));
  }

  cardan::ros::Publisher<cardan::Image> front_;
  rclcpp::TimerBase::SharedPtr timer_;
};

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<Camera>());
  rclcpp::shutdown();
}
