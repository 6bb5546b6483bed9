// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/detector_layouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "demo/detector/coco.hpp"

namespace cardan::street {
namespace {

constexpr std::uint8_t kCar = 2;
constexpr std::uint8_t kDog = 16;
const cv::Size kInput{64, 64};

cv::Mat zeros(const std::vector<int>& shape) {
  return {static_cast<int>(shape.size()), shape.data(), CV_32F, cv::Scalar(0)};
}

void expect_box(const Candidate& c, float x, float y, float width, float height) {
  EXPECT_NEAR(c.x, x, 1e-4F);
  EXPECT_NEAR(c.y, y, 1e-4F);
  EXPECT_NEAR(c.width, width, 1e-4F);
  EXPECT_NEAR(c.height, height, 1e-4F);
}

TEST(DetectorLayouts, AreToldApartByTheirShape) {
  EXPECT_EQ(layout_of({1, 85, 22, 22}, {352, 352}), DetectorLayout::FastestDet);
  EXPECT_EQ(layout_of({1, 25200, 85}, {640, 640}), DetectorLayout::Yolo5);
  EXPECT_EQ(layout_of({1, 15120, 85}, {640, 384}), DetectorLayout::Yolo5);
  EXPECT_EQ(layout_of({1, 84, 8400}, {640, 640}), DetectorLayout::Yolo8);
  EXPECT_EQ(layout_of({1, 8400, 85}, {640, 640}), std::nullopt) << "YOLOX: one box a cell";
  for (const std::vector<int>& other : std::vector<std::vector<int>>{
           {}, {1}, {1, 1000}, {1, 300, 6}, {2, 84, 8400}, {1, 84, 0}, {1, 85, 22, -1}, {1, 80, 22, 22}, {1, 5, 8400}})
    EXPECT_EQ(layout_of(other, {640, 640}), std::nullopt) << shape_text(other);
  EXPECT_EQ(shape_text({1, 300, 6}), "1 x 300 x 6");
}

TEST(DetectorLayouts, FastestDetCountsFromItsCell) {
  cv::Mat output = zeros({1, 85, 4, 4});
  const auto set = [&](int channel, int row, int column, float value) {
    output.at<float>(std::array{0, channel, row, column}.data()) = value;
  };
  set(0, 2, 1, 0.9F);
  set(1, 2, 1, std::atanh(0.5F));
  set(2, 2, 1, std::atanh(-0.25F));
  set(3, 2, 1, -std::log(3.0F));  // a quarter
  set(4, 2, 1, 0);                // half
  set(5 + kCar, 2, 1, 0.8F);
  set(5 + kDog, 2, 1, 0.3F);
  set(0, 0, 0, 0.9F);  // certain, and of no class
  std::vector<Candidate> found;
  decode(DetectorLayout::FastestDet, output, kInput, 0.5F, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(kCocoClasses[found[0].category], "car");
  EXPECT_NEAR(found[0].score, std::pow(0.9F, 0.6F) * std::pow(0.8F, 0.4F), 1e-4F);
  expect_box(found[0], 1.5F / 4 - 0.125F, 1.75F / 4 - 0.25F, 0.25F, 0.5F);
}

TEST(DetectorLayouts, Yolo5HasABoxARowAndItsCertainty) {
  cv::Mat output = zeros({1, 252, 85});
  float* const box = output.ptr<float>() + std::ptrdiff_t{100} * 85;
  box[0] = 32, box[1] = 16, box[2] = 16, box[3] = 8;
  box[4] = 0.8F;
  box[5 + kDog] = 0.5F;
  std::vector<Candidate> found;
  decode(DetectorLayout::Yolo5, output, kInput, 0.35F, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(kCocoClasses[found[0].category], "dog");
  EXPECT_NEAR(found[0].score, 0.4F, 1e-4F);
  expect_box(found[0], 0.375F, 0.1875F, 0.25F, 0.125F);
}

TEST(DetectorLayouts, Yolo8HasABoxAColumn) {
  cv::Mat output = zeros({1, 84, 84});
  const auto set = [&](int row, float value) { output.at<float>(0, row, 83) = value; };
  set(0, 32), set(1, 16), set(2, 16), set(3, 8);
  set(4 + kCar, 0.6F);
  std::vector<Candidate> found;
  decode(DetectorLayout::Yolo8, output, kInput, 0.35F, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].category, kCar);
  EXPECT_NEAR(found[0].score, 0.6F, 1e-4F);
  expect_box(found[0], 0.375F, 0.1875F, 0.25F, 0.125F);
}

TEST(DetectorLayouts, NonsenseIsLeftOut) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {kNan, kInfinity, -kInfinity, -1.0F, 1e30F}) {
    cv::Mat all = zeros({1, 84, 84});
    all.setTo(value);
    std::vector<Candidate> found;
    decode(DetectorLayout::Yolo8, all, kInput, 0.35F, found);
    EXPECT_TRUE(found.empty()) << value;
    cv::Mat rows = zeros({1, 252, 85});
    rows.setTo(value);
    decode(DetectorLayout::Yolo5, rows, kInput, 0.35F, found);
    EXPECT_TRUE(found.empty()) << value;
    cv::Mat cells = zeros({1, 85, 4, 4});
    cells.setTo(value);
    decode(DetectorLayout::FastestDet, cells, kInput, 0.35F, found);
    for (const Candidate& c : found) EXPECT_TRUE(std::isfinite(c.x) && std::isfinite(c.score)) << value;
  }
}

TEST(DetectorLayouts, OfOverlappingBoxesTheBestStaysInEachClass) {
  std::vector<Candidate> found = {{0.1F, 0.1F, 0.2F, 0.2F, 0.6F, kCar},
                                  {0.11F, 0.1F, 0.2F, 0.2F, 0.9F, kCar},
                                  {0.1F, 0.11F, 0.2F, 0.2F, 0.7F, kDog},
                                  {0.6F, 0.6F, 0.2F, 0.2F, 0.8F, kCar}};
  auto two = found;
  keep_best(found, 0.45F, 10);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_FLOAT_EQ(found[0].score, 0.9F);
  EXPECT_FLOAT_EQ(found[1].score, 0.8F);
  EXPECT_EQ(found[2].category, kDog);
  keep_best(two, 0.45F, 2);
  EXPECT_EQ(two.size(), 2U);
  std::vector<Candidate> none;
  keep_best(none, 0.45F, 2);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace cardan::street
