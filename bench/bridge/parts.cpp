// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/parts.hpp"

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/cardan.hpp"
#include "cardan/observer.hpp"

namespace cardan::bench {
namespace {

constexpr const char* kTopic = "/camera";
/// System calls that this process has made to wake readers of the camera.
std::uint64_t wakes_so_far() {
  const auto seen = look_around({}, kTopic);
  return seen.publishers.empty() ? 0 : seen.publishers[0].wakes;
}

constexpr std::size_t kMostBytes = 128U << 20U;  // a subscriber takes what a bridge lets in, 64 MiB

}  // namespace

int play_bridge_part(const char* job) noexcept {
  return play_part({{"camera", play_camera}, {"viewer", play_viewer}, {"browser", play_browser}}, job);
}

void play_camera(const nlohmann::json& job) {
  Stage stage;
  const std::uint32_t width = job.at("width"), height = job.at("height");
  const std::string encoding = job.at("encoding");
  const double hz = job.at("hz"), seconds = job.at("seconds");
  const std::size_t bytes = image_bytes_or_throw(height, width, image_format_or_throw(encoding));
  Publisher<Image> out(Topic<Image>{kTopic, {.max_bytes = bytes, .depth = 4}});
  const auto frames = static_cast<std::size_t>(seconds * hz);
  std::vector<std::int64_t> publish_ns;
  publish_ns.reserve(frames);
  const auto send = [&](std::int64_t stamp) {
    auto frame = out.loan();
    if (!frame) return false;
    static_cast<void>(frame->resize(height, width, encoding));
    frame->header.frame_id = "camera";
    frame->header.stamp = stamp;
    const std::int64_t before = now_ns();
    out.publish(std::move(frame));
    publish_ns.push_back(now_ns() - before);
    return true;
  };
  stage.ready();
  if (!stage.wait_for_go()) return Stage::report({{"sent", 0}});
  send(0);
  if (!stage.wait_for_go()) return Stage::report({{"sent", 0}});
  // The first frames are not measured, because readers learn the rhythm by them. Frames without a stamp are not
  // counted.
  std::int64_t start = now_ns();
  for (std::size_t i = 0; i < kWarmUpFrames && !stage.end_asked(); ++i) {
    sleep_until(start + static_cast<std::int64_t>(static_cast<double>(i) * 1e9 / hz));
    send(0);
  }
  start += static_cast<std::int64_t>(static_cast<double>(kWarmUpFrames) * 1e9 / hz);
  publish_ns.clear();
  const std::uint64_t wakes = wakes_so_far();
  std::uint64_t sent = 0;
  for (std::size_t i = 0; i < frames && !stage.end_asked(); ++i) {
    sleep_until(start + static_cast<std::int64_t>(static_cast<double>(i) * 1e9 / hz));
    if (send(wall_now())) ++sent;
  }
  const std::uint64_t woken = wakes_so_far() - wakes;
  stage.done();
  stage.wait_for_end();
  Stage::report({{"sent", sent}, {"publish_ns", publish_ns}, {"wakes", woken}});
}

void play_viewer(const nlohmann::json& /*job*/) {
  Stage stage;
  Subscriber<Image> in(Topic<Image>{kTopic, {.max_bytes = kMostBytes, .depth = 4}});
  std::vector<std::int64_t> latency_ns;
  stage.ready();
  while (!stage.end_asked())
    if (const auto frame = in.wait(std::chrono::milliseconds(50)); frame && frame->header.stamp != 0)
      latency_ns.push_back(wall_now() - frame->header.stamp);
  Stage::report({{"received", latency_ns.size()}, {"missed", in.missed()}, {"latency_ns", latency_ns}});
}

}  // namespace cardan::bench
