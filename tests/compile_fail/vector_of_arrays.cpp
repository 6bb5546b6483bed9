// SPDX-License-Identifier: Apache-2.0
// expect: put an inner array into a struct
#include <array>
#include "cardan/message.hpp"

struct Bad {
  cardan::shm::vector<std::array<float, 3>> points;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", points);
