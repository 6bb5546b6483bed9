// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <random>
#include <utility>
#include <vector>

#include "cardan/memory/error.hpp"
#include "examples/street/camera_source.hpp"
#include "examples/street/people_detector.hpp"

namespace cardan::street {
namespace {

std::string refusal(const std::string& argument) {
  try {
    CameraSource camera(argument);
  } catch (const Error& error) {
    EXPECT_FALSE(error.remedy().empty());
    return error.cause();
  }
  return {};
}

TEST(Camera, WhatCannotBeOpenedIsNamed) {
  EXPECT_NE(refusal("/nonexistent/drive.mp4").find("no such file"), std::string::npos);
  EXPECT_NE(refusal("/proc").find("is a folder"), std::string::npos);
  EXPECT_NE(refusal("999").find("there is no /dev/video999"), std::string::npos);
  EXPECT_NE(refusal("/proc/self/exe").find("no video"), std::string::npos);
}

class MadeVideo : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-video-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "made.avi").string();
    cv::VideoWriter writer(path_, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 50, {160, 120});
    ASSERT_TRUE(writer.isOpened());
    for (int i = 0; i < 5; ++i) writer.write(cv::Mat(120, 160, CV_8UC3, cv::Scalar(0, 50 * i, 0)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(MadeVideo, LoopsIntoTheMemoryItIsGiven) {
  CameraSource camera(path_);
  EXPECT_EQ(camera.width(), 160);
  EXPECT_EQ(camera.height(), 120);
  EXPECT_EQ(camera.describe(), "made.avi, 160 x 120 at 50 fps, looped");
  std::vector<unsigned char> memory(160 * 120 * 3);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(camera.wait([] { return false; }));
    cv::Mat view(120, 160, CV_8UC3, memory.data());
    camera.read(view);
    EXPECT_EQ(view.data, memory.data());
    EXPECT_NEAR(memory[1], 50 * ((i + 1) % 5), 6) << "picture " << i;
  }
  cv::Mat wrong(10, 10, CV_8UC3);
  ASSERT_TRUE(camera.wait([] { return false; }));
  EXPECT_THROW(camera.read(wrong), Error);
  EXPECT_FALSE(camera.wait([] { return true; }));
}

TEST(PeopleDetector, EmptyTinyAndGreyPicturesAreNoProblem) {
  PeopleDetector detector;
  EXPECT_TRUE(detector.detect(cv::Mat()).empty());
  EXPECT_TRUE(detector.detect(cv::Mat(10, 10, CV_8UC3, cv::Scalar::all(0))).empty());
  EXPECT_TRUE(detector.detect(cv::Mat(480, 640, CV_8UC1, cv::Scalar::all(128))).empty());
}

TEST(PeopleDetector, GroupsTheSameInWhateverOrderTheyWereFound) {
  const PeopleDetector detector;
  const std::vector<cv::Rect> found{{10, 10, 64, 128},  {200, 20, 64, 128}, {14, 12, 64, 128},  {12, 9, 66, 130},
                                    {203, 24, 66, 130}, {11, 14, 60, 124},  {199, 18, 62, 124}, {400, 10, 64, 128}};
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  const auto grouped = [&] {
    std::vector<cv::Rect> boxes;
    std::vector<double> weights;
    for (const std::size_t i : order) boxes.push_back(found[i]), weights.push_back(0.1 * static_cast<double>(i));
    detector.group(boxes, weights);
    return std::pair(boxes, weights);
  };
  const auto first = grouped();
  EXPECT_EQ(first.first.size(), 2U) << "the one that stands alone is nobody";
  std::mt19937 random(3);
  for (int k = 0; k < 20; ++k) {
    std::shuffle(order.begin(), order.end(), random);
    EXPECT_EQ(grouped(), first);
  }
}

TEST(PeopleDetector, FindsPeopleInTheStreetVideo) {
  const char* video = std::getenv("CARDAN_TEST_VIDEO");
  if (video == nullptr || !std::filesystem::exists(video))
    GTEST_SKIP() << "skipped: no street video (scripts/setup.sh --for demo fetches it)";
  CameraSource camera(video);
  PeopleDetector detector;
  cv::Mat picture(camera.height(), camera.width(), CV_8UC3);
  std::size_t found = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(camera.wait([] { return false; }));
    camera.read(picture);
    for (const Person& p : detector.detect(picture)) {
      ++found;
      EXPECT_GE(p.x + p.width, 0);
      EXPECT_LE(p.x, static_cast<float>(picture.cols));
    }
  }
  EXPECT_GT(found, 0U);
}

}  // namespace
}  // namespace cardan::street
