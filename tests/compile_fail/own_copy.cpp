// SPDX-License-Identifier: Apache-2.0
// expect: the struct has its own copy or move functions
#include "cardan/message.hpp"

struct Bad {
  Bad() = default;
  Bad(const Bad& other) : speed(other.speed + 1) {}
  Bad& operator=(const Bad&) = default;
  double speed = 0;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed);
