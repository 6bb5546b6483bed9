// SPDX-License-Identifier: Apache-2.0
// Data that is hard to show, until standard input ends:
//   bridge_crowd TOPICS
// /crowd/000 and so on, one message a second each, with numbers from 0 on; /odd with NaN, infinities and huge numbers
// in turn; /fast at 4 kHz; and a topic with a very long name.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cardan/cardan.hpp"

namespace {

struct Float64 {
  double data = 0;
};

}  // namespace

CARDAN_MESSAGE(Float64, "std_msgs/msg/Float64", data);

namespace {

using Out = cardan::Publisher<Float64>;

std::unique_ptr<Out> publisher(const std::string& topic) {
  return std::make_unique<Out>(cardan::Topic<Float64>{topic.c_str(), {.depth = 8}});
}

std::string numbered(unsigned long n) {
  std::array<char, 32> name{};
  static_cast<void>(std::snprintf(name.data(), name.size(), "/crowd/%03lu", n));
  return name.data();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  constexpr std::array kOdd{
      1.0,   std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1.7e308, -1.7e308,
      1e-300};
  std::vector<std::unique_ptr<Out>> all;
  for (unsigned long n = 0; n < std::strtoul(argv[1], nullptr, 10); ++n) all.push_back(publisher(numbered(n)));
  const auto odd = publisher("/odd"), fast = publisher("/fast");
  const auto long_name = publisher("/a_very_long_name/" + std::string(60, 'm') + "/" + std::string(60, 'w') + "/end");
  std::puts("ready");
  std::fflush(stdout);
  std::thread crowd([&] {
    for (std::size_t n = 0; !cardan::stopping(); ++n) {
      for (const auto& out : all) out->publish({.data = static_cast<double>(n)});
      odd->publish({.data = kOdd.at(n % kOdd.size())});
      long_name->publish({.data = 1});
      for (int i = 0; i < 10 && !cardan::stopping(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  std::thread quick([&] {
    auto next = std::chrono::steady_clock::now();
    for (int n = 0; !cardan::stopping(); n = (n + 1) % 4000) {
      fast->publish({.data = static_cast<double>(n)});
      std::this_thread::sleep_until(next += std::chrono::microseconds(250));
    }
  });
  char byte = 0;
  while (::read(0, &byte, 1) > 0) {
  }
  cardan::request_stop();
  crowd.join();
  quick.join();
} catch (const std::exception& e) {
  std::fprintf(stderr, "bridge_crowd: %s\n", e.what());
  return 1;
}
