// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/message.hpp"
#include "cardan/topic.hpp"

struct Distance {
  double metres = 0;
};
CARDAN_MESSAGE(Distance, "example_msgs/msg/Distance", metres);

struct Command {
  bool brake = false;
};
CARDAN_MESSAGE(Command, "example_msgs/msg/Command", brake);

inline constexpr cardan::Topic<Distance> kDistance{"/distance"};
inline constexpr cardan::Topic<Command> kCommand{"/command"};
