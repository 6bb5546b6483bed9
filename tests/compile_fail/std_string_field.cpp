// SPDX-License-Identifier: Apache-2.0
// expect: a field owns memory of this process
#include <string>

#include "cardan/message.hpp"

struct Bad {
  std::string name;
};
CARDAN_MESSAGE(Bad, "my_msgs/msg/Bad", name);
