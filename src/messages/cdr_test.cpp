// SPDX-License-Identifier: Apache-2.0
#include "cardan/cdr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cardan/local_message.hpp"

namespace {

enum class Mode : std::uint16_t { Off, On };

struct Point3 {
  float x = 0, y = 0, z = 0;
};
CARDAN_MESSAGE(Point3, "t_msgs/msg/Point3", x, y, z);

// Every kind of field, and numbers of every size after odd ones, so that all gaps show.
struct Everything {
  std::uint8_t first = 0;
  double number = 0;
  bool flag = false;
  std::int16_t small = 0;
  Mode mode = Mode::Off;
  cardan::FixedString<8> name;
  std::int64_t matrix[2][2] = {};
  std::array<Point3, 2> corners{};
  std::array<bool, 3> bits{};
  cardan::FixedVector<Point3, 3> few;
  cardan::FixedVector<double, 2> numbers;
  cardan::shm::vector<std::uint16_t> ranges;
  std::uint8_t between = 0;
  cardan::shm::vector<double> weights;
  cardan::shm::vector<Point3> points;
  cardan::shm::vector<cardan::FixedString<8>> labels;
  cardan::shm::vector<bool> valid;
  cardan::shm::string remark;
  std::uint32_t last = 0;
};
CARDAN_MESSAGE(Everything, "t_msgs/msg/Everything", first, number, flag, small, mode, name, matrix, corners, bits, few,
               numbers, ranges, between, weights, points, labels, valid, remark, last);

struct Stereo {
  Point3 baseline;
  cardan::shm::vector<std::uint8_t> left;
  cardan::shm::vector<std::uint8_t> right;
  std::uint64_t after = 0;
};
CARDAN_MESSAGE(Stereo, "t_msgs/msg/Stereo", baseline, left, right, after);

using cardan::CdrError;
using cardan::CdrFrame;
using cardan::from_cdr;
using cardan::LocalMessage;
using cardan::to_cdr;

void fill(Everything& m) {
  m.first = 1;
  m.number = 2.5;
  m.flag = true;
  m.small = -3;
  m.mode = Mode::On;
  m.name = "name";
  m.matrix[0][0] = 10;
  m.matrix[0][1] = 11;
  m.matrix[1][0] = 12;
  m.matrix[1][1] = -13;
  m.corners = {Point3{1, 2, 3}, Point3{4, 5, 6}};
  m.bits = {true, false, true};
  ASSERT_TRUE(m.few.push_back({7, 8, 9}));
  ASSERT_TRUE(m.numbers.push_back(0.125));
  m.ranges = {100, 200, 300};
  m.between = 4;
  m.weights = {0.5, 0.25, 0.125, 1e300};
  m.points = {{1, 1, 1}, {2, 2, 2}};
  m.labels = {"a", "bcd"};
  m.valid = {true, false, true};
  m.remark = "a remark";
  m.last = 0xdeadbeef;
}

TEST(Cdr, AlignsEachNumberToItsSize) {
  LocalMessage<Stereo> m(128);
  m->baseline = {1, 2, 3};
  m->left = {9};
  m->right = {7, 8};
  m->after = 0x0102030405060708;
  const std::vector<std::byte> bytes = to_cdr(*m);
  const std::vector<unsigned> expected{0, 1, 0,    0,                                      // XCDR1 little-endian
                                       0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40,  // 1.0F 2.0F 3.0F
                                       1, 0, 0,    0,    9, 0, 0, 0,                       // one byte, three to align
                                       2, 0, 0,    0,    7, 8, 0, 0,                       // two bytes; 28 so far
                                       0, 0, 0,    0,                                      // to 32
                                       8, 7, 6,    5,    4, 3, 2, 1};
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), expected[i]) << i;
}

TEST(Cdr, EveryKindOfFieldComesBack) {
  LocalMessage<Everything> m(4096);
  fill(*m);
  const std::vector<std::byte> bytes = to_cdr(*m);
  LocalMessage<Everything> back(4096);
  const auto result = from_cdr(bytes, *back);
  ASSERT_TRUE(result) << result.text();
  EXPECT_EQ(back->name, "name");
  EXPECT_EQ(back->mode, Mode::On);
  EXPECT_EQ(back->small, -3);
  EXPECT_EQ(back->matrix[1][1], -13);
  EXPECT_EQ(back->corners[1].z, 6);
  EXPECT_EQ(back->bits, m->bits);
  ASSERT_EQ(back->few.size(), 1U);
  EXPECT_EQ(back->few[0].y, 8);
  EXPECT_EQ(back->numbers, m->numbers);
  EXPECT_EQ(back->ranges, m->ranges);
  EXPECT_EQ(back->weights, m->weights);
  EXPECT_EQ(back->points[1].x, 2);
  EXPECT_EQ(back->labels, m->labels);
  EXPECT_EQ(back->valid, m->valid);
  EXPECT_EQ(back->remark, m->remark);
  EXPECT_EQ(back->last, 0xdeadbeef);
  EXPECT_EQ(to_cdr(*back), bytes);
}

