// SPDX-License-Identifier: Apache-2.0
#include "cardan/image.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/local_message.hpp"

namespace cardan {
namespace {

constexpr int k8UC1 = 0, k8UC3 = 16, k16UC1 = 2, k32FC1 = 5, k16F = 7, k8UC5 = 32;

// The parts of a cv::Mat, so that this test needs no OpenCV.
struct FakeMat {
  FakeMat() = default;
  FakeMat(int with_rows, int with_cols, int with_type, void* with_data, std::size_t with_step)
      : rows(with_rows), cols(with_cols), type(with_type), data(with_data), step(with_step) {}
  int rows = 0, cols = 0, type = -1;
  void* data = nullptr;
  std::size_t step = 0;
};

TEST(ImageFormat, KnowsTheEncodingsOfRos) {
  EXPECT_EQ(image_format("bgr8").cv_type(), k8UC3);
  EXPECT_EQ(image_format("mono16").cv_type(), k16UC1);
  EXPECT_EQ(image_format("32FC1").cv_type(), k32FC1);
  EXPECT_EQ(image_format("64FC4").pixel_bytes(), 32U);
  EXPECT_EQ(image_format("yuv422_yuy2").pixel_bytes(), 2U);
  EXPECT_EQ(image_format("nv21").rows(480), 720U);
  for (const char* unknown : {"", "bgr", "8UC0", "8UC5", "9UC1", "16UC", "8UC11", "BGR8"}) {
    EXPECT_FALSE(image_format(unknown).known()) << unknown;
  }
}

TEST(ImageFormat, NamesOpenCvTypesAsOpenCvMeansThem) {
  EXPECT_EQ(encoding_of_cv_type(k8UC1), "mono8");
  EXPECT_EQ(encoding_of_cv_type(k8UC3), "bgr8");
  EXPECT_EQ(encoding_of_cv_type(k16UC1), "16UC1");
  EXPECT_EQ(encoding_of_cv_type(k32FC1), "32FC1");
  EXPECT_THROW(static_cast<void>(encoding_of_cv_type(k16F)), Error);
  EXPECT_THROW(static_cast<void>(encoding_of_cv_type(k8UC5)), Error);
  EXPECT_THROW(static_cast<void>(encoding_of_cv_type(-1)), Error);
}

TEST(Image, MatShapesTheLoanAndPointsIntoIt) {
  LocalMessage<Image> image(1920 * 1200 * 3);
  const auto mat = image->mat<FakeMat>(1200, 1920, k8UC3);
  EXPECT_EQ(mat.rows, 1200);
  EXPECT_EQ(mat.cols, 1920);
  EXPECT_EQ(mat.type, k8UC3);
  EXPECT_EQ(mat.step, 1920U * 3U);
  EXPECT_EQ(mat.data, image->data.data());
  EXPECT_EQ(image->height, 1200U);
  EXPECT_EQ(image->encoding, "bgr8");
  EXPECT_EQ(image->data.size(), 1920U * 1200U * 3U);

  const auto seen = std::as_const(*image).mat<FakeMat>();
  EXPECT_EQ(seen.rows, 1200);
  EXPECT_EQ(seen.type, k8UC3);
  EXPECT_EQ(seen.data, image->data.data());
}

TEST(Image, TakesAnotherEncodingOfTheSameType) {
  LocalMessage<Image> image(64 * 96);
  EXPECT_EQ(image->mat<FakeMat>(8, 8, k8UC3, "rgb8").type, k8UC3);
  EXPECT_EQ(image->encoding, "rgb8");
  EXPECT_THROW(static_cast<void>(image->mat<FakeMat>(8, 8, k8UC3, "mono8")), Error);
  EXPECT_THROW(static_cast<void>(image->mat<FakeMat>(8, 8, k8UC3, "no such encoding, and a name longer than any")),
               Error);
  const auto planar = image->mat<FakeMat>(72, 64, k8UC1, "nv21");
  EXPECT_EQ(planar.rows, 72);
  EXPECT_EQ(image->height, 48U);
  EXPECT_EQ(std::as_const(*image).mat<FakeMat>().rows, 72);
}

TEST(Image, ResizeWorksWithoutOpenCv) {
  LocalMessage<Image> image(64 * 64 * 2);
  EXPECT_EQ(image->resize(64, 64, "mono16").size(), 8192U);
  EXPECT_EQ(image->step, 128U);
  EXPECT_TRUE(image->valid());
  try {
    static_cast<void>(image->resize(64, 64, "purple9"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(error.remedy().find("bayer_rggb8"), std::string::npos);
  }
}

TEST(Image, SaysWhenTheTopicIsTooSmall) {
  LocalMessage<Image> image(1000);
  EXPECT_THROW(static_cast<void>(image->mat<FakeMat>(100, 100, k8UC3)), std::length_error);
  EXPECT_THROW(static_cast<void>(image->mat<FakeMat>(-1, 100, k8UC3)), Error);
  EXPECT_THROW(
      static_cast<void>(image->mat<FakeMat>(std::numeric_limits<int>::max(), std::numeric_limits<int>::max(), k8UC3)),
      Error);
}

TEST(Image, AReceivedImageThatDoesNotFitTogetherHasNoMat) {
  LocalMessage<Image> image(8 * 8 * 3);
  const auto is_empty = [&] { return std::as_const(*image).mat<FakeMat>().data == nullptr && !image->valid(); };
  const auto reset = [&] { static_cast<void>(image->mat<FakeMat>(8, 8, k8UC3)); };
  reset();
  image->height = 9;
  EXPECT_TRUE(is_empty());
  reset();
  image->height = std::numeric_limits<std::uint32_t>::max();
  image->step = std::numeric_limits<std::uint32_t>::max();
  EXPECT_TRUE(is_empty());
  reset();
  image->width = 9;
  EXPECT_TRUE(is_empty());
  reset();
  image->width = std::numeric_limits<std::uint32_t>::max();
  EXPECT_TRUE(is_empty());
  reset();
  image->encoding = "64FC4";
  EXPECT_TRUE(is_empty());
  reset();
  image->encoding = "lies";
  EXPECT_TRUE(is_empty());
  reset();
  image->step = 0;
  image->width = 0;
  image->height = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(std::as_const(*image).mat<FakeMat>().data, nullptr) << "more rows than a cv::Mat can count";
}

}  // namespace
}  // namespace cardan
