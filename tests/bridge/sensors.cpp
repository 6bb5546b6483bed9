// SPDX-License-Identifier: Apache-2.0
// A camera and a scanner for tests and measurements of bridges, until standard input ends:
//   bridge_sensors WIDTH HEIGHT IMAGE_HZ POINTS CLOUD_HZ [clock]
// Each message's stamp is the wall clock at its publication. Images up to 1 MiB have a pattern: byte i of frame n is
// i + n.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "cardan/cardan.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kPatternBytes = 1 << 20;

/// Calls `publish` at `hz` until the program ends.
template <class Publish>
std::thread at(double hz, Publish publish) {
  return std::thread([hz, publish = std::move(publish)]() mutable {
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / hz));
    for (auto next = Clock::now(); !cardan::stopping(); next += period) {
      std::this_thread::sleep_until(next);
      publish();
    }
  });
}

struct Camera {
  std::uint32_t width, height;
  std::uint64_t number = 0;
  std::unique_ptr<cardan::Publisher<cardan::Image>> out;
  void operator()() {
    auto frame = out->loan();
    if (!frame) return;
    auto pixels = frame->resize(height, width, "bgr8");
    if (pixels.size() <= kPatternBytes)
      for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i + number);
    ++number;
    frame->header.frame_id = "camera";
    frame->header.stamp = cardan::wall_now();
    out->publish(std::move(frame));
  }
};

struct Scanner {
  std::size_t points;
  std::unique_ptr<cardan::Publisher<cardan::PointCloud>> out;
  void operator()() {
    auto cloud = out->loan();
    if (!cloud) return;
    for (std::size_t i = 0; auto& p : cloud->resize_points<cardan::PointXYZ>(points)) p.x = static_cast<float>(i++);
    cloud->header.frame_id = "scanner";
    cloud->header.stamp = cardan::wall_now();
    out->publish(std::move(cloud));
  }
};

struct Time {
  std::unique_ptr<cardan::Publisher<cardan::Clock>> out;
  std::int64_t now = 1'000'000'000'000;
  void operator()() { out->publish({.clock = now += 100'000'000}); }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 6) return 2;
  const auto number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
  const auto width = static_cast<std::uint32_t>(number(1)), height = static_cast<std::uint32_t>(number(2));
  std::vector<std::thread> all;
  if (number(3) != 0)
    all.push_back(at(static_cast<double>(number(3)),
                     Camera{width, height, 0,
                            std::make_unique<cardan::Publisher<cardan::Image>>(cardan::Topic<cardan::Image>{
                                "/camera", {.max_bytes = std::size_t{width} * height * 3, .depth = 2}})}));
  if (number(5) != 0)
    all.push_back(
        at(static_cast<double>(number(5)),
           Scanner{number(4), std::make_unique<cardan::Publisher<cardan::PointCloud>>(cardan::Topic<cardan::PointCloud>{
                                  "/cloud", {.max_bytes = number(4) * 16 + 64, .depth = 2}})}));
  if (argc > 6)
    all.push_back(at(10, Time{std::make_unique<cardan::Publisher<cardan::Clock>>(
                             cardan::Topic<cardan::Clock>{"/clock", {.depth = 4}})}));
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (::read(0, &byte, 1) > 0) {
  }
  cardan::request_stop();
  for (auto& thread : all) thread.join();
} catch (const std::exception& e) {
  std::fprintf(stderr, "bridge_sensors: %s\n", e.what());
  return 1;
}
