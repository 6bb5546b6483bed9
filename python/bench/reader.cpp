// SPDX-License-Identifier: Apache-2.0
// The C++ reader that frames.py compares with the Python one: takes frames, and prints their ages in nanoseconds.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/cardan.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const cardan::Topic<cardan::Image> front{arguments[1], {.max_bytes = 1920 * 1200 * 3}};
  cardan::Subscriber in{front};
  std::vector<long long> ages;
  std::size_t sum = 0;
  for (int i = std::atoi(arguments[2]); i > 0; --i) {
    const auto frame = in.wait();
    if (!frame || !frame->valid()) return 1;
    const std::uint8_t* const pixels = frame->data.data();
    ages.push_back(cardan::steady_now() - frame.publish_time());
    sum += pixels[0];
  }
  for (const long long age : ages) std::printf("%lld\n", age);
  std::printf("missed %llu\n", static_cast<unsigned long long>(in.missed()));
  return sum == 0 ? 3 : 0;
}
