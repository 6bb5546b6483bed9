// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/planner.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cardan::bench::perception::lidar {
namespace {

Obstacles with(const std::vector<ObstacleBox>& boxes, double speed) {
  Obstacles out{.number = 7, .count = boxes.size()};
  out.pose.speed = speed;
  std::copy(boxes.begin(), boxes.end(), out.boxes.begin());
  return out;
}

TEST(Planner, GoesStraightWhereTheWayIsFree) {
  const Plan way = plan(with({}, 10));
  EXPECT_EQ(way.number, 7U);
  EXPECT_EQ(way.has, 1U);
  EXPECT_EQ(way.offset, 0);
  EXPECT_EQ(way.free_path, 50);
  EXPECT_FALSE(decide(way).brake);
}

TEST(Planner, GoesRoundObstacles) {
  const Plan way = plan(with({{25, 27, -3, 0.5F, -1.5F, 0}}, 10));
  EXPECT_GT(way.offset, 1) << "to the left";
  EXPECT_EQ(way.free_path, 50);
  EXPECT_FALSE(decide(way).brake);
}

TEST(Planner, BrakesInFrontOfAWall) {
  const Obstacles wall = with({{15, 16, -10, 10, -1.5F, 1}}, 20);
  const Plan way = plan(wall);
  EXPECT_LT(way.free_path, 15);
  EXPECT_TRUE(decide(way).brake) << "20 m/s need 33 m";
  EXPECT_FALSE(decide(plan(with({{15, 16, -10, 10, -1.5F, 1}}, 5))).brake) << "5 m/s need 2 m";
  EXPECT_FALSE(decide(plan(with({{15, 16, -10, 10, 2, 3}}, 20))).brake) << "a bridge";
  EXPECT_TRUE(decide(Plan{}).brake) << "no path";
}

TEST(LidarMessages, AMessageThatLiesIsNotRead) {
  std::vector<std::uint64_t> words(64);
  ASSERT_TRUE(put_cloud(words, {.number = 1, .ground = 1}, std::vector<CloudPoint>(3)));
  ASSERT_TRUE(get<CloudHead>(words));
  EXPECT_EQ(points_of(words, *get<CloudHead>(words)).size(), 3U);
  EXPECT_FALSE(put_cloud(words, {.number = 1}, std::vector<CloudPoint>(1000)));
  CloudHead lie{.number = 1, .points = 1000};
  std::memcpy(words.data(), &lie, sizeof lie);
  EXPECT_FALSE(get<CloudHead>(words)) << "more points than the message has";
  lie = {.number = 1, .points = 2, .ground = 3};
  std::memcpy(words.data(), &lie, sizeof lie);
  EXPECT_FALSE(get<CloudHead>(words)) << "more ground than points";
  EXPECT_FALSE(get<CloudHead>(std::span(words).first(4)));
  std::vector<std::uint64_t> room(message_bytes<Obstacles>() / 8);
  ASSERT_TRUE(put(std::span(room), Obstacles{.number = 1, .count = 65}));
  EXPECT_FALSE(get<Obstacles>(room));
  EXPECT_FALSE(put(std::span(room).first(8), Obstacles{}));
}

}  // namespace
}  // namespace cardan::bench::perception::lidar
