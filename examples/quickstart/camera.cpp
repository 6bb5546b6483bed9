// SPDX-License-Identifier: Apache-2.0
// Publishes a moving test picture at 30 Hz. Run it next to `quickstart_detector`; `quickstart_camera 90` ends after 90
// frames.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "topics.hpp"

int main(int argc, char** argv) try {
  using namespace std::chrono_literals;
  const long frames = argc > 1 ? std::atol(argv[1]) : -1;
  cardan::stop_on_signals();

  cardan::Publisher out{kFront};
  cardan::Timer timer{33ms};
  for (long n = 0; n != frames && cardan::wait_any(timer) == 0; ++n) {
    timer.expired();
    auto frame = out.loan();
    auto pixels = frame->resize(480, 640, "mono8");
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(i + static_cast<std::size_t>(n));
    out.publish(std::move(frame));
  }
  std::printf("published %llu frames\n", static_cast<unsigned long long>(out.published()));
} catch (const std::exception& e) {
  std::fprintf(stderr, "camera: %s\n", e.what());
  return 1;
}
