// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/drawn_street.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cardan/error.hpp"
#include "demo/detector/motion_detector.hpp"

namespace cardan::street {
namespace {

Picture picture_of(const std::vector<std::uint8_t>& pixels) {
  return {.pixels = pixels.data(),
          .width = DrawnStreet::kWidth,
          .height = DrawnStreet::kHeight,
          .channels = 3,
          .step = std::size_t{DrawnStreet::kWidth} * 3};
}

TEST(DrawnStreet, SameTimeSamePictureAnotherTimeAnother) {
  const DrawnStreet street;
  std::vector<std::uint8_t> a(DrawnStreet::kBytes), b(DrawnStreet::kBytes, 7);
  street.draw(3.2, a);
  street.draw(3.2, b);
  EXPECT_EQ(a, b);
  street.draw(3.24, b);
  EXPECT_NE(a, b);
  std::vector<std::uint8_t> small(10);
  EXPECT_THROW(street.draw(0, small), Error);
}

TEST(DrawnStreet, EachWalkerIsDrawnWhereItIsAndStaysInThePictureOrNextToIt) {
  const DrawnStreet street;
  std::vector<std::uint8_t> now(DrawnStreet::kBytes), later(DrawnStreet::kBytes);
  for (const double time : {0.0, 11.0, 1000.5}) {
    street.draw(time, now);
    street.draw(time + 0.4, later);
    for (std::size_t w = 0; w < DrawnStreet::kWalkers; ++w) {
      const auto box = DrawnStreet::walker(w, time);
      EXPECT_GT(box.x + box.width, -300);
      EXPECT_LT(box.x, DrawnStreet::kWidth + 300);
      const int x = static_cast<int>(box.x + box.width / 2), y = static_cast<int>(box.y + box.height * 0.4F);
      if (x < 1 || x >= DrawnStreet::kWidth) continue;
      const std::size_t at = (static_cast<std::size_t>(y) * DrawnStreet::kWidth + static_cast<std::size_t>(x)) * 3;
      EXPECT_FALSE(std::equal(now.begin() + static_cast<std::ptrdiff_t>(at),
                              now.begin() + static_cast<std::ptrdiff_t>(at + 3),
                              later.begin() + static_cast<std::ptrdiff_t>(at)))
          << "walker " << w << " at " << time << " s has continued";
    }
  }
}

TEST(DrawnCamera, DeliversPicturesUntilToldToStop) {
  DrawnCamera camera;
  EXPECT_TRUE(camera.drawn());
  EXPECT_NE(camera.describe().find("drawn"), std::string::npos);
  std::vector<std::uint8_t> first(DrawnStreet::kBytes), second(DrawnStreet::kBytes);
  ASSERT_TRUE(camera.wait([] { return false; }));
  camera.read(first);
  ASSERT_TRUE(camera.wait([] { return false; }));
  camera.read(second);
  EXPECT_NE(first, second);
  EXPECT_FALSE(camera.wait([] { return true; }));
  EXPECT_EQ(open_camera(kDrawn)->width(), DrawnStreet::kWidth);
}

TEST(MotionDetector, FindsTheWalkersWhereTheyAre) {
  const DrawnStreet street;
  MotionDetector detector;
  std::vector<std::uint8_t> pixels(DrawnStreet::kBytes);
  int walkers = 0, found = 0, seen = 0, right = 0;
  for (int i = 0; i < 500; ++i) {
    const double time = static_cast<double>(i) / DrawnStreet::kRateHz;
    street.draw(time, pixels);
    const auto things = detector.detect(picture_of(pixels));
    EXPECT_TRUE(i > 0 || things.empty()) << "nothing has moved yet";
    if (i < 250) continue;  // walkers of the first picture are in the background for some seconds
    const auto meets = [](const Seen& s, const DrawnStreet::Box& b) {
      const float x = s.x + s.width / 2;
      return x > b.x && x < b.x + b.width && s.y < b.y + 0.5F * b.height && s.y + s.height > b.y + 0.6F * b.height;
    };
    for (std::size_t w = 0; w < DrawnStreet::kWalkers; ++w) {
      const auto box = DrawnStreet::walker(w, time);
      if (box.x < 0 || box.x + box.width > DrawnStreet::kWidth) continue;
      ++walkers;
      found += std::any_of(things.begin(), things.end(), [&](const Seen& s) { return meets(s, box); });
    }
    for (const Seen& s : things) {
      ++seen;
      EXPECT_EQ(s.label, "person");
      EXPECT_GT(s.score, 0.0F);
      EXPECT_LE(s.score, 1.0F);
      for (std::size_t w = 0; w < DrawnStreet::kWalkers; ++w)
        if (meets(s, DrawnStreet::walker(w, time))) {
          ++right;
          break;
        }
    }
  }
  ASSERT_GT(walkers, 500);
  EXPECT_GT(found, walkers * 7 / 10) << found << " of " << walkers << "; the others are behind a near walker";
  EXPECT_GT(right, seen * 9 / 10) << right << " of " << seen;
}

TEST(MotionDetector, AcceptsOtherSizesGreyAndNothing) {
  MotionDetector detector;
  EXPECT_TRUE(detector.detect({}).empty());
  std::vector<std::uint8_t> pixels(200 * 100 * 3, 90);
  const auto grey = [&](int width, int height) {
    return Picture{.pixels = pixels.data(),
                   .width = width,
                   .height = height,
                   .channels = 1,
                   .step = static_cast<std::size_t>(width)};
  };
  for (const auto& [width, height] : {std::pair{200, 100}, {3, 3}, {1, 100}, {200, 100}})
    EXPECT_TRUE(detector.detect(grey(width, height)).empty());
  for (std::size_t y = 20; y < 90; ++y)
    for (std::size_t x = 60; x < 80; ++x) pixels[y * 200 + x] = 200;
  const auto seen = detector.detect(grey(200, 100));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_NEAR(seen[0].x, 60, 5);
  EXPECT_NEAR(seen[0].height, 70, 9);
  for (int i = 0; i < 300; ++i) static_cast<void>(detector.detect(grey(200, 100)));
  EXPECT_TRUE(detector.detect(grey(200, 100)).empty()) << "what stays is background";
}

}  // namespace
}  // namespace cardan::street
