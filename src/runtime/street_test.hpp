// SPDX-License-Identifier: Apache-2.0
// Topics of a small street, for tests of what rests on what.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cardan/message.hpp"
#include "cardan/topic.hpp"

namespace cardan::street_test {

struct Number {
  std::uint64_t value = 0;
};
using Words = std::map<std::string, int>;  // no shared memory can carry it

inline constexpr Topic<Number> kCamera{"/camera", {.depth = 8}};
inline constexpr Topic<Number> kLidar{"/lidar", {.depth = 8}};
inline constexpr Topic<Number> kMap{"/map", {.depth = 8}};
inline constexpr Topic<Number> kFound{"/found", {.depth = 8}};
inline constexpr Topic<Words> kWords{"/words", {.depth = 8}};
inline constexpr Topic<Number> kCommand{"/command", {.depth = 8}};

}  // namespace cardan::street_test

CARDAN_MESSAGE(cardan::street_test::Number, "test_msgs/msg/StreetNumber", value);
