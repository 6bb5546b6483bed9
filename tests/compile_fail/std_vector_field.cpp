// SPDX-License-Identifier: Apache-2.0
// expect: a field owns memory of this process
#include <cstdint>
#include <vector>

#include "cardan/message.hpp"

struct Bad {
  std::uint32_t count = 0;
  std::vector<double> values;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", count, values);
