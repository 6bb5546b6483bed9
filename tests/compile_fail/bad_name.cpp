// SPDX-License-Identifier: Apache-2.0
// expect: the name must look like
#include "cardan/message.hpp"

struct Bad {
  double speed = 0;
};
CARDAN_MESSAGE(Bad, "my_msgs.Bad", speed);
