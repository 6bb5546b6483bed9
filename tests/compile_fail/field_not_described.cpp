// SPDX-License-Identifier: Apache-2.0
// expect: give that struct its own CARDAN_MESSAGE line
#include "cardan/message.hpp"

struct Wheel {
  double speed = 0;
};
struct Bad {
  Wheel front;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", front);
