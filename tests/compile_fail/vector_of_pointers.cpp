// SPDX-License-Identifier: Apache-2.0
// expect: a pointer means nothing in another process
#include "cardan/message.hpp"

struct Bad {
  cardan::shm::vector<float*> rows;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", rows);