TEST(Cdr, BytesAreAViewAndNoLieLeadsOutOfTheMessage) {
  LocalMessage<Stereo> m(128);
  m->left = {9, 8, 7};
  const std::vector<std::byte> bytes = to_cdr(*m);
  cardan::CdrReader reader(bytes);
  std::array<float, 3> baseline{};
  std::span<const std::byte> left, right;
  ASSERT_TRUE(reader.numbers(baseline.data(), 3) && reader.bytes(left) && reader.bytes(right));
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(left.data(), bytes.data() + 4 + 12 + 4) << "nothing is copied";
  EXPECT_EQ(left[2], std::byte{7});
  EXPECT_TRUE(right.empty());

  const std::vector<unsigned char> lie{0, 1, 0, 0, 255, 255, 255, 255, 1, 2};
  cardan::CdrReader fooled(std::as_bytes(std::span(lie)));
  EXPECT_FALSE(fooled.bytes(left));
  EXPECT_EQ(fooled.finish().error, CdrError::Truncated);
}

TEST(Cdr, BytesInPiecesAreReadAsIfTheyWereInOne) {
  LocalMessage<Everything> m(4096);
  fill(*m);
  const std::vector<std::byte> bytes = to_cdr(*m);
  for (std::size_t first = 0; first <= bytes.size(); ++first)
    for (std::size_t second = first; second <= std::min(first + 9, bytes.size()); ++second) {
      const std::span all(bytes);
      const std::array pieces{all.first(first), std::span<const std::byte>(), all.subspan(first, second - first),
                              all.subspan(second)};
      cardan::CdrReader reader{cardan::CdrPieces(pieces)};
      LocalMessage<Everything> back(4096);
      ASSERT_TRUE(cardan::detail::read_value(reader, *back)) << first << " " << second;
      const auto result = reader.finish();
      ASSERT_TRUE(result) << result.text();
      ASSERT_EQ(to_cdr(*back), bytes) << first << " " << second;
    }
}

TEST(Cdr, ATextInTwoPiecesIsCopiedAndOneInAPieceIsNot) {
  const std::string text("\0\1\0\0\6\0\0\0first\0\0\0\7\0\0\0second\0", 27);
  const std::span all = std::as_bytes(std::span(text));
  const std::array pieces{all.first(11), all.subspan(11)};
  cardan::CdrReader reader{cardan::CdrPieces(pieces)};
  std::string_view first, second;
  ASSERT_TRUE(reader.string(first));
  EXPECT_EQ(first, "first");
  EXPECT_NE(static_cast<const void*>(first.data()), text.data() + 8);
  ASSERT_TRUE(reader.string(second));
  EXPECT_EQ(second, "second");
  EXPECT_EQ(static_cast<const void*>(second.data()), text.data() + 20);
  EXPECT_TRUE(reader.finish());
}

TEST(Cdr, ALieAboutALengthLeadsNowhereInPiecesEither) {
  const std::vector<unsigned char> lie{0, 1, 0, 0, 255, 255, 255, 255, 1, 2};
  const std::span all = std::as_bytes(std::span(lie));
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const std::array pieces{all.first(cut), all.subspan(cut)};
    std::span<const std::byte> bytes;
    std::string_view text;
    std::size_t count = 0;
    std::array<std::uint16_t, 4> numbers{};
    EXPECT_FALSE(cardan::CdrReader{cardan::CdrPieces(pieces)}.bytes(bytes));
    EXPECT_FALSE(cardan::CdrReader{cardan::CdrPieces(pieces)}.string(text));
    EXPECT_FALSE(cardan::CdrReader{cardan::CdrPieces(pieces)}.count(count, 1));
    EXPECT_FALSE(cardan::CdrReader{cardan::CdrPieces(pieces)}.numbers(numbers.data(), numbers.size()));
  }
  EXPECT_EQ(cardan::CdrReader{cardan::CdrPieces()}.finish().error, CdrError::Truncated);
}

