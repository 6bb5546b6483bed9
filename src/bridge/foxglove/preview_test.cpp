// SPDX-License-Identifier: Apache-2.0
// Pictures and points of messages whose publisher may be hostile: data that does not fit is answered with a text.
#include "src/bridge/foxglove/preview.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>

#include "cardan/cdr_writer.hpp"
#include "src/bridge/foxglove/picture.hpp"

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

struct TestImage {
  std::uint32_t height = 4, width = 4;
  std::string encoding = "bgr8";
  std::uint8_t big_endian = 0;
  std::uint32_t step = 12;
  std::vector<std::uint8_t> data{};
};

/// `apart`: the bytes are the frame's payload, as of a large message.
OutgoingFrame frame_of(const TestImage& image, bool apart, std::vector<std::byte>& bytes) {
  OutgoingFrame frame;
  std::vector<std::byte> suffix;
  CdrWriter out(frame.cdr.prefix, suffix, nullptr);
  out.number(std::int32_t{7});
  out.number(std::uint32_t{8});
  out.string(std::string_view("<b>front</b>"));
  out.number(image.height);
  out.number(image.width);
  out.string(std::string_view(image.encoding));
  out.number(image.big_endian);
  out.number(image.step);
  out.count(image.data.size());
  const std::span<const std::byte> pixels = std::as_bytes(std::span(image.data));
  bytes.assign(pixels.begin(), pixels.end());
  if (apart && !bytes.empty())
    frame.cdr.payload = bytes;
  else
    frame.cdr.prefix.insert(frame.cdr.prefix.end(), bytes.begin(), bytes.end());
  return frame;
}

struct Answer {
  json head;
  std::vector<std::byte> bytes;
};

Answer read(const std::vector<std::byte>& all) {
  std::uint32_t length = 0;
  std::memcpy(&length, all.data(), sizeof(length));
  const auto* const text = reinterpret_cast<const char*>(all.data()) + sizeof(length);
  return {.head = json::parse(text, text + length),
          .bytes = {all.begin() + static_cast<std::ptrdiff_t>(sizeof(length) + length), all.end()}};
}

Answer preview_image(const TestImage& image, std::uint32_t most = 320, bool apart = true) {
  std::vector<std::byte> bytes;
  return read(preview_of(frame_of(image, apart, bytes), {Preview::Kind::Picture, most}));
}

