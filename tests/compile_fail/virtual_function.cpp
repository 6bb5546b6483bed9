// SPDX-License-Identifier: Apache-2.0
// expect: the struct has virtual functions
#include "cardan/message.hpp"

struct Bad {
  virtual void stop() {}
  double speed = 0;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed);
