// SPDX-License-Identifier: Apache-2.0
// Pictures and videos of `cardan bag export`, read back with OpenCV.
#include <chrono>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <random>
#include <thread>

#include "tests/command/export_fixture.hpp"

namespace cardan::test {
namespace {

using ExportImages = ExportTest;

/// Rows of the same values, repeated over `width` pixels, with `gap` bytes after each row.
template <class Value>
Bytes pixels(std::uint32_t height, std::uint32_t width, std::initializer_list<Value> pixel, std::size_t gap = 0) {
  Bytes data;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x)
      for (const Value value : pixel) {
        const auto raw = std::as_bytes(std::span(&value, 1));
        data.insert(data.end(), raw.begin(), raw.end());
      }
    data.insert(data.end(), gap, std::byte{0x77});
  }
  return data;
}

using U8 = std::uint8_t;
using U16 = std::uint16_t;

struct Case {
  std::string encoding;
  Bytes data;
  std::uint32_t height, width, step;
  int type;                   ///< of the PNG
  std::vector<int> expected;  ///< channels of each of its pixels, in OpenCV's order
  int tolerance = 0;
};

/// A mosaic of red 200, green 100, blue 50; the letters are the first two rows' pixels.
template <class Value>
Bytes mosaic(const std::string& letters, int factor) {
  Bytes data;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      const char c = letters[static_cast<std::size_t>(y % 2 * 2 + x % 2)];
      const auto value = static_cast<Value>((c == 'r' ? 200 : c == 'g' ? 100 : 50) * factor);
      const auto raw = std::as_bytes(std::span(&value, 1));
      data.insert(data.end(), raw.begin(), raw.end());
    }
  return data;
}

std::vector<Case> cases() {
  std::vector<Case> all{
      {"bgr8", pixels<U8>(3, 4, {10, 20, 30}), 3, 4, 12, CV_8UC3, {10, 20, 30}},
      {"rgb8", pixels<U8>(3, 4, {10, 20, 30}, 5), 3, 4, 17, CV_8UC3, {30, 20, 10}},
      {"bgra8", pixels<U8>(3, 4, {10, 20, 30, 40}), 3, 4, 16, CV_8UC4, {10, 20, 30, 40}},
      {"rgba8", pixels<U8>(3, 4, {10, 20, 30, 40}), 3, 4, 16, CV_8UC4, {30, 20, 10, 40}},
      {"mono8", pixels<U8>(3, 4, {99}), 3, 4, 4, CV_8UC1, {99}},
      {"8UC1", pixels<U8>(3, 4, {98}, 3), 3, 4, 7, CV_8UC1, {98}},
      {"8UC3", pixels<U8>(3, 4, {1, 2, 3}), 3, 4, 12, CV_8UC3, {1, 2, 3}},
      {"mono16", pixels<U16>(3, 4, {0x1234}), 3, 4, 8, CV_16UC1, {0x1234}},
      {"16UC1", pixels<U16>(3, 4, {65535}, 2), 3, 4, 10, CV_16UC1, {65535}},
      {"bgr16", pixels<U16>(3, 4, {1000, 2000, 3000}), 3, 4, 24, CV_16UC3, {1000, 2000, 3000}},
      {"rgb16", pixels<U16>(3, 4, {1000, 2000, 3000}), 3, 4, 24, CV_16UC3, {3000, 2000, 1000}},
      {"rgba16", pixels<U16>(3, 4, {1000, 2000, 3000, 4000}), 3, 4, 32, CV_16UC4, {3000, 2000, 1000, 4000}},
      // Red in BT.601's narrow range: Y 81, U 90, V 240.
      {"yuv422", pixels<U8>(4, 2, {90, 81, 240, 81}), 4, 4, 8, CV_8UC3, {0, 0, 254}, 2},
      {"uyvy", pixels<U8>(4, 2, {90, 81, 240, 81}), 4, 4, 8, CV_8UC3, {0, 0, 254}, 2},
      {"yuv422_yuy2", pixels<U8>(4, 2, {81, 90, 81, 240}), 4, 4, 8, CV_8UC3, {0, 0, 254}, 2},
      {"yuyv", pixels<U8>(4, 2, {81, 90, 81, 240}), 4, 4, 8, CV_8UC3, {0, 0, 254}, 2},
  };
  Bytes nv21 = pixels<U8>(4, 4, {81});
  const Bytes color = pixels<U8>(2, 2, {240, 90});
  nv21.insert(nv21.end(), color.begin(), color.end());
  all.push_back({"nv21", nv21, 4, 4, 4, CV_8UC3, {0, 0, 254}, 2});
  for (const std::string letters : {"rggb", "bggr", "gbrg", "grbg"}) {
    all.push_back({"bayer_" + letters + "8", mosaic<U8>(letters, 1), 8, 8, 8, CV_8UC3, {50, 100, 200}});
    all.push_back({"bayer_" + letters + "16", mosaic<U16>(letters, 256), 8, 8, 16, CV_16UC3, {12800, 25600, 51200}});
  }
  return all;
}

