// SPDX-License-Identifier: Apache-2.0
// Somebody else's program that records its own topic, and reads the file.
#include <cardan/cardan.hpp>
#include <cardan/mcap/reader.hpp>
#include <cardan/recorder.hpp>
#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  cardan::Publisher imu{cardan::Topic<cardan::Imu>{"/imu", {.depth = 8}}};
  cardan::record::Recorder recorder({.path = argv[1], .topics = {"/imu"}, .min_space = 0});
  while (imu.subscribers() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 5; ++i) imu.publish(cardan::Imu{});
  while (recorder.report().recorded < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  recorder.stop();
  const cardan::mcap::Reader reader(argv[1]);
  std::printf("recorded %d messages\n", static_cast<int>(reader.summary().statistics().message_count));
}
