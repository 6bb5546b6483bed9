// SPDX-License-Identifier: Apache-2.0
// expect: a field is a pointer, which means nothing in another process
#include "cardan/message.hpp"

struct Bad {
  double speed = 0;
  const char* name = nullptr;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed, name);
