// SPDX-License-Identifier: Apache-2.0
// expect: give that struct a CARDAN_MESSAGE line of its own
#include "cardan/message.hpp"

struct Wheel {
  double speed = 0;
};
struct Bad {
  Wheel front;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", front);
