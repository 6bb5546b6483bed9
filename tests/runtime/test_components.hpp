// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/messages.hpp"
#include "cardan/topic.hpp"

/// The messages between the components of the test library and the tests.
namespace cardan::test {

enum class Order : std::int64_t {
  Answer,
  Segfault,
  Overflow,
  Abort,
  Hang,
  Throw,
  WriteToSample,
  Nap,    ///< until the file $CARDAN_RUN_DIR/$CARDAN_DOMAIN.wake is there
  Speak,  ///< a line of information
  Exit,   ///< the callback calls exit(0)
};

struct Number {
  std::int64_t value = 0;
};
CARDAN_MESSAGE(Number, "test_msgs/msg/Number", value);

/// To Servant, which obeys each.
inline constexpr Topic<Number> kOrders{"/orders", {.depth = 64, .reliable = true}};
/// From Servant: how many orders it has obeyed since it was made.
inline constexpr Topic<Number> kSaid{"/said", {.depth = 64, .reliable = true}};
/// From Ticker: 1, 2, 3, …
inline constexpr Topic<Number> kTicks{"/ticks", {.depth = 64}};
/// From Counter: how many ticks it has seen, and by the sequence missed.
inline constexpr Topic<Number> kSeen{"/seen", {.depth = 1}};
inline constexpr Topic<Number> kLost{"/lost", {.depth = 1}};

}  // namespace cardan::test
