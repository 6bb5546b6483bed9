// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/raycast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace cardan::street {
namespace {

TEST(SimulatedStreet, TheRoadIsBelowTheSensor) {
  SimulatedStreet street;
  std::vector<Point> cloud(SimulatedStreet::kPoints);
  street.scan(0, cloud);
  std::size_t road = 0;
  std::size_t below = 0;
  for (const Point& p : cloud) {
    if (std::isnan(p.x)) continue;
    road += std::abs(p.z + SimulatedStreet::kSensorHeight) < 0.03F ? 1U : 0U;
    below += p.z < -SimulatedStreet::kSensorHeight - 0.03F ? 1U : 0U;
  }
  EXPECT_GT(road, cloud.size() / 5);
  EXPECT_EQ(below, 0U);
}

TEST(SimulatedStreet, PedestrianIsSeenWhereHeIs) {
  SimulatedStreet street;
  std::vector<Point> cloud(SimulatedStreet::kPoints);
  const double t = 3.5;
  street.scan(t, cloud);
  const auto at = SimulatedStreet::pedestrian(t);
  std::size_t hits = 0;
  for (const Point& p : cloud) {
    if (std::hypot(p.x - at.x, p.y - at.y) < 0.35F && p.z > -SimulatedStreet::kSensorHeight + 0.3F) ++hits;
  }
  EXPECT_GT(hits, 20U) << "pedestrian at " << at.x << ", " << at.y;
}

TEST(SimulatedStreet, SameTimeSameScan) {
  SimulatedStreet a;
  SimulatedStreet b;
  std::vector<Point> first(SimulatedStreet::kPoints);
  std::vector<Point> second(SimulatedStreet::kPoints);
  a.scan(1, first);
  b.scan(0.3, second);
  b.scan(1, second);
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(Point)), 0);
}

TEST(SimulatedStreet, WrongSizeIsRefused) {
  SimulatedStreet street;
  std::vector<Point> cloud(10);
  EXPECT_THROW(street.scan(0, cloud), std::invalid_argument);
}

}  // namespace
}  // namespace cardan::street
