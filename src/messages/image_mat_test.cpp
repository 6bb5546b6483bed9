// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <type_traits>
#include <utility>

#include "cardan/image.hpp"
#include "cardan/local_message.hpp"

namespace cardan {
namespace {

static_assert(std::is_same_v<decltype(std::declval<const Image&>().mat()), const cv::Mat>);

// As cv::VideoCapture::read takes it.
void read(cv::OutputArray out) {
  out.create(12, 16, CV_8UC3);
  out.setTo(cv::Scalar(1, 2, 3));
}
double detect(const cv::Mat& image) { return cv::sum(image)[2]; }

TEST(ImageMat, IsFilledInPlaceAndSeenWithoutACopy) {
  LocalMessage<Image> frame(12 * 16 * 3);
  read(frame->mat(12, 16, CV_8UC3));
  EXPECT_EQ(frame->data[0], 1);
  EXPECT_EQ(frame->data[2], 3);
  const Image& seen = *frame;
  EXPECT_EQ(detect(seen.mat()), 3.0 * 12 * 16);
  EXPECT_EQ(seen.mat().data, seen.data.data());
}

TEST(ImageMat, FormatsAgreeWithOpenCv) {
  for (const int type :
       {CV_8UC1, CV_8UC2, CV_8UC3, CV_8UC4, CV_8SC1, CV_16UC1, CV_16SC3, CV_32SC2, CV_32FC1, CV_32FC3, CV_64FC4}) {
    const ImageFormat format = image_format_of_cv_type(type);
    EXPECT_EQ(format.cv_type(), type);
    EXPECT_EQ(format.pixel_bytes(), static_cast<std::size_t>(CV_ELEM_SIZE(type)));
    EXPECT_EQ(image_format(encoding_of_cv_type(type)).cv_type(), type);
  }
}

TEST(ImageMat, IsEmptyForAnImageThatDoesNotFitTogether) {
  LocalMessage<Image> frame(12 * 16 * 3);
  static_cast<void>(frame->mat(12, 16, CV_8UC3));
  frame->height = 13;
  EXPECT_TRUE(std::as_const(*frame).mat().empty());
}

}  // namespace
}  // namespace cardan
