// SPDX-License-Identifier: Apache-2.0
// The contract of a server of maps and its clients.
#pragma once

#include <cardan/service.hpp>

namespace example {

/// The part of the map around a place. Metres, in the map's frame.
struct Region {
  double x, y, radius;
};

/// Occupied cells of 1 m, row by row from the lower left corner.
struct Map {
  std::uint32_t width;
  cardan::shm::vector<std::uint8_t> cells;
};

}  // namespace example

CARDAN_MESSAGE(example::Region, "example_msgs/msg/Region", x, y, radius);
CARDAN_MESSAGE(example::Map, "example_msgs/msg/Map", width, cells);

namespace example {

inline constexpr cardan::Service<Region, Map> kMap{"/map/region", {.max_answer_bytes = 1 << 20, .pending = 2}};

}  // namespace example
