// SPDX-License-Identifier: Apache-2.0
// expect: CARDAN_MESSAGE does not name every field
#include "cardan/message.hpp"

struct Bad {
  double speed = 0;
  double heading = 0;
  double slip = 0;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed, slip);
