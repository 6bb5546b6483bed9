// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/pcd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace {

using namespace cardan::apps;
using Bytes = std::vector<std::byte>;

enum : std::uint8_t { Int8 = 1, UInt8, Int16, UInt16, Int32, UInt32, Float32, Float64 };

/// 2 rows of 3 points of 24 bytes, with 8 bytes after each row: x, (gap), time, ring, (gap).
struct Ordered {
  Bytes data = Bytes(2 * (3 * 24 + 8), std::byte{0xee});
  CloudView cloud{.height = 2,
                  .width = 3,
                  .fields = {{"x", 0, Float32, 1}, {"time", 8, Float64, 0}, {"ring", 16, UInt16, 2}},
                  .point_step = 24,
                  .row_step = 80};
  Ordered() {
    for (std::uint32_t i = 0; i < 6; ++i) {
      std::byte* const point = data.data() + i / 3 * 80 + i % 3 * 24;
      const float x = 0.5F * static_cast<float>(i);
      const double time = 1e9 + i;
      const std::uint16_t ring[] = {static_cast<std::uint16_t>(i), 0x1234};
      std::memcpy(point, &x, 4);
      std::memcpy(point + 8, &time, 8);
      std::memcpy(point + 16, ring, 4);
    }
    cloud.data = data;
  }
};

constexpr const char* kHeader =
    "# .PCD v0.7 - Point Cloud Data file format\n"
    "VERSION 0.7\n"
    "FIELDS x time ring\n"
    "SIZE 4 8 2\n"
    "TYPE F F U\n"
    "COUNT 1 1 2\n"
    "WIDTH 3\n"
    "HEIGHT 2\n"
    "VIEWPOINT 0 0 0 1 0 0 0\n"
    "POINTS 6\n"
    "DATA binary\n";

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void check_points(const std::string& file) {
  const std::string header = kHeader;
  ASSERT_EQ(file.substr(0, header.size()), header);
  ASSERT_EQ(file.size(), header.size() + std::size_t{6} * 16);
  for (std::uint32_t i = 0; i < 6; ++i) {
    const char* const point = file.data() + header.size() + std::size_t{16} * i;
    float x = 0;
    double time = 0;
    std::uint16_t ring[2] = {};
    std::memcpy(&x, point, 4);
    std::memcpy(&time, point + 4, 8);
    std::memcpy(ring, point + 12, 4);
    EXPECT_EQ(x, 0.5F * static_cast<float>(i));
    EXPECT_EQ(time, 1e9 + i);
    EXPECT_EQ(ring[0], i);
    EXPECT_EQ(ring[1], 0x1234);
  }
}

TEST(Pcd, HoldsEveryFieldWithoutTheGaps) {
  const Ordered ordered;
  Bytes out;
  ASSERT_EQ(pcd_of(ordered.cloud, out), "");
  check_points(text_of(out));
}

TEST(Pcd, TurnsBigEndianNumbersRound) {
  Ordered ordered;
  for (int i = 0; i < 6; ++i) {
    std::byte* const point = ordered.data.data() + i / 3 * 80 + i % 3 * 24;
    std::reverse(point, point + 4);
    std::reverse(point + 8, point + 16);
    std::reverse(point + 16, point + 18);
    std::reverse(point + 18, point + 20);
  }
  ordered.cloud.is_bigendian = true;
  Bytes out;
  ASSERT_EQ(pcd_of(ordered.cloud, out), "");
  check_points(text_of(out));
}

TEST(Pcd, KeepsTheOrderOfTheFieldsAndKnowsEveryType) {
  Bytes data;
  for (int i = 0; i < 26; ++i) data.push_back(static_cast<std::byte>(i));
  CloudView cloud{.height = 1, .width = 1, .point_step = 26, .data = data};
  cloud.fields = {{"d", 18, Float64, 1}, {"a", 0, Int8, 1},  {"b", 1, UInt8, 1},   {"c", 2, Int16, 1},
                  {"e", 4, UInt16, 1},   {"f", 6, Int32, 1}, {"g", 10, UInt32, 1}, {"h", 14, Float32, 1}};
  Bytes out;
  ASSERT_EQ(pcd_of(cloud, out), "") << "a single row needs no row_step";
  const std::string text = text_of(out);
  EXPECT_NE(text.find("FIELDS d a b c e f g h\nSIZE 8 1 1 2 2 4 4 4\nTYPE F I U I U I U F\n"), std::string::npos);
  const std::string points = text.substr(text.find("binary\n") + 7);
  ASSERT_EQ(points.size(), 26U);
  for (int i = 0; i < 26; ++i) EXPECT_EQ(points[static_cast<std::size_t>(i)], (i < 8 ? 18 + i : i - 8)) << i;
}

TEST(Pcd, AnEmptyCloudIsAFileWithoutPoints) {
  for (const std::uint32_t height : {0U, 1U, 4'000'000'000U}) {
    CloudView cloud{.height = height, .width = 0, .fields = {{"x", 0, Float32, 1}}, .point_step = 16};
    Bytes out;
    ASSERT_EQ(pcd_of(cloud, out), "");
    EXPECT_NE(text_of(out).find("POINTS 0\nDATA binary\n"), std::string::npos);
  }
}

TEST(Pcd, NamesCannotChangeTheHeader) {
  Ordered ordered;
  ordered.cloud.fields[0].name = "x\nPOINTS 9";
  ordered.cloud.fields[1].name = "";
  Bytes out;
  ASSERT_EQ(pcd_of(ordered.cloud, out), "");
  EXPECT_NE(text_of(out).find("FIELDS x_POINTS_9 _ ring\nSIZE"), std::string::npos);
}

TEST(Pcd, FieldsThatDoNotFitTogetherAreRefused) {
  const auto refuses = [](auto change) {
    Ordered ordered;
    change(ordered.cloud);
    Bytes out;
    return !pcd_of(ordered.cloud, out).empty();
  };
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields.clear(); }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields[0].datatype = 0; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields[0].datatype = 9; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields[0].offset = 21; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields[0].offset = 0xffffffff; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields[0].count = 0xffffffff; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.fields.assign(100, {"x", 0, Float32, 1}); }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.point_step = 0; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.width = 4; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.width = 0xffffffff; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.height = 3; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.height = 0xffffffff; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.row_step = 71; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.row_step = 0xffffffff; }));
  EXPECT_TRUE(refuses([](CloudView& c) { c.height = 1, c.width = 7; }));
  EXPECT_FALSE(refuses([](CloudView&) {}));
}

}  // namespace
