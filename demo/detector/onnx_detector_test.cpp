// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/onnx_detector.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/imgproc.hpp>

#include "cardan/error.hpp"
#include "demo/detector/onnx_file_test.hpp"
#include "demo/sensors/camera_source.hpp"

namespace cardan::street {
namespace {

class Onnx : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-onnx-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& bytes) {
    const std::string file = (folder_ / "model.onnx").string();
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  static std::string refusal(const std::string& file) {
    try {
      OnnxDetector detector(file);
    } catch (const Error& error) {
      EXPECT_FALSE(error.remedy().empty());
      return error.cause();
    }
    return "it was taken";
  }
  std::filesystem::path folder_;
};

TEST_F(Onnx, AModelOfFastestDetsLayoutFindsWhereThePictureIsBright) {
  OnnxDetector detector(write(bright_cars().bytes()));
  EXPECT_EQ(detector.layout(), DetectorLayout::FastestDet);
  EXPECT_EQ(detector.input(), cv::Size(64, 64));
  EXPECT_EQ(detector.name(), "model.onnx");
  cv::Mat picture(240, 320, CV_8UC3, cv::Scalar::all(0));
  EXPECT_TRUE(detector.detect(picture).empty());
  cv::rectangle(picture, cv::Rect(160, 60, 80, 60), cv::Scalar::all(255), cv::FILLED);  // the square in row 1, column 2
  const auto seen = detector.detect(picture);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].label, "car");
  EXPECT_NEAR(seen[0].x, 160, 2);
  EXPECT_NEAR(seen[0].y, 60, 2);
  EXPECT_NEAR(seen[0].width, 80, 2);
  EXPECT_NEAR(seen[0].height, 60, 2);
  EXPECT_GT(seen[0].score, 0.9F);
  cv::Mat grey;
  cv::cvtColor(picture, grey, cv::COLOR_BGR2GRAY);
  EXPECT_EQ(detector.detect(grey).size(), 1U);
  EXPECT_TRUE(detector.detect(cv::Mat()).empty());
}

TEST_F(Onnx, AModelOfYolosLayoutKeepsThePicturesProportions) {
  PatchModel model;
  model.biases.assign(84, 0.0F);
  model.biases[0] = 32, model.biases[1] = 16, model.biases[2] = 32, model.biases[3] = 16;
  model.biases[4 + 7] = 0.8F;  // truck
  model.reshape = {1, 84, 16};
  OnnxDetector detector(write(model.bytes()));
  EXPECT_EQ(detector.layout(), DetectorLayout::Yolo8);
  const auto seen = detector.detect(cv::Mat(120, 240, CV_8UC3, cv::Scalar::all(9)));  // the upper half of the input
  ASSERT_EQ(seen.size(), 1U) << "the same box 16 times";
  EXPECT_EQ(seen[0].label, "truck");
  EXPECT_NEAR(seen[0].x, 60, 1);
  EXPECT_NEAR(seen[0].y, 30, 1);
  EXPECT_NEAR(seen[0].width, 120, 1);
  EXPECT_NEAR(seen[0].height, 60, 1);
}

TEST_F(Onnx, AModelThatIsNotADetectorIsRefusedWithItsShape) {
  PatchModel model;
  model.biases.assign(10, 0.5F);
  EXPECT_NE(refusal(write(model.bytes())).find("1 x 10 x 4 x 4"), std::string::npos) << refusal(write(model.bytes()));
  model.dynamic = true;
  EXPECT_NE(refusal(write(model.bytes())).find("model.onnx: it "), std::string::npos) << refusal(write(model.bytes()));
  const std::string whole = bright_cars().bytes();
  for (const std::string& bytes : {std::string("no model"), std::string(4096, '\xff'),
                                   whole.substr(0, whole.size() / 2), whole.substr(0, 40), std::string()}) {
    const std::string cause = refusal(write(bytes));
    EXPECT_NE(cause.find("model.onnx"), std::string::npos) << cause;
    EXPECT_EQ(cause.find('\n'), std::string::npos) << cause;
  }
  EXPECT_NE(refusal((folder_ / "missing.onnx").string()).find("no such file"), std::string::npos);
  EXPECT_NE(refusal(folder_.string()).find("not a file"), std::string::npos);
}

TEST(OnnxData, FastestDetSeesTheCarsOnTheHighway) {
  const char* data = std::getenv("CARDAN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "skipped: no sample data";
  const std::filesystem::path folder = data;
  OnnxDetector detector((folder / "FastestDet.onnx").string());
  const auto camera = open_camera((folder / "dashcam-highway-1280x720-25fps.mp4").string());
  cv::Mat picture(camera->height(), camera->width(), CV_8UC3);
  std::size_t cars = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(camera->wait([] { return false; }));
    camera->read({picture.data, picture.total() * picture.elemSize()});
    for (const Seen& s : detector.detect(picture))
      cars += s.label == "car" && s.x > 700 && s.y > 300 && s.y + s.height < 600 ? 1U : 0U;
  }
  EXPECT_GE(cars, 5U) << "two are on the right half of each picture";
}

}  // namespace
}  // namespace cardan::street
