// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/algorithms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/pipeline/lidar/scans.hpp"
#include "demo/sensors/raycast.hpp"

namespace cardan::bench::perception::lidar {
namespace {

// Two walls, a road and posts: from a place `x`, `y` of the world and turned by `yaw`.
std::vector<CloudPoint> yard(double x, double y, double yaw) {
  std::vector<CloudPoint> out;
  const auto add = [&](double wx, double wy, double wz) {
    const double dx = wx - x;
    const double dy = wy - y;
    out.push_back({static_cast<float>(std::cos(yaw) * dx + std::sin(yaw) * dy),
                   static_cast<float>(-std::sin(yaw) * dx + std::cos(yaw) * dy), static_cast<float>(wz), 1});
  };
  for (double along = -30; along <= 30; along += 0.3) {
    for (double up = -1.8; up < 2.5; up += 0.3) {
      add(along, 9 + 0.1 * std::sin(along), up);
      add(28, along / 2, up);
    }
    for (double aside = -8; aside <= 8; aside += 0.4) add(along, aside, -1.8);
  }
  for (const double post : {-17.0, -4.0, 6.0, 15.0})
    for (double up = -1.8; up < 3; up += 0.1)
      for (double turn = 0; turn < 6; turn += 0.7) add(post + 0.3 * std::cos(turn), -6 + 0.3 * std::sin(turn), up);
  return out;
}

TEST(Ndt, FindsAKnownShiftOfAKnownCloud) {
  Localizer localizer;
  const Pose origin = localizer.locate(yard(0, 0, 0), 0);
  EXPECT_EQ(origin.x, 0);
  EXPECT_EQ(origin.yaw, 0);
  const Pose found = localizer.locate(yard(0.7, -0.3, 0.05), 0.1);
  EXPECT_EQ(found.converged, 1U);
  EXPECT_NEAR(found.x, 0.7, 0.05);
  EXPECT_NEAR(found.y, -0.3, 0.05);
  EXPECT_NEAR(found.z, 0, 0.05);
  EXPECT_NEAR(found.yaw, 0.05, 0.01);
  EXPECT_NEAR(found.speed, 7, 1) << "0.7 m in 0.1 s";
}

TEST(Ndt, FollowsTheSimulatedStreet) {
  const Scans scans({}, 30, 10);
  Preprocessor filter;
  Localizer localizer;
  Pose pose;
  for (std::uint64_t n = 1; n <= 30; ++n)
    pose = localizer.locate(filter.filter(scans.at(n), 32768), static_cast<double>(n) / 10);
  EXPECT_NEAR(pose.x, 2.9 * street::SimulatedStreet::kSpeed, 0.5) << "29 scans of 0.5 m";
  EXPECT_NEAR(pose.y, 0, 0.3);
  EXPECT_NEAR(pose.yaw, 0, 0.02);
  EXPECT_NEAR(pose.speed, street::SimulatedStreet::kSpeed, 1);
}

TEST(Ndt, ACloudOfNothingKeepsThePose) {
  Localizer localizer;
  static_cast<void>(localizer.locate(yard(0, 0, 0), 0));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<CloudPoint> nothing(1000, CloudPoint{nan, nan, nan, 1});
  const Pose pose = localizer.locate(nothing, 0.1);
  EXPECT_EQ(pose.converged, 0U);
  EXPECT_EQ(pose.x, 0);
}

TEST(Preprocessor, RemovesTheVehicleAndFarPointsAndNamesTheGround) {
  std::vector<CloudPoint> scan = yard(0, 0, 0);
  scan.push_back({1, 0, 0, 1});
  scan.push_back({500, 0, 0, 1});
  scan.push_back({std::numeric_limits<float>::infinity(), 0, 0, 1});
  Preprocessor filter;
  const auto points = filter.filter(scan, 32768);
  ASSERT_GT(points.size(), 1000U);
  ASSERT_GT(filter.ground(), 500U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float range = std::hypot(points[i].x, points[i].y);
    ASSERT_GT(range, Preprocessor::kNearest - 0.3F);
    ASSERT_LT(range, Preprocessor::kFarthest);
    if (i < filter.ground()) {
      ASSERT_NEAR(points[i].z, -1.8F, 0.2F) << i;
    }
  }
  EXPECT_LE(filter.filter(scan, 300).size(), 300U) << "larger voxels";
  EXPECT_TRUE(filter.filter({}, 300).empty());
}

TEST(Clusters, BecomeBoxesTheNearestFirst) {
  std::vector<CloudPoint> points;
  for (const float x : {20.0F, 10.0F})
    for (float y = 0; y < 2; y += 0.2F)
      for (float z = -1.5F; z < 0; z += 0.2F) points.push_back({x, y, z, 1});
  points.push_back({std::numeric_limits<float>::quiet_NaN(), 0, 0, 1});
  points.push_back({5, -5, 0, 1});  // a single point does not make a box
  Clusters clusters;
  const auto boxes = clusters.find(points);
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_FLOAT_EQ(boxes[0].x0, 10);
  EXPECT_FLOAT_EQ(boxes[1].x0, 20);
  EXPECT_NEAR(boxes[0].y1, 1.8F, 0.01F);
  EXPECT_TRUE(clusters.find({}).empty());
}

TEST(Scans, GoForwardsAndBack) {
  const Scans scans({}, 3, 10);
  ASSERT_EQ(scans.count(), 3U);
  EXPECT_EQ(scans.at(1).data(), scans.at(5).data());
  EXPECT_EQ(scans.at(2).data(), scans.at(4).data());
  EXPECT_NE(scans.at(2).data(), scans.at(3).data());
  EXPECT_EQ(scans.most_points(), street::SimulatedStreet::kPoints);
}

}  // namespace
}  // namespace cardan::bench::perception::lidar
