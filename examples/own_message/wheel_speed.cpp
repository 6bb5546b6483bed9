// SPDX-License-Identifier: Apache-2.0
// A plain struct of one's own as a message: one macro names its fields; its ROS 2 schema and CDR form follow from it.
#include <cstdio>
#include <exception>

#include "cardan/cardan.hpp"

namespace vehicle {
struct WheelSpeed {
  cardan::Header header;
  std::array<float, 4> metres_per_second;
};
}  // namespace vehicle
CARDAN_MESSAGE(vehicle::WheelSpeed, "vehicle_msgs/msg/WheelSpeed", header, metres_per_second);

inline constexpr cardan::Topic<vehicle::WheelSpeed> kWheels{"/can/wheel_speed", {.depth = 8}};

int main() try {
  cardan::Publisher out{kWheels};
  cardan::Subscriber in{kWheels};
  for (int i = 1; i <= 3; ++i) {
    auto speed = out.loan();
    speed->metres_per_second = {1.0F * static_cast<float>(i), 1.1F, 1.2F, 1.3F};
    out.publish(std::move(speed));
  }
  while (auto speed = in.take())
    std::printf("%llu: %.1f m/s\n", static_cast<unsigned long long>(speed.sequence()),
                static_cast<double>(speed->metres_per_second[0]));
  const std::string schema(cardan::message_traits<vehicle::WheelSpeed>::schema());
  std::printf("%s\n", schema.c_str());
} catch (const std::exception& e) {
  std::fprintf(stderr, "wheel_speed: %s\n", e.what());
  return 1;
}