void check(const std::string& what, const cv::Mat& picture, const Case& c) {
  SCOPED_TRACE(what);
  ASSERT_EQ(picture.type(), c.type);
  ASSERT_EQ(picture.rows, static_cast<int>(c.height));
  ASSERT_EQ(picture.cols, static_cast<int>(c.width));
  std::vector<cv::Mat> channels;
  cv::split(picture, channels);
  ASSERT_EQ(channels.size(), c.expected.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    double least = 0, most = 0;
    cv::minMaxLoc(channels[i], &least, &most);
    EXPECT_NEAR(least, c.expected[i], c.tolerance) << "channel " << i;
    EXPECT_NEAR(most, c.expected[i], c.tolerance) << "channel " << i;
  }
}

TEST_F(ExportImages, EveryEncodingBecomesAPngWithItsPixels) {
  const std::vector<Case> all = cases();
  {
    Recording recording(file());
    for (const Case& c : all)
      recording.add_image("/" + c.encoding, image(c.encoding, c.height, c.width, c.step, c.data));
    recording.add_image("/big", image("mono16", 2, 2, 4, pixels<U16>(2, 2, {0x1234}), true));
  }
  ASSERT_EQ(run(), 0) << complained_;
  for (const Case& c : all)
    check(c.encoding, cv::imread(folder_ / "to" / c.encoding / "1700000000000000000.png", cv::IMREAD_UNCHANGED), c);
  const cv::Mat big = cv::imread(folder_ / "to/big/1700000000000000000.png", cv::IMREAD_UNCHANGED);
  ASSERT_EQ(big.type(), CV_16UC1);
  EXPECT_EQ(big.at<U16>(1, 1), 0x3412) << "the other byte order";
  EXPECT_EQ(rows("bgr8.csv"), (Rows{{"log_time", "publish_time", "header.stamp.sec", "header.stamp.nanosec",
                                     "header.frame_id", "height", "width", "encoding", "file"},
                                    {"1700000000000000000", "1699999999999999999", "12", "34", "front, left", "3", "4",
                                     "bgr8", "bgr8/1700000000000000000.png"}}));
}

TEST_F(ExportImages, MessagesThatNoPictureHoldsAreLeftOutWithTheReason) {
  const std::map<std::string, std::string> reasons{
      {"32FC1", "32FC1 holds fractions"}, {"64FC3", "64FC3 holds fractions"}, {"16SC1", "16SC1 holds signed numbers"},
      {"8UC2", "8UC2 has two channels"},  {"nv24", "no conversion of nv24"},  {"", "no image encoding is called ''"}};
  {
    Recording recording(file());
    for (const auto& [encoding, reason] : reasons)
      recording.add_image("/" + encoding, image(encoding, 2, 2, 48, Bytes(1000)));
    recording.add_image("/short", image("mono8", 10, 10, 10, Bytes(99)));
    recording.add_image("/none", image("mono8", 0, 10, 10, {}));
    recording.add_image("/narrow", image("mono8", 10, 10, 9, Bytes(1000)));
    recording.add_image("/odd", image("uyvy", 3, 3, 6, Bytes(18)));
    recording.add_image("/whole", image("mono8", 1, 1, 1, Bytes(1)));
  }
  ASSERT_EQ(run(), 3);
  for (const auto& [encoding, reason] : reasons)
    EXPECT_NE(complained_.find("/" + encoding + ": 1 messages left out"), std::string::npos) << complained_;
  for (const auto& [encoding, reason] : reasons)
    EXPECT_NE(complained_.find(reason), std::string::npos) << reason << complained_;
  for (const char* topic : {"/short", "/none", "/narrow", "/odd"})
    EXPECT_NE(complained_.find(topic + std::string(": 1 messages left out")), std::string::npos) << complained_;
  EXPECT_EQ(names(), (Names{"whole", "whole.csv"}));
}

