// SPDX-License-Identifier: Apache-2.0
// expect: a field is a pointer, which means nothing in another process
#include "cardan/message.hpp"

struct Bad {
  double* wheels[4] = {};
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", wheels);
