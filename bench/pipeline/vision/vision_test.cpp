// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <opencv2/imgproc.hpp>

#include "bench/pipeline/vision/lane.hpp"
#include "bench/pipeline/vision/pictures.hpp"
#include "bench/pipeline/vision/tracks.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::perception {
namespace {

// Two white lines on a grey road, from (280, 240) to (100, 479) and from (360, 240) to (540, 479).
cv::Mat road(bool left, bool right) {
  cv::Mat picture(480, 640, CV_8UC3, cv::Scalar(80, 80, 80));
  if (left) cv::line(picture, {280, 240}, {100, 479}, cv::Scalar(255, 255, 255), 8, cv::LINE_AA);
  if (right) cv::line(picture, {360, 240}, {540, 479}, cv::Scalar(255, 255, 255), 8, cv::LINE_AA);
  return picture;
}

void expect_line(const LaneLine& line, float top_x, float bottom_x) {
  ASSERT_TRUE(line.found());
  EXPECT_NEAR(line.x0, top_x, 12);
  EXPECT_FLOAT_EQ(line.y0, 240);
  EXPECT_NEAR(line.x1, bottom_x, 12);
  EXPECT_FLOAT_EQ(line.y1, 479);
}

TEST(Lane, FindsTwoDrawnLines) {
  LaneFinder finder;
  const auto lines = finder.find(road(true, true));
  expect_line(lines[0], 280, 100);
  expect_line(lines[1], 360, 540);
}

TEST(Lane, FindsNoLineWhereThereIsNone) {
  LaneFinder finder;
  for (const auto& line : finder.find(road(false, false))) EXPECT_FALSE(line.found());
  const auto left = finder.find(road(true, false));
  expect_line(left[0], 280, 100);
  EXPECT_FALSE(left[1].found());
  const auto right = finder.find(road(false, true));
  EXPECT_FALSE(right[0].found());
  expect_line(right[1], 360, 540);
}

TEST(Lane, OnlyLongAndSteepEdgesAreLines) {
  LaneFinder finder;
  cv::Mat picture = road(false, false);
  cv::rectangle(picture, {100, 300}, {200, 400}, cv::Scalar(255, 255, 255), cv::FILLED);  // a box
  cv::line(picture, {400, 400}, {620, 410}, cv::Scalar(255, 255, 255), 8);                // a line across
  for (const auto& line : finder.find(picture)) EXPECT_FALSE(line.found());
}

TEST(Lane, FindsTheLinesOfTheDrawnStreet) {
  LaneFinder finder;
  for (const std::uint64_t number : {1U, 20U, 60U})
    for (const auto& line : finder.find(draw_street(number))) EXPECT_TRUE(line.found()) << number;
}

// A patch with its own pattern on a noisy ground.
cv::Mat with_patch_at(cv::Point corner, bool patch = true) {
  cv::Mat picture(240, 320, CV_8U);
  cv::RNG random(7);
  random.fill(picture, cv::RNG::UNIFORM, 90, 130);
  if (patch) {
    cv::Mat pattern(40, 40, CV_8U);
    cv::RNG of_pattern(3);
    of_pattern.fill(pattern, cv::RNG::UNIFORM, 0, 256);
    cv::GaussianBlur(pattern, pattern, {5, 5}, 0);
    pattern.copyTo(picture(cv::Rect(corner, pattern.size())));
  }
  cv::cvtColor(picture, picture, cv::COLOR_GRAY2BGR);
  return picture;
}
Result detection(const Box& box) {
  Result detected;
  detected.add(box);
  return detected;
}

TEST(TheTracker, FollowsAPatchThatMoves) {
  Tracks tracks;
  const Result detected = detection({.x = 100, .y = 80, .width = 40, .height = 40, .score = 1});
  Result first;
  tracks.update(with_patch_at({100, 80}), &detected, first);
  EXPECT_EQ(first.count, 0U);
  for (int step = 1; step <= 20; ++step) {
    const cv::Point corner(100 + 4 * step, 80 + 3 * step);
    Result result;
    tracks.update(with_patch_at(corner), nullptr, result);
    ASSERT_EQ(result.count, 1U) << step;
    EXPECT_EQ(result.boxes[0].id, 1U);
    EXPECT_NEAR(result.boxes[0].x, corner.x, 2) << step;
    EXPECT_NEAR(result.boxes[0].y, corner.y, 2) << step;
  }
}

TEST(TheTracker, LosesATargetThatIsGone) {
  Tracks tracks;
  const Result detected = detection({.x = 100, .y = 80, .width = 40, .height = 40, .score = 1});
  Result result;
  tracks.update(with_patch_at({100, 80}), &detected, result);
  tracks.update(with_patch_at({102, 81}), nullptr, result);
  EXPECT_EQ(result.count, 1U);
  result = {};
  tracks.update(with_patch_at({}, false), nullptr, result);
  EXPECT_EQ(result.count, 0U);
}

TEST(TheTracker, ABoxBeyondThePictureDoesNoHarm) {
  Tracks tracks;
  for (const Box& box :
       {Box{.x = -30, .y = -30, .width = 2000, .height = 35}, Box{.x = 500, .y = 0, .width = 9, .height = 9}}) {
    const Result detected = detection(box);
    for (int i = 0; i < 3; ++i) {
      Result result;
      tracks.update(with_patch_at({0, 0}), &detected, result);
    }
  }
}

TEST(TheTracker, FollowsTheMiddleUntilSomethingIsDetected) {
  Tracks tracks;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Result result;
    tracks.update(draw_street(number), nullptr, result);
    EXPECT_EQ(result.count, number == 1 ? 0U : 1U);
  }
}

TEST(TheTracker, ADetectionOfAnOlderPictureBeginsNoSecondTrack) {
  Tracks tracks;
  const Result detected = detection({.x = 30, .y = 60, .width = 40, .height = 40, .score = 1});
  Result result;
  tracks.update(with_patch_at({30, 60}), &detected, result);
  result = {};
  tracks.update(with_patch_at({36, 64}), &detected, result);
  ASSERT_EQ(result.count, 1U);
  EXPECT_NEAR(result.boxes[0].x, 36, 2);
  EXPECT_NEAR(result.boxes[0].y, 64, 2);
}

TEST(ThePictures, AreTheSameEachTimeAndRepeat) {
  const Pictures pictures("drawn", 5);
  EXPECT_EQ(cv::norm(pictures.at(2), draw_street(2), cv::NORM_INF), 0);
  EXPECT_EQ(cv::norm(pictures.at(1), pictures.at(6), cv::NORM_INF), 0);
  EXPECT_GT(cv::norm(pictures.at(1), pictures.at(3), cv::NORM_INF), 0);
}

TEST(ThePictures, OfNoVideoAreRefused) {
  EXPECT_THROW(Pictures("/nonexistent/drive.mp4", 5), Error);
  EXPECT_THROW(Pictures("/proc/self/exe", 5), Error);
}

}  // namespace
}  // namespace cardan::bench::perception
