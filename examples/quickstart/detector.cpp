// SPDX-License-Identifier: Apache-2.0
// Reads the freshest frame, in the camera's memory. `quickstart_detector 30` ends after 30 frames.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "topics.hpp"

int main(int argc, char** argv) try {
  using namespace std::chrono_literals;
  const long frames = argc > 1 ? std::atol(argv[1]) : -1;
  cardan::stop_on_signals();

  cardan::Subscriber in{kFront};
  long n = 0;
  while (n != frames) {
    auto frame = in.wait(10s);
    if (!frame) {
      std::printf("%s\n", in.reason() == cardan::Reason::TimedOut ? "no camera for 10 s" : "stopped");
      return in.reason() == cardan::Reason::TimedOut ? 1 : 0;
    }
    ++n;
    if (n % 30 == 0)
      std::printf("frame %llu: %u x %u %s, %.1f us old, %llu missed so far\n",
                  static_cast<unsigned long long>(frame.sequence()), frame->width, frame->height,
                  std::string(frame->encoding.view()).c_str(), static_cast<double>(frame.age().count()) / 1e3,
                  static_cast<unsigned long long>(in.missed()));
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "detector: %s\n", e.what());
  return 1;
}