TEST_F(ExportImages, JpegTakesAQualityAndEightBits) {
  cv::Mat noise(120, 160, CV_8UC3);
  cv::randu(noise, 0, 256);
  const auto data = std::as_bytes(std::span(noise.data, noise.total() * noise.elemSize()));
  {
    Recording recording(file());
    recording.add_image("/noise", image("bgr8", 120, 160, 480, {data.begin(), data.end()}));
    recording.add_image("/gray", image("mono8", 8, 8, 8, pixels<U8>(8, 8, {77})));
    recording.add_image("/rgba", image("rgba8", 8, 8, 32, pixels<U8>(8, 8, {200, 200, 200, 0})));
    recording.add_image("/deep", image("mono16", 8, 8, 16, pixels<U16>(8, 8, {77})));
  }
  ASSERT_EQ(run({"--images", "jpeg"}), 3);
  EXPECT_NE(complained_.find("/deep: 1 messages left out"), std::string::npos) << complained_;
  EXPECT_NE(complained_.find("--images png keeps them"), std::string::npos) << complained_;
  const std::size_t usual = content("noise/1700000000000000000.jpg").size();
  check("gray", cv::imread(folder_ / "to/gray/1700000000000000000.jpg", cv::IMREAD_UNCHANGED),
        {"", {}, 8, 8, 8, CV_8UC1, {77}, 1});
  check("rgba", cv::imread(folder_ / "to/rgba/1700000000000000000.jpg", cv::IMREAD_UNCHANGED),
        {"", {}, 8, 8, 8, CV_8UC3, {200, 200, 200}, 1});
  ASSERT_EQ(run({"--images", "jpeg", "--quality", "20", "--force", "--exclude", "/deep"}), 0) << complained_;
  EXPECT_LT(content("noise/1700000000000000000.jpg").size(), usual / 2);
}

TEST_F(ExportImages, CompressedOnesThatAreNeitherBecomePng) {
  const cv::Mat picture(4, 6, CV_8UC3, cv::Scalar(1, 2, 3));
  std::vector<unsigned char> bmp;
  ASSERT_TRUE(cv::imencode(".bmp", picture, bmp));
  const auto data = std::as_bytes(std::span(bmp));
  {
    Recording recording(file());
    recording.add_compressed("/camera", compressed("bmp", {data.begin(), data.end()}));
  }
  ASSERT_EQ(run(), 0) << complained_;
  check("bmp", cv::imread(folder_ / "to/camera/1700000000000000000.png", cv::IMREAD_UNCHANGED),
        {"", {}, 4, 6, 0, CV_8UC3, {1, 2, 3}});
}

