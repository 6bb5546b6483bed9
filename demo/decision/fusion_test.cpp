// SPDX-License-Identifier: Apache-2.0
#include "demo/decision/fusion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace cardan::street {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Obstacle thing(float ahead, float left, Obstacle::Kind kind = Obstacle::Kind::Pedestrian) {
  return {ahead, ahead + 0.5F, left - 0.25F, left + 0.25F, -1.5F, 0, 50, kind};
}

// A person in a picture 800 wide, at a bearing (rad, to the left), with a box of that height.
Seen person(float bearing, float height, std::string_view label = kPedestrian) {
  const float focal = 400 / std::tan(0.6F);
  return {400 - focal * std::tan(bearing) - 20, 100, 40, height, 1, label};
}

std::string decide(std::vector<Obstacle> obstacles, std::vector<Seen> seen) {
  Fusion fusion;
  fusion.see_obstacles(obstacles, kSecond);
  fusion.see_picture(seen, 800, kSecond);
  const Verdict v = fusion.decide(kSecond + 1);
  return (v.brake ? "brake: " : "go: ") + std::string(v.text());
}

TEST(Fusion, FreePath) {
  EXPECT_EQ(decide({}, {}), "go: the path is free");
  EXPECT_EQ(decide({thing(5, 4)}, {}), "go: the path is free") << "next to the path";
  EXPECT_EQ(decide({thing(25, 0)}, {}), "go: the path is free for 25 m");
  EXPECT_EQ(decide({thing(-5, 0)}, {}), "go: the path is free") << "behind";
}

TEST(Fusion, AnObstacleWithinTheStoppingDistanceBrakes) {
  EXPECT_EQ(decide({thing(8, 0.5F, Obstacle::Kind::Vehicle), thing(30, 0)}, {}),
            "brake: vehicle 8.0 m ahead in the path (LiDAR)");
}

TEST(Fusion, APersonThatBothSensorsSeeIsGivenMoreRoom) {
  EXPECT_EQ(decide({thing(15, 0)}, {}), "go: the path is free for 15 m");
  EXPECT_EQ(decide({thing(15, 0)}, {person(0, 60)}), "brake: pedestrian 15.0 m ahead, seen by camera and LiDAR");
  EXPECT_EQ(decide({thing(15, 1.8F)}, {person(0.12F, 60)}), "brake: pedestrian 15.0 m ahead, seen by camera and LiDAR");
  EXPECT_EQ(decide({thing(15, 0)}, {person(0.4F, 60)}), "go: the path is free for 15 m") << "elsewhere in the picture";
}

TEST(Fusion, TheCameraAloneCountsWhenTheBoxIsTall) {
  EXPECT_EQ(decide({}, {person(0, 200)}), "brake: pedestrian about 7 m ahead (camera alone)");
  EXPECT_EQ(decide({}, {person(0, 100)}), "go: the path is free");
  EXPECT_EQ(decide({}, {person(0.4F, 200)}), "go: the path is free") << "next to the path";
}

TEST(Fusion, ABoxOfAModelHasNoMargin) {
  EXPECT_EQ(decide({}, {person(0, 150, "person")}), "brake: pedestrian about 7 m ahead (camera alone)");
  EXPECT_EQ(decide({}, {person(0, 200, "dog")}), "go: the path is free") << "of unknown height";
}

TEST(Fusion, AVehicleThatTheCameraSeesGivesTheObstacleItsName) {
  const Obstacle ahead = thing(8, 0, Obstacle::Kind::Object);
  EXPECT_EQ(decide({ahead}, {}), "brake: object 8.0 m ahead in the path (LiDAR)");
  EXPECT_EQ(decide({ahead}, {person(0, 60, "truck")}),
            "brake: truck 8.0 m ahead in the path, seen by camera and LiDAR");
  EXPECT_EQ(decide({ahead}, {person(0.4F, 60, "truck")}), "brake: object 8.0 m ahead in the path (LiDAR)")
      << "elsewhere";
  EXPECT_EQ(decide({thing(15, 0)}, {person(0, 200, "car")}), "go: the path is free for 15 m") << "no pedestrian's room";
}

TEST(Fusion, WithoutFreshDataItBrakes) {
  Fusion fusion;
  EXPECT_TRUE(fusion.decide(kSecond).brake);
  fusion.see_obstacles({}, kSecond);
  EXPECT_EQ(fusion.decide(kSecond).text(), "no data from the camera yet");
  fusion.see_picture({}, 800, kSecond);
  EXPECT_FALSE(fusion.decide(2 * kSecond).brake);
  fusion.see_picture({}, 800, 3 * kSecond);
  const Verdict stale = fusion.decide(3 * kSecond);
  EXPECT_TRUE(stale.brake);
  EXPECT_EQ(stale.text(), "no data from the LiDAR for 2.0 s");
}

TEST(Fusion, NonsenseInTheDataDoesNotCrash) {
  EXPECT_EQ(decide({}, {Seen{0, 0, 0, 0, 0, kPedestrian}, Seen{0, 0, -5, -5, 0, kPedestrian}}), "go: the path is free");
}

}  // namespace
}  // namespace cardan::street
