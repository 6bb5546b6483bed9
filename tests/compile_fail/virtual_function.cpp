// SPDX-License-Identifier: Apache-2.0
// expect: the struct has virtual functions
#include <cstdint>
#include <string>
#include <vector>

#include "cardan/messages/messages.hpp"

struct Bad {
  virtual void stop() {}
  double speed = 0;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed);