TEST_F(ExportImages, VideosHaveEveryFrameAndATableOfTheirTimes) {
  constexpr int kFrames = 25;
  {
    Recording recording(file());
    for (int i = 0; i < kFrames; ++i) {
      const auto gray = static_cast<U8>(20 + 8 * i);
      recording.add_image("/raw", image("rgb8", 48, 64, 192, pixels<U8>(48, 64, {gray, gray, gray})));
      std::vector<unsigned char> jpeg;
      ASSERT_TRUE(cv::imencode(".jpg", cv::Mat(48, 64, CV_8UC1, cv::Scalar(gray)), jpeg));
      const auto data = std::as_bytes(std::span(jpeg));
      recording.add_compressed("/compressed", compressed("jpeg", {data.begin(), data.end()}));
    }
    recording.add_image("/raw", image("rgb8", 24, 64, 192, Bytes(48 * 192)));
    recording.add_image("/raw", image("mono16", 48, 64, 128, Bytes(48 * 128)));
    recording.add_image("/nothing", image("32FC1", 48, 64, 256, Bytes(48 * 256)));
  }
  ASSERT_EQ(run({"--images", "video"}), 3);
  EXPECT_NE(complained_.find("/raw: 1 messages left out, the first of 2023-11-14 22:13:21.250000000: its size"),
            std::string::npos)
      << complained_;
  EXPECT_EQ(names(), (Names{"raw.mp4", "raw.csv", "compressed.mp4", "compressed.csv"}));
  for (const std::string name : {"raw", "compressed"}) {
    SCOPED_TRACE(name);
    cv::VideoCapture video(folder_ / "to" / (name + ".mp4"));
    ASSERT_TRUE(video.isOpened());
    EXPECT_NEAR(video.get(cv::CAP_PROP_FPS), 20, 0.01);
    int frames = 0;
    for (cv::Mat frame; video.read(frame); ++frames) {
      ASSERT_EQ(frame.size(), cv::Size(64, 48));
      EXPECT_NEAR(cv::mean(frame)[1], 20 + 8 * frames, 6) << frames;
    }
    EXPECT_EQ(frames, kFrames);
    const Rows table = rows(name + ".csv");
    ASSERT_EQ(table.size(), kFrames + 1U);
    EXPECT_EQ(table[0].back(), "frame");
    EXPECT_EQ(table[kFrames].back(), std::to_string(kFrames - 1));
    EXPECT_EQ(table[kFrames].front(), std::to_string(kBegin + (kFrames - 1) * kStep));
  }
  EXPECT_EQ(run({"--images", "video"}), 2) << "they are there already";
  EXPECT_EQ(run({"--images", "video", "--force", "--topic", "/compressed"}), 0) << complained_;
}

TEST_F(ExportImages, CtrlCLeavesWholeFilesAndSaysSo) {
  {
    Recording recording(file());
    std::mt19937 random(1);
    Bytes noise(320 * 240);
    for (std::byte& b : noise) b = static_cast<std::byte>(random());
    for (int i = 0; i < 600; ++i) recording.add_image("/camera", image("mono8", 240, 320, 320, noise));
  }
  start({});
  const fs::path camera = folder_ / "to/camera";
  for (int i = 0; i < 30'000 && (!fs::exists(camera) || fs::is_empty(camera)); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(running_, SIGINT);
  ASSERT_EQ(end(), 1) << complained_;
  EXPECT_NE(complained_.find("stopped"), std::string::npos) << complained_;
  const Names files = names("camera");
  EXPECT_LT(files.size(), 600U);
  const Rows table = rows("camera.csv");
  ASSERT_EQ(table.size(), files.size() + 1);
  for (std::size_t i = 1; i < table.size(); ++i) {
    const cv::Mat frame = cv::imread(folder_ / "to" / table[i].back(), cv::IMREAD_UNCHANGED);
    ASSERT_EQ(frame.size(), cv::Size(320, 240)) << table[i].back();
  }
}

TEST(ExportStart, TheCommandItselfDoesNotLinkWithOpenCv) {
  const std::string line = "ldd '" + std::string(std::getenv("CARDAN_TEST_COMMAND")) + "'";
  FILE* const ldd = ::popen(line.c_str(), "r");
  ASSERT_NE(ldd, nullptr);
  std::string all;
  char part[4096];
  while (std::fgets(part, sizeof part, ldd) != nullptr) all += part;
  ASSERT_EQ(::pclose(ldd), 0);
  EXPECT_NE(all.find("libcardan"), std::string::npos);
  EXPECT_EQ(all.find("opencv"), std::string::npos) << all;
}

}  // namespace
}  // namespace cardan::test
