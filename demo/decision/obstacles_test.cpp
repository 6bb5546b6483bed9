// SPDX-License-Identifier: Apache-2.0
#include "demo/decision/obstacles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "demo/sensors/raycast.hpp"

namespace cardan::street {
namespace {

Point at(float x, float y, float z) {
  Point p;
  p.x = x;
  p.y = y;
  p.z = z;
  return p;
}

std::vector<Point> road(float slope = 0) {
  std::vector<Point> cloud;
  for (float x = -18; x < 50; x += 0.4F) {
    for (float y = -12; y < 12; y += 0.4F) cloud.push_back(at(x, y, -1.8F + slope * x));
  }
  return cloud;
}

void stand(std::vector<Point>& cloud, float x, float y, float size, float height, float ground = -1.8F) {
  for (float dx = 0; dx <= size; dx += 0.1F) {
    for (float z = 0; z < height; z += 0.1F) cloud.push_back(at(x + dx, y, ground + z));
  }
}

TEST(Obstacles, AnEmptyRoadHasNone) {
  ObstacleFinder finder;
  EXPECT_TRUE(finder.find(road()).empty());
  EXPECT_TRUE(finder.find({}).empty());
}

TEST(Obstacles, ASlopeIsNotAnObstacle) {
  ObstacleFinder finder;
  EXPECT_TRUE(finder.find(road(0.08F)).empty());
}

TEST(Obstacles, APersonAndACarAreFoundNearestFirst) {
  auto cloud = road();
  stand(cloud, 20, 3, 4.2F, 1.5F);
  stand(cloud, 10, 0, 0.4F, 1.75F);
  ObstacleFinder finder;
  const auto found = finder.find(cloud);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, Obstacle::Kind::Pedestrian);
  EXPECT_NEAR(found[0].ahead(), 10, 0.05);
  EXPECT_EQ(found[1].kind, Obstacle::Kind::Vehicle);
  EXPECT_NEAR(found[1].ahead(), 20, 0.05);
}

TEST(Obstacles, TheOwnVehicleIsNotAnObstacle) {
  auto cloud = road();
  stand(cloud, 2.2F, 0.3F, 0.5F, 1.0F);  // a bonnet that is longer than a car's
  stand(cloud, 3.2F, 1.4F, 0.3F, 1.0F);  // a mirror
  stand(cloud, 15, 0, 0.4F, 1.75F);
  ObstacleFinder car;
  EXPECT_EQ(car.find(cloud).size(), 3U);
  ObstacleFinder truck(OwnVehicle{.front = 4, .rear = 10, .side = 1.5F});
  const auto found = truck.find(cloud);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].ahead(), 15, 0.05);
}

TEST(Obstacles, AWallAroundABendDoesNotCoverTheRoad) {
  auto cloud = road();
  for (float along = 0; along < 20; along += 0.1F) {
    for (float z = 0; z < 2; z += 0.2F) {
      cloud.push_back(at(5 + along, 8, -1.8F + z));
      if (along < 14) cloud.push_back(at(25, 8 - along, -1.8F + z));  // and across the road, far ahead
    }
  }
  ObstacleFinder finder;
  float nearest = 100;
  for (const Obstacle& o : finder.find(cloud)) {
    EXPECT_EQ(o.kind, Obstacle::Kind::Structure);
    if (o.y0 < 1.2F && o.y1 > -1.2F) nearest = std::min(nearest, o.ahead());
  }
  EXPECT_GT(nearest, 24);
  EXPECT_LT(nearest, 26);
}

TEST(Obstacles, NotANumberAndFarAwayAreSkipped) {
  auto cloud = road();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 100; ++i) {
    cloud.push_back(at(nan, nan, nan));
    cloud.push_back(at(infinity, 0, 0));
    cloud.push_back(at(0, -infinity, nan));
    cloud.push_back(at(1e30F, 1e30F, 0));
  }
  ObstacleFinder finder;
  EXPECT_TRUE(finder.find(cloud).empty());
}

TEST(Obstacles, TheSimulatedPedestrianIsFoundOnHisWholeWay) {
  SimulatedStreet street;
  ObstacleFinder finder;
  std::vector<Point> cloud(SimulatedStreet::kPoints);
  int found = 0;
  int scans = 0;
  for (double t = 2; t < 6; t += 0.1, ++scans) {
    street.scan(t, cloud);
    const auto person = SimulatedStreet::pedestrian(t);
    for (const Obstacle& o : finder.find(cloud)) {
      const bool there = std::hypot((o.x0 + o.x1) / 2 - person.x, (o.y0 + o.y1) / 2 - person.y) < 0.5F;
      if (there && o.kind == Obstacle::Kind::Pedestrian) {
        ++found;
        break;
      }
    }
  }
  EXPECT_GE(found, scans * 9 / 10) << "of " << scans;
}

}  // namespace
}  // namespace cardan::street
