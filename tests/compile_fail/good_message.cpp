// SPDX-License-Identifier: Apache-2.0
// The control: with the same flags this one compiles. Were it to fail, the others would fail for the wrong reason.
#include <cstdint>

#include "cardan/messages.hpp"

namespace my {
struct Wheel {
  double speed = 0;
  float pressure[2] = {};
};
struct Car {
  cardan::Header header;
  Wheel wheels[4];
  cardan::FixedString<16> name;
  cardan::shm::vector<std::uint8_t> data;
  cardan::shm::string remark;
};
CARDAN_MESSAGE(Wheel, "my_msgs/msg/Wheel", speed, pressure);
}  // namespace my
CARDAN_MESSAGE(my::Car, "my_msgs/msg/Car", header, wheels, name, data, remark);

static_assert(cardan::Message<my::Car>);
