// SPDX-License-Identifier: Apache-2.0
// Components of the street, one and the whole file, on samples that they are given: without any transport, and the same
// twice.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/simulation.hpp"
#include "demo/sensors/raycast.hpp"
#include "demo/topics.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::street {
namespace {

using namespace std::chrono_literals;
constexpr int kWidth = 320;
constexpr int kHeight = 240;

config::Configuration street(const std::vector<std::string>& set = {}) {
  config::Configuration configuration = plan::make_plan(std::getenv("CARDAN_TEST_STREET"), {.set = set}).configuration;
  for (config::Process& process : configuration.processes)
    for (config::Component& component : process.components) component.library = std::getenv("CARDAN_TEST_COMPONENTS");
  return configuration;
}

// As big as the drivers would make them.
constexpr Topic<Image> kBigImages{"/street/camera/image", {.max_bytes = std::size_t{kWidth} * kHeight * 3}};
constexpr Topic<PointCloud> kBigClouds{"/street/lidar/points", {.max_bytes = SimulatedStreet::kPoints * sizeof(Point)}};

std::string text_of(const Decision& d) { return (d.brake ? "brake: " : "go: ") + std::string(d.reason); }

void push_obstacle(Simulation& simulation, double ahead) {
  simulation.push(kObstacles, [&](Detections3D& all) {
    Detection3D box;
    box.label = "pedestrian";
    box.center.position = {ahead, 0, -1};
    box.size = {0.5, 0.5, 1.7};
    all.detections.push_back(box);
  });
}

TEST(Components, TheDecisionBrakesForWhatIsNearAndWhenASensorIsSilent) {
  Simulation simulation(street(), {"camera", "lidar", "detector", "obstacles"}, {.begin = 1'000'000'000});
  const auto& decisions = simulation.collect(kDecisions);
  simulation.start();
  simulation.push(kCameraInfo, {768, 576});
  simulation.push(kSeen, [](Detections2D&) {});
  simulation.run();
  push_obstacle(simulation, 40);
  simulation.run_for(100ms);
  push_obstacle(simulation, 6);
  simulation.run_for(2s);
  push_obstacle(simulation, 40);
  simulation.run();
  ASSERT_EQ(decisions.size(), 4U);
  EXPECT_EQ(text_of(*decisions[0]), "brake: no data from the LiDAR yet");
  EXPECT_EQ(text_of(*decisions[1]), "go: the path is free for 40 m");
  EXPECT_EQ(text_of(*decisions[2]), "brake: pedestrian 5.8 m ahead in the path (LiDAR)");
  EXPECT_EQ(text_of(*decisions[3]), "brake: no data from the camera for 2.1 s");
}

/// Everything that the file's components publish, as bytes.
std::string drive_the_file() {
  // OpenCV's own threads put what they find in any order.
  Simulation simulation(street({"detector/threads=1"}), {"camera", "lidar"}, {.begin = 1'000'000'000});
  const auto& seen = simulation.collect(kSeen);
  const auto& obstacles = simulation.collect(kObstacles);
  const auto& decisions = simulation.collect(kDecisions);
  simulation.start();
  simulation.push(kCameraInfo, {kWidth, kHeight});
  SimulatedStreet scene;
  for (std::uint64_t n = 1; n <= 6; ++n) {
    const int i = static_cast<int>(n) - 1;
    simulation.at(1'000'000'000 + i * 100'000'000, [&, i, n] {
      simulation.push(kBigImages, [&](Image& image) {
        cv::Mat picture = image.mat(kHeight, kWidth, CV_8UC3);
        picture.setTo(cv::Scalar(90, 90, 90));
        cv::ellipse(picture, {100 + 10 * i, 120}, {18, 50}, 0, 0, 360, cv::Scalar(20, 20, 30), cv::FILLED);
        image.header.sequence = n;
      });
    });
    simulation.at(1'000'000'000 + i * 100'000'000 + 50'000'000, [&, i, n] {
      simulation.push(kBigClouds, [&](PointCloud& cloud) {
        scene.scan(i * 0.1,
                   cloud.resize_points_for_overwrite<Point>(SimulatedStreet::kPoints, SimulatedStreet::kRings));
        cloud.header.sequence = n;
      });
    });
  }
  simulation.run_until(2'000'000'000);
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_EQ(obstacles.size(), 6U);
  EXPECT_EQ(decisions.size(), 12U);
  std::string bytes;
  const auto add = [&bytes](const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); };
  for (const auto& found : seen) add(found->detections.data(), found->detections.size() * sizeof(Detection2D));
  for (const auto& found : obstacles) add(found->detections.data(), found->detections.size() * sizeof(Detection3D));
  for (const auto& decision : decisions) bytes += text_of(*decision) + "\n";
  return bytes;
}

TEST(Components, TheWholeFileGivesTheSameTwiceBitForBit) {
  const int threads = cv::getNumThreads();
  const std::string once = drive_the_file();
  EXPECT_GT(once.size(), 1000U) << "obstacles are found";
  EXPECT_EQ(once, drive_the_file());
  cv::setNumThreads(threads);
}

TEST(Components, ComponentsToLeaveOutMustBeThere) { EXPECT_THROW(Simulation(street(), {"radar"}), Error); }

}  // namespace
}  // namespace cardan::street
