// SPDX-License-Identifier: Apache-2.0
// Components of the street, one and the whole file, on samples that they are given: without any transport, and the same
// twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
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

/// The blue pixels that the detector drew, when a scan of `frame` had a pedestrian 8 m ahead.
struct Drawn {
  std::string log{};
  int blue = 0;       ///< pixels
  cv::Rect around{};  ///< of these
};
Drawn draw_lidar_of(const std::string& frame) {
  const std::string file = testing::TempDir() + "cardan-lidar-in-picture.png";
  Drawn drawn;
  set_log([&](LogLevel, const std::string& line) { drawn.log += line + "\n"; });
  {
    Simulation simulation(street({"detector/threads=1", "detector/picture=\"" + file + "\""}),
                          {"camera", "lidar", "obstacles"}, {.begin = 1'000'000'000});
    simulation.start();
    simulation.push(kCameraInfo, {kWidth, kHeight, pinhole(kWidth, kHeight, 1.2)});
    // Of these three, the second is nearest to the picture.
    for (const std::int64_t ms : {1940, 2010, 2030}) {
      simulation.at(ms * 1'000'000, [&, ms] {
        simulation.push(kObstacles, [&](Detections3D& all) {
          all.header.frame_id = FrameId(frame);
          all.header.stamp = ms * 1'000'000;
          Detection3D person;
          person.label = "pedestrian";
          person.center.position = {8, ms == 2010 ? 1.0 : -1.0, -0.9};
          person.size = {0.5, 0.5, 1.8};
          all.detections.push_back(person);
        });
      });
    }
    simulation.at(2'000'000'000, [&] {
      simulation.push(kBigImages, [](Image& image) {
        image.mat(kHeight, kWidth, CV_8UC3).setTo(cv::Scalar(90, 90, 90));
        image.header.frame_id = "camera";
        image.header.stamp = 2'000'000'000;
      });
    });
    simulation.run_until(3'000'000'000);
  }  // ends the detector, which draws
  set_log({});
  const cv::Mat picture = cv::imread(file);
  cv::Mat blue;
  cv::inRange(picture, cv::Scalar(180, 100, 0), cv::Scalar(255, 255, 100), blue);
  drawn.blue = cv::countNonZero(blue);
  drawn.around = cv::boundingRect(blue);
  std::filesystem::remove(file);
  return drawn;
}

TEST(Components, TheLidarsObstaclesAreDrawnIntoThePictureWhereTheyAre) {
  const int threads = cv::getNumThreads();
  const Drawn drawn = draw_lidar_of("lidar_simulated");  // whose place street.json gives
  cv::setNumThreads(threads);
  EXPECT_EQ(drawn.log, "");
  EXPECT_GT(drawn.blue, 100);
  // The nearest face is 7.75 m ahead, from 0.75 m to 1.25 m to the left and from 1.8 m below the camera to its height.
  const double focal = kWidth / 2.0 / std::tan(0.6), per_metre = focal / 7.75;
  EXPECT_NEAR(drawn.around.x, kWidth / 2.0 - 1.25 * per_metre, 2);
  EXPECT_NEAR(drawn.around.y, kHeight / 2.0, 2);
  EXPECT_GT(drawn.around.br().y, kHeight / 2.0 + 1.8 * per_metre);
}

TEST(Components, WithoutThePlaceOfTheLidarItsObstaclesAreNotDrawnAndThisIsReportedOnce) {
  const int threads = cv::getNumThreads();
  const Drawn drawn = draw_lidar_of("lidar_roof");
  cv::setNumThreads(threads);
  EXPECT_EQ(drawn.blue, 0);
  EXPECT_NE(drawn.log.find("the LiDAR's obstacles are not drawn into the picture"), std::string::npos) << drawn.log;
  EXPECT_NE(drawn.log.find("lidar_roof"), std::string::npos) << drawn.log;
  EXPECT_EQ(std::count(drawn.log.begin(), drawn.log.end(), '\n'), 1) << drawn.log;
}

TEST(Components, ComponentsToLeaveOutMustBeThere) { EXPECT_THROW(Simulation(street(), {"radar"}), Error); }

}  // namespace
}  // namespace cardan::street
