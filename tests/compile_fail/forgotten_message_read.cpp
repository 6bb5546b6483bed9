// SPDX-License-Identifier: Apache-2.0
// expect: a cardan::Subscriber takes messages: write CARDAN_MESSAGE(Type, "my_msgs/msg/Type", all, its, fields) after
// the struct errors: 1
#include <chrono>

#include "cardan/subscriber.hpp"

struct Speed {
  double metres_per_second = 0;
};
inline constexpr cardan::Topic<Speed> kSpeed{"/speed"};

int main() {
  cardan::Subscriber in{kSpeed};
  while (auto speed = in.wait(std::chrono::seconds{1})) return speed->metres_per_second > 1;
}
