// SPDX-License-Identifier: Apache-2.0
// expect: the struct has a destructor
#include "cardan/message.hpp"

struct Bad {
  ~Bad() { speed = 0; }
  double speed = 0;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed);