TEST(FoxglovePreview, AWishBecomesOneOfFewSizes) {
  EXPECT_EQ(preview_named("picture", 0)->most, 320U);
  EXPECT_EQ(preview_named("picture", 961)->most, 1280U);
  EXPECT_EQ(preview_named("picture", UINT32_MAX)->most, 1920U);
  EXPECT_EQ(preview_named("points", UINT32_MAX)->most, 100'000U);
  EXPECT_FALSE(preview_named("movie", 1));
}

TEST(FoxglovePreview, AnImageBecomesAJpegWithItsFields) {
  if (!makes_pictures()) GTEST_SKIP() << "no libjpeg";
  TestImage image{.height = 480, .width = 640, .step = 1920, .data = std::vector<std::uint8_t>(480 * 1920, 90)};
  for (const bool apart : {true, false}) {
    const Answer answer = preview_image(image, 320, apart);
    EXPECT_EQ(answer.head["shown"], json({{"width", 320}, {"height", 240}}));
    EXPECT_EQ(answer.head["encoding"], "bgr8");
    EXPECT_EQ(answer.head["width"], 640);
    EXPECT_EQ(answer.head["header"]["stamp"]["nanosec"], 8);
    EXPECT_EQ(answer.head["header"]["frame_id"], "<b>front</b>") << "the page shows it as text";
    ASSERT_GT(answer.bytes.size(), 100U);
    EXPECT_EQ(answer.bytes[0], std::byte{0xFF});
    EXPECT_EQ(answer.bytes[1], std::byte{0xD8});
  }
}

TEST(FoxglovePreview, ColoursGoWhereTheyBelong) {
  std::string why;
  const auto pixel = [&](const char* encoding, std::uint32_t step, std::vector<std::uint8_t> row) {
    std::vector<std::uint8_t> data;
    for (int i = 0; i < 2; ++i) data.insert(data.end(), row.begin(), row.end());
    const ImageView image{
        .height = 2, .width = 2, .step = step, .encoding = encoding, .data = std::as_bytes(std::span(data))};
    const auto picture = picture_of(image, 320, why);
    EXPECT_TRUE(picture) << encoding << why;
    return picture ? std::vector<std::uint8_t>(picture->pixels.begin(), picture->pixels.begin() + picture->channels)
                   : std::vector<std::uint8_t>();
  };
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(pixel("bgr8", 6, {1, 2, 3, 1, 2, 3}), (Bytes{3, 2, 1}));
  EXPECT_EQ(pixel("rgba8", 8, {1, 2, 3, 4, 1, 2, 3, 4}), (Bytes{1, 2, 3}));
  EXPECT_EQ(pixel("mono8", 2, {9, 9}), (Bytes{9}));
  EXPECT_EQ(pixel("mono16", 4, {0, 9, 0, 9}), (Bytes{9}));
  EXPECT_EQ(pixel("16UC1", 4, {0, 2, 0, 1}), (Bytes{255}));
  EXPECT_EQ(pixel("yuv422", 4, {128, 77, 128, 77}), (Bytes{77, 77, 77}));
  EXPECT_EQ(pixel("yuv422_yuy2", 4, {77, 128, 77, 128}), (Bytes{77, 77, 77}));
  const std::vector<std::uint8_t> block{200, 100, 100, 50};
  const ImageView bayer{
      .height = 2, .width = 2, .step = 2, .encoding = "bayer_rggb8", .data = std::as_bytes(std::span(block))};
  const auto picture = picture_of(bayer, 320, why);
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->pixels, (Bytes{200, 100, 50}));
}

TEST(FoxglovePreview, AHostileImageCostsAWord) {
  const auto refused = [&](const TestImage& image) {
    const Answer answer = preview_image(image);
    EXPECT_TRUE(answer.head.contains("problem")) << answer.head;
    EXPECT_TRUE(answer.bytes.empty());
  };
  const std::vector<std::uint8_t> bytes(48, 1);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  refused({.width = kMost, .data = bytes});
  refused({.height = kMost, .data = bytes});
  refused({.height = kMost, .width = kMost, .step = kMost, .data = bytes});
  refused({.height = 0, .data = bytes});
  refused({.width = 0, .data = bytes});
  refused({.step = 0, .data = bytes});
  refused({.step = 11, .data = bytes});
  refused({.step = kMost, .data = bytes});
  refused({.height = 5, .data = bytes});
  refused({.data = {}});
  refused({.encoding = "h264", .data = bytes});
  refused({.encoding = std::string(300, '<'), .data = bytes});
  refused({.width = 1, .encoding = "bayer_rggb8", .data = bytes});
  refused({.height = 1, .encoding = "bayer_rggb8", .data = bytes});
  const OutgoingFrame nothing;
  EXPECT_TRUE(read(preview_of(nothing, {Preview::Kind::Picture, 320})).head.contains("problem"));
  EXPECT_TRUE(read(preview_of(nothing, {Preview::Kind::Points, 320})).head.contains("problem"));
}

TEST(FoxglovePreview, LongThinImagesStaySmall) {
  std::string why;
  const std::vector<std::uint8_t> line(1 << 20, 1);
  const ImageView tall{
      .height = 1 << 20, .width = 1, .step = 1, .encoding = "mono8", .data = std::as_bytes(std::span(line))};
  const auto picture = picture_of(tall, 320, why);
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->width, 1U);
  EXPECT_LE(picture->height, 320U);
}

