// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"
#include "cardan/messages/header.hpp"

namespace cardan::street {

/// The message of the street's last process: a plain struct of one's own becomes a message by one macro.
struct Decision {
  Header header;  ///< the stamp and sequence of the sensor frame that led to it
  bool brake = true;
  float distance = 0;           ///< m, to what it brakes for; the free path when it does not
  std::uint32_t people = 0;     ///< seen by the camera
  std::uint32_t obstacles = 0;  ///< seen by the LiDAR
  FixedString<96> reason;
};

}  // namespace cardan::street

CARDAN_MESSAGE(cardan::street::Decision, "street_msgs/msg/Decision", header, brake, distance, people, obstacles,
               reason);
