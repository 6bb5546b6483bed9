// SPDX-License-Identifier: Apache-2.0
#include "bench/transforms/tf2_tree.hpp"

#include <console_bridge/console.h>
#include <geometry_msgs/TransformStamped.h>
#include <tf2/buffer_core.h>
#include <tf2/exceptions.h>

struct Tf2Tree::Inside {
  explicit Inside(double seconds) : buffer(ros::Duration(seconds)) {}
  tf2::BufferCore buffer;
};

namespace {
ros::Time time_of(std::int64_t stamp) {
  return ros::Time(static_cast<std::uint32_t>(stamp / 1'000'000'000),
                   static_cast<std::uint32_t>(stamp % 1'000'000'000));
}
}  // namespace

Tf2Tree::Tf2Tree(double history_seconds) : inside_(std::make_unique<Inside>(history_seconds)) {
  console_bridge::noOutputHandler();  // it warns of each place that it refuses
}
Tf2Tree::~Tf2Tree() = default;

bool Tf2Tree::put(const std::string& parent, const std::string& child, std::int64_t stamp, const Numbers& n,
                  bool is_static) {
  geometry_msgs::TransformStamped one;
  one.header.frame_id = parent;
  one.header.stamp = time_of(stamp);
  one.child_frame_id = child;
  auto& translation = one.transform.translation;
  auto& rotation = one.transform.rotation;
  translation.x = n[0], translation.y = n[1], translation.z = n[2];
  rotation.x = n[3], rotation.y = n[4], rotation.z = n[5], rotation.w = n[6];
  return inside_->buffer.setTransform(one, "test", is_static);
}

bool Tf2Tree::lookup(const std::string& target, const std::string& source, std::int64_t stamp, Numbers& into) const {
  try {
    const geometry_msgs::TransformStamped found = inside_->buffer.lookupTransform(target, source, time_of(stamp));
    const auto& t = found.transform;
    into = {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w};
    return true;
  } catch (const tf2::TransformException&) {
    return false;
  }
}