TEST(FoxglovePreview, RandomHeadersReadNothingBeyondTheMessage) {
  std::mt19937 random(1);
  const char* const encodings[] = {"bgr8", "mono16", "32FC1", "bayer_grbg8", "yuv422", "rgba8", "x"};
  for (int i = 0; i < 3'000; ++i) {
    const auto size = [&] { return static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 40); };
    TestImage image{.height = size(), .width = size(), .encoding = encodings[random() % 7], .step = size()};
    image.data.resize(random() % 3'000);
    const Answer answer = preview_image(image, 320, random() % 2 == 0);
    EXPECT_TRUE(answer.head.is_object());
  }
}

// ---- clouds

struct TestCloud {
  std::uint32_t height = 1, width = 3, point_step = 16, row_step = 48;
  std::uint32_t z_offset = 8;
  std::uint8_t z_type = 7;
  std::vector<float> data{};
};

Answer preview_cloud(const TestCloud& cloud, std::uint32_t most = 5'000) {
  OutgoingFrame frame;
  std::vector<std::byte> suffix;
  CdrWriter out(frame.cdr.prefix, suffix, nullptr);
  out.number(std::int32_t{7});
  out.number(std::uint32_t{8});
  out.string(std::string_view("lidar"));
  out.number(cloud.height);
  out.number(cloud.width);
  out.count(4);
  const auto field = [&](const char* name, std::uint32_t offset, std::uint8_t type) {
    out.string(std::string_view(name));
    out.number(offset);
    out.number(type);
    out.number(std::uint32_t{1});
  };
  field("x", 0, 7);
  field("y", 4, 7);
  field("z", cloud.z_offset, cloud.z_type);
  field("intensity", 12, 7);
  out.boolean(false);
  out.number(cloud.point_step);
  out.number(cloud.row_step);
  out.count(cloud.data.size() * 4);
  frame.cdr.payload = std::as_bytes(std::span(cloud.data));
  return read(preview_of(frame, {Preview::Kind::Points, most}));
}

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> all(bytes.size() / sizeof(float));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(float));
  return all;
}

TEST(FoxglovePreview, ACloudBecomesPoints) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Answer answer = preview_cloud({.data = {1, 2, 3, 4, none, 0, 0, 0, 5, 6, 7, 8}});
  EXPECT_EQ(floats(answer.bytes), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(answer.head["shown"], json({{"points", 2}, {"colour", "intensity"}}));
  std::vector<float> many(std::size_t{4} * 50'001);
  for (std::size_t i = 0; i < many.size() / 4; ++i) many[4 * i] = static_cast<float>(i);
  const Answer fewer = preview_cloud({.width = 50'001, .row_step = 50'001 * 16, .data = many});
  EXPECT_LE(fewer.head["shown"]["points"], 5'000);
  EXPECT_GT(fewer.head["shown"]["points"], 4'000);
  EXPECT_EQ(floats(fewer.bytes)[4], 11.0F) << "every eleventh";
}

TEST(FoxglovePreview, AHostileCloudCostsAWord) {
  const std::vector<float> data(12, 1);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  for (const TestCloud& cloud :
       {TestCloud{.width = kMost, .data = data}, TestCloud{.height = kMost, .data = data},
        TestCloud{.height = kMost, .width = kMost, .point_step = kMost, .row_step = kMost, .data = data},
        TestCloud{.height = 2, .width = 1, .row_step = kMost, .data = data}, TestCloud{.point_step = 0, .data = data},
        TestCloud{.height = 2, .width = 1, .row_step = 0, .data = data}, TestCloud{.z_offset = 13, .data = data},
        TestCloud{.z_offset = kMost, .data = data}, TestCloud{.z_type = 9, .data = data},
        TestCloud{.z_type = 0, .data = data}, TestCloud{.width = 4, .row_step = 64, .data = data},
        TestCloud{.point_step = 8, .row_step = 24, .data = data}}) {
    const Answer answer = preview_cloud(cloud);
    EXPECT_TRUE(answer.head.contains("problem")) << answer.head;
    EXPECT_TRUE(answer.bytes.empty());
  }
  EXPECT_EQ(preview_cloud({.height = 0, .data = data}).head["shown"]["points"], 0);
}

}  // namespace
}  // namespace cardan::bridge::foxglove
