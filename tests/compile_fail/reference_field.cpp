// SPDX-License-Identifier: Apache-2.0
// expect: a field is a reference, which means nothing in another process
#include "cardan/message.hpp"

struct Bad {
  double& speed;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", speed);
