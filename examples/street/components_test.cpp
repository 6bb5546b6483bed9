// SPDX-License-Identifier: Apache-2.0
// A component of the street on samples that it is given, without any transport; and the same twice.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cardan/runtime/simulation.hpp"
#include "examples/street/topics.hpp"

namespace cardan::street {
namespace {

void push_obstacle(Simulation& simulation, double ahead, std::uint64_t sequence) {
  simulation.push(kObstacles, [&](Detections3D& all) {
    all.header.sequence = sequence;
    Detection3D box;
    box.label = "pedestrian";
    box.center.position = {ahead, 0, -1};
    box.size = {0.5, 0.5, 1.7};
    all.detections.push_back(box);
  });
}

std::vector<std::string> drive() {
  Simulation simulation({.begin = 1'000'000'000});
  simulation.add({.name = "decision", .class_name = "Decide"});
  const auto& decisions = simulation.collect(kDecisions);
  simulation.start();
  simulation.push(kCameraInfo, {768, 576});
  simulation.push(kPeople, [](Detections2D& people) { people.header.sequence = 1; });
  simulation.run();
  push_obstacle(simulation, 40, 1);
  simulation.run_for(std::chrono::milliseconds{100});
  push_obstacle(simulation, 6, 2);
  simulation.run_for(std::chrono::seconds{2});
  push_obstacle(simulation, 40, 3);
  simulation.run();
  std::vector<std::string> said;
  for (const auto& decision : decisions)
    said.push_back((decision->brake ? "brake: " : "go: ") + std::string(decision->reason));
  return said;
}

TEST(Components, TheDecisionBrakesForWhatIsNearAndWhenASensorIsSilent) {
  const std::vector<std::string> said = drive();
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0], "brake: no data from the LiDAR yet");
  EXPECT_EQ(said[1], "go: the path is free for 40 m");
  EXPECT_EQ(said[2], "brake: pedestrian 5.8 m ahead in the path (LiDAR)");
  EXPECT_EQ(said[3], "brake: no data from the camera for 2.1 s");
  EXPECT_EQ(drive(), said) << "the same samples, the same decisions";
}

}  // namespace
}  // namespace cardan::street
