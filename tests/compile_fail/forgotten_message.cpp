// SPDX-License-Identifier: Apache-2.0
// expect: a cardan::Publisher takes messages: write CARDAN_MESSAGE(Type, "my_msgs/msg/Type", all, its, fields) after
// the struct errors: 1
#include <utility>

#include "cardan/publisher.hpp"

struct Speed {
  double metres_per_second = 0;
};
inline constexpr cardan::Topic<Speed> kSpeed{"/speed"};

int main() {
  cardan::Publisher out{kSpeed};
  auto loan = out.loan();
  loan->metres_per_second = 1;
  out.publish(std::move(loan));
  out.publish({.metres_per_second = 2});
}
