// SPDX-License-Identifier: Apache-2.0
#include "bench/record/sensors.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cardan::bench::recording {
namespace {

TEST(Sensors, AreThoseOfThePapersTable) {
  const Sensors all = all_sensors(8);
  std::uint32_t publishers = 0;
  std::uint64_t in_ten_seconds = 0;  // of one of each kind, as the table counts
  for (const SensorGroup& group : all) {
    publishers += group.count;
    in_ten_seconds += messages_in(group, 10);
  }
  EXPECT_EQ(publishers, 8U + 1 + 4 + 5 + 1 + 1 + 12);
  EXPECT_EQ(in_ten_seconds, 360U + 250 + 250 + 500 + 250 + 1000 + 400);
  EXPECT_EQ(all.size(), 7U) << "sensors of a kind share a topic";
  EXPECT_EQ(all[0].bytes % 4096, 0U) << "a camera's frame is whole pages";
}

TEST(Sensors, Sums) {
  EXPECT_DOUBLE_EQ(bytes_per_second(cameras(5)), 5 * 5'529'600.0 * 36);
  EXPECT_EQ(messages_in(cameras(3), 2), 3U * 72);
  EXPECT_EQ(messages_in(cameras(1), 0.001), 1U) << "never none";
}

TEST(Sensors, GoToAnotherProcessAndBack) {
  Sensors all = all_sensors(2);
  all[1].readers = 3;
  EXPECT_EQ(sensors_of(nlohmann::json::parse(to_json(all).dump())), all);
}

}  // namespace
}  // namespace cardan::bench::recording
