// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "demo/detector/people_detector.hpp"
#include "demo/sensors/video_camera.hpp"

namespace cardan::street {
namespace {

std::span<std::uint8_t> pixels_of(cv::Mat& picture) { return {picture.data, picture.total() * picture.elemSize()}; }

std::string camera_refusal(const std::string& argument) {
  try {
    VideoCamera camera(argument);
  } catch (const Error& error) {
    EXPECT_FALSE(error.remedy().empty());
    return error.cause();
  }
  return {};
}

TEST(Camera, ASourceThatCannotBeOpenedIsReported) {
  EXPECT_NE(camera_refusal("/nonexistent/drive.mp4").find("no such file"), std::string::npos);
  EXPECT_NE(camera_refusal("/proc").find("no .png"), std::string::npos);
  EXPECT_NE(camera_refusal("/proc/%d%d.png").find("not a pattern"), std::string::npos);
  EXPECT_NE(camera_refusal("/dev/stdin/%d.png").find("cannot read"), std::string::npos);
  EXPECT_NE(camera_refusal("999").find("there is no /dev/video999"), std::string::npos);
  EXPECT_NE(camera_refusal("/proc/self/exe").find("not a video"), std::string::npos);
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
  VideoCamera camera(path_);
  EXPECT_EQ(camera.width(), 160);
  EXPECT_EQ(camera.height(), 120);
  EXPECT_EQ(camera.describe(), "made.avi, 160 x 120 at 50 fps, looped");
  std::vector<unsigned char> memory(160 * 120 * 3);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(camera.wait([] { return false; }));
    camera.read(memory);
    EXPECT_NEAR(memory[1], 50 * ((i + 1) % 5), 6) << "picture " << i;
  }
  std::vector<unsigned char> wrong(10 * 10 * 3);
  ASSERT_TRUE(camera.wait([] { return false; }));
  EXPECT_THROW(camera.read(wrong), Error);
  EXPECT_FALSE(camera.wait([] { return true; }));
}

TEST_F(MadeVideo, AFolderIsPlayedByItsTimesAndKeepsStepWithTheScans) {
  for (const char* sub : {"image_02", "image_02/data", "velodyne_points", "velodyne_points/data"})
    std::filesystem::create_directory(folder_ / sub);
  std::ofstream pictures(folder_ / "image_02/timestamps.txt");
  std::ofstream scans(folder_ / "velodyne_points/timestamps.txt");
  for (int i = 0; i < 3; ++i) {
    const std::string number = "000000000" + std::to_string(i);
    cv::imwrite((folder_ / ("image_02/data/" + number + ".png")).string(),
                cv::Mat(12, 16, CV_8UC3, cv::Scalar(0, 50 * i, 0)));
    pictures << "2011-09-26 13:02:25." << i << "00000000\n";
    const std::vector<float> scan(4U * static_cast<unsigned>(i + 1), 1.0F);
    std::ofstream(folder_ / ("velodyne_points/data/" + number + ".bin"), std::ios::binary)
        .write(reinterpret_cast<const char*>(scan.data()), static_cast<std::streamsize>(scan.size() * sizeof(float)));
    scans << "2011-09-26 13:02:25." << i << "20000000\n";
  }
  pictures.close();
  scans.close();
  const std::string camera_folder = (folder_ / "image_02").string();
  const std::string lidar_folder = (folder_ / "velodyne_points/data").string();
  const std::int64_t origin = steady_now();
  VideoCamera camera(camera_folder, {.folder = lidar_folder, .origin = origin});
  const auto lidar = open_lidar(lidar_folder, {.folder = camera_folder, .origin = origin});
  EXPECT_NE(camera.describe().find("3 pictures, 16 x 12"), std::string::npos) << camera.describe();
  EXPECT_NE(camera.describe().find("in step with the scans"), std::string::npos) << camera.describe();
  EXPECT_NE(lidar->describe().find("in step with the pictures"), std::string::npos) << lidar->describe();
  cv::Mat picture(12, 16, CV_8UC3);
  std::vector<Point> points(lidar->max_points());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(camera.wait([] { return false; }));
    camera.read(pixels_of(picture));
    ASSERT_TRUE(lidar->wait([] { return false; }));
    const std::size_t scan = lidar->fill(points);
    // Whatever frames a slow computer skipped: stamps are as far apart as in the recording.
    const auto frame = static_cast<std::int64_t>(picture.at<cv::Vec3b>(0, 0)[1] / 50);
    const std::int64_t apart = (static_cast<std::int64_t>(scan) - 1 - frame) * 100'000'000 + 20'000'000;
    const std::int64_t off = (lidar->stamp() - camera.stamp() - apart) % 320'000'000;
    EXPECT_TRUE(std::abs(off) < 5'000'000 || std::abs(off) > 315'000'000) << off << " ns";
  }
  cv::imwrite((folder_ / "image_02/data/0000000000.png").string(), cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(0)));
  VideoCamera other(camera_folder);
  EXPECT_THROW(while (other.wait([] { return false; })){}, Error) << "another size";
  std::ofstream(folder_ / "image_02/data/0000000000.png") << "no picture";
  EXPECT_NE(camera_refusal(camera_folder).find("not a picture that OpenCV can decode"), std::string::npos);
}

TEST(PeopleDetector, AcceptsEmptyTinyAndGreyPictures) {
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
  EXPECT_EQ(first.first.size(), 2U) << "the single one is nobody";
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
  VideoCamera camera(video);
  PeopleDetector detector;
  cv::Mat picture(camera.height(), camera.width(), CV_8UC3);
  std::size_t found = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(camera.wait([] { return false; }));
    camera.read(pixels_of(picture));
    for (const Seen& p : detector.detect(picture)) {
      ++found;
      EXPECT_GE(p.x + p.width, 0);
      EXPECT_LE(p.x, static_cast<float>(picture.cols));
    }
  }
  EXPECT_GT(found, 0U);
}

}  // namespace
}  // namespace cardan::street
