// SPDX-License-Identifier: Apache-2.0
#include "apps/tour/camera.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/publisher.hpp"
#include "cardan/stop.hpp"
#include "cardan/wait_any.hpp"

namespace cardan::apps {
namespace {

void publish_frame(Publisher<Image>& out, std::uint8_t brightness) {
  auto frame = out.loan();
  if (!frame) return;
  std::ranges::fill(frame->resize(480, 640, "mono8"), brightness);
  out.publish(std::move(frame));
}

}  // namespace

int run_tour_camera() {
  stop_on_signals();
  Publisher freshest{kTourCamera};
  Publisher queue{kTourQueue};
  Timer timer{std::chrono::microseconds{33'333}};
  for (std::uint8_t n = 0; wait_any(timer) == 0; ++n) {
    timer.expired();
    publish_frame(freshest, n);
    publish_frame(queue, n);
  }
  return kOk;
}

bool is_whole(const Image& frame) noexcept {
  return frame.width == 640 && frame.height == 480 && frame.data.size() == std::size_t{640} * 480 &&
         std::ranges::all_of(frame.data, [&](std::uint8_t pixel) { return pixel == frame.data[0]; });
}

}  // namespace cardan::apps