TEST(Cdr, EmptyListsNeedNoAlignment) {
  LocalMessage<Everything> m;
  LocalMessage<Everything> back;
  const std::vector<std::byte> bytes = to_cdr(*m);
  const auto result = from_cdr(bytes, *back);
  ASSERT_TRUE(result) << result.text();
  EXPECT_EQ(to_cdr(*back), bytes);
}

TEST(Cdr, ThePayloadIsTheLargestVectorAndIsNotCopied) {
  LocalMessage<Stereo> m(4096);
  m->left.resize(100, 1);
  m->right.resize(1001, 2);
  m->after = 5;
  CdrFrame frame;
  cardan::frame_cdr(*m, frame);
  EXPECT_EQ(static_cast<const void*>(frame.payload.data()), m->right.data());
  EXPECT_EQ(frame.payload.size(), 1001U);
  EXPECT_LT(frame.prefix.size(), 160U);
  EXPECT_EQ(frame.suffix.size(), 8U + 7U) << "the gap to 8 and the number after it";
  LocalMessage<Stereo> back(4096);
  const auto result = from_cdr(to_cdr(*m), *back);
  ASSERT_TRUE(result) << result.text();
  EXPECT_EQ(back->right, m->right);
  EXPECT_EQ(back->after, 5U);
}

TEST(Cdr, AFrameIsReusedWithoutAllocation) {
  LocalMessage<Stereo> m(4096);
  m->left.resize(100, 1);
  CdrFrame frame;
  cardan::frame_cdr(*m, frame);
  const auto* prefix = frame.prefix.data();
  m->left.resize(50);
  cardan::frame_cdr(*m, frame);
  EXPECT_EQ(frame.prefix.data(), prefix);
  EXPECT_EQ(frame.payload.size(), 50U);
}

TEST(Cdr, ABoolThatIsNeither0Nor1IsWrittenAs1) {
  LocalMessage<Everything> m;
  const std::uint8_t wild = 0xfe;
  std::memcpy(static_cast<void*>(&m->flag), &wild, 1);
  EXPECT_EQ(to_cdr(*m)[4 + 16], std::byte{1});
}

class BadBytes : public ::testing::Test {
 protected:
  void SetUp() override {
    fill(*m_);
    bytes_ = to_cdr(*m_);
  }
  CdrError read(std::size_t room = 4096) {
    LocalMessage<Everything> back(room);
    const auto result = from_cdr(bytes_, *back);
    EXPECT_FALSE(result.text().empty());
    return result.error;
  }
  LocalMessage<Everything> m_{4096};
  std::vector<std::byte> bytes_;
};

TEST_F(BadBytes, AnotherEncodingIsReported) {
  for (const int other : {2, 3, 6, 7, 8, 11, 255}) {  // parameter lists, XCDR2, XML
    bytes_[1] = static_cast<std::byte>(other);
    EXPECT_EQ(read(), CdrError::Encoding) << other;
  }
}

TEST_F(BadBytes, EveryTruncationIsNoticed) {
  const std::vector<std::byte> whole = bytes_;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    bytes_.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(read(), CdrError::Truncated) << size;
  }
}

TEST_F(BadBytes, PaddingAtTheEndIsFineMoreIsNot) {
  bytes_.resize(bytes_.size() + 7);
  EXPECT_EQ(read(), CdrError::None);
  bytes_.resize(bytes_.size() + 1);
  EXPECT_EQ(read(), CdrError::Trailing);
}

TEST_F(BadBytes, TooSmallAStorageIsReportedWithItsField) {
  LocalMessage<Everything> back(4);
  const auto result = from_cdr(bytes_, *back);
  EXPECT_EQ(result.error, CdrError::NoRoom);
  EXPECT_EQ(result.field, "ranges");
  EXPECT_NE(result.text().find("max_bytes"), std::string::npos) << result.text();
}

TEST_F(BadBytes, TextAndListsThatDoNotFitAreNamed) {
  // The name's length: after 1 + 7 + 8 + 1 + 1 + 2 + 2, at 24 with the gap.
  const std::size_t name = 4 + 24;
  ASSERT_EQ(bytes_[name], std::byte{5});
  bytes_[name + 4 + 4] = std::byte{'x'};
  EXPECT_EQ(read(), CdrError::BadText);
  bytes_[name] = std::byte{0xff};
  bytes_[name + 3] = std::byte{0xff};
  EXPECT_EQ(read(), CdrError::Truncated);
}

}  // namespace
