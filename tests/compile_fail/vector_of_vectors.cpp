// SPDX-License-Identifier: Apache-2.0
// expect: keep one flat list
#include "cardan/message.hpp"

struct Bad {
  cardan::shm::vector<cardan::shm::vector<float>> rows;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", rows);
