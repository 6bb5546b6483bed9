// SPDX-License-Identifier: Apache-2.0
// Every record there and back, cut short, extended, and with lengths that lie.
#include "cardan/mcap/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cardan/mcap/compression.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap {
namespace {

using test::bytes_of;

template <class Record>
Bytes encoded(const Record& record, View extra = {}) {
  Bytes out;
  append(out, record, extra);
  return out;
}

/// Its fields, one by one, as bytes: also for the records that hold views and compare themselves only by them.
template <class Record>
Bytes fields_of(const Record& record) {
  return encoded(record);
}

template <class Record>
class Codec : public testing::Test {};

template <class Record>
Record example();
template <>
Header example() {
  return {.profile = "ros2", .library = "cardan"};
}
template <>
Footer example() {
  return {.summary_start = 1, .summary_offset_start = 2, .summary_crc = 3};
}
template <>
Schema example() {
  return {.id = 9, .name = "n", .encoding = "ros2msg", .data = bytes_of("int8 a")};
}
template <>
Channel example() {
  return {.id = 3, .schema_id = 9, .topic = "/t", .message_encoding = "cdr", .metadata = {{"k", "v"}, {"l", ""}}};
}
template <>
MessageIndex example() {
  return {.channel_id = 3, .records = {{5, 6}, {7, 8}}};
}
template <>
ChunkIndex example() {
  return {.message_start_time = 1,
          .message_end_time = 2,
          .chunk_start_offset = 3,
          .chunk_length = 4,
          .message_index_offsets = {{1, 2}, {3, 4}},
          .message_index_length = 5,
          .compression = "zstd",
          .compressed_size = 6,
          .uncompressed_size = 7};
}
template <>
AttachmentIndex example() {
  return {1, 2, 3, 4, 5, "n", "m"};
}
template <>
Statistics example() {
  return {1, 2, 3, 4, 5, 6, 7, 8, {{9, 10}}};
}
template <>
Metadata example() {
  return {.name = "n", .metadata = {{"k", "v"}}};
}
template <>
MetadataIndex example() {
  return {1, 2, "n"};
}
template <>
SummaryOffset example() {
  return {3, 4, 5};
}
template <>
DataEnd example() {
  return {77};
}
const Bytes kData = bytes_of("data of a record");
template <>
Message example() {
  return {.channel_id = 1, .sequence = 2, .log_time = 3, .publish_time = 4, .data = View(kData)};
}
template <>
Chunk example() {
  return {.uncompressed_size = kData.size(), .compression = "lz4", .records = kData};
}
template <>
Attachment example() {
  return {.log_time = 1, .create_time = 2, .name = "a", .media_type = "b", .data = kData};
}

using All = testing::Types<Header, Footer, Schema, Channel, Message, Chunk, MessageIndex, ChunkIndex, Attachment,
                           AttachmentIndex, Statistics, Metadata, MetadataIndex, SummaryOffset, DataEnd>;
TYPED_TEST_SUITE(Codec, All);

TYPED_TEST(Codec, GivesBackWhatItWasGiven) {
  const Bytes bytes = encoded(example<TypeParam>());
  ASSERT_EQ(bytes[0], static_cast<std::byte>(TypeParam::kOpcode));
  const auto back = decode<TypeParam>(View(bytes).subspan(kPrefixBytes));
  ASSERT_TRUE(back);
  EXPECT_EQ(fields_of(*back), bytes);
}

TYPED_TEST(Codec, RefusesARecordThatIsCutShort) {
  const Bytes bytes = encoded(example<TypeParam>());
  const std::size_t content = bytes.size() - kPrefixBytes;
  // A message has no length of its own: any data is data.
  const std::size_t first_whole = std::is_same_v<TypeParam, Message> ? kMessageHeaderBytes : content;
  for (std::size_t length = 0; length < first_whole; ++length)
    EXPECT_FALSE(decode<TypeParam>(View(bytes).subspan(kPrefixBytes, length))) << length;
}

TYPED_TEST(Codec, IgnoresWhatANewerWriterAppendedToTheFields) {
  if (std::is_same_v<TypeParam, Message>) return;  // never extended
  const Bytes plain = encoded(example<TypeParam>());
  const Bytes extended = encoded(example<TypeParam>(), bytes_of("more"));
  ASSERT_EQ(extended.size(), plain.size() + 4);
  const auto back = decode<TypeParam>(View(extended).subspan(kPrefixBytes));
  ASSERT_TRUE(back);
  EXPECT_EQ(fields_of(*back), plain);
}

TYPED_TEST(Codec, NeverReadsBeyondWhateverALengthSays) {
  const Bytes good = encoded(example<TypeParam>());
  for (std::size_t at = kPrefixBytes; at < good.size(); ++at)
    for (const unsigned value : {0U, 1U, 0x7fU, 0xffU}) {
      Bytes bad = good;
      bad[at] = static_cast<std::byte>(value);
      static_cast<void>(decode<TypeParam>(View(bad).subspan(kPrefixBytes)));  // the sanitizers look on
    }
}

TEST(Codec, AnAttachmentsChecksumIsChecked) {
  Bytes bytes = encoded(example<Attachment>());
  bytes[bytes.size() - 8] ^= std::byte{1};  // in its data
  EXPECT_FALSE(decode<Attachment>(View(bytes).subspan(kPrefixBytes)));
  std::fill(bytes.end() - 4, bytes.end(), std::byte{0});  // none: nothing to check
  EXPECT_TRUE(decode<Attachment>(View(bytes).subspan(kPrefixBytes)));
}

TEST(Codec, TheChecksumIsThatOfZlib) {
  EXPECT_EQ(crc32(bytes_of("123456789")), 0xCBF43926U);  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(crc32(bytes_of("6789"), crc32(bytes_of("12345"))), 0xCBF43926U);
  EXPECT_EQ(crc32({}), 0U);
  EXPECT_EQ(crc32({}, 5U), 5U);
}

TEST(Compression, ThereAndBack) {
  Bytes data(100'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i / 100);
  for (const Compression kind : {Compression::None, Compression::Lz4, Compression::Zstd}) {
    Compressor compressor(kind);
    Bytes packed = bytes_of("before");
    compressor.append(packed, data);
    const View alone = View(packed).subspan(6);
    Bytes back;
    EXPECT_EQ(decompress(name_of(kind), alone, data.size(), back), nullptr);
    EXPECT_EQ(back, data);
    if (kind != Compression::None) {
      EXPECT_LT(alone.size(), data.size() / 10);
    }
    EXPECT_NE(decompress(name_of(kind), alone, data.size() - 1, back), nullptr) << "longer than it says";
    EXPECT_NE(decompress(name_of(kind), alone, data.size() + 1, back), nullptr) << "shorter than it says";
    for (std::size_t length = 0; length < alone.size(); length += 1 + length / 8)
      EXPECT_NE(decompress(name_of(kind), alone.first(length), data.size(), back), nullptr) << length;
  }
}

TEST(Compression, ALiarsSizeIsNotAllocated) {
  Bytes back;
  EXPECT_NE(decompress("zstd", bytes_of("xxxx"), std::uint64_t{1} << 60, back), nullptr);
  EXPECT_NE(decompress("lz4", bytes_of("xxxx"), std::uint64_t{1} << 60, back), nullptr);
  EXPECT_NE(decompress("brotli", bytes_of("xxxx"), 4, back), nullptr);
  // As much as zeros may become, and a frame that says itself that it is less.
  Bytes zeros(1 << 20), frame;
  Compressor(Compression::Zstd, 1).append(frame, zeros);
  const std::size_t room = back.capacity();
  EXPECT_NE(decompress("zstd", frame, zeros.size() - 1, back), nullptr);
  EXPECT_EQ(back.capacity(), room) << "before room is made";
}

TEST(Compression, ALiarsSizeCostsWhatIsReallyThere) {
  Bytes noise(1 << 20);
  std::uint32_t word = 1;
  for (std::byte& byte : noise) byte = static_cast<std::byte>((word = word * 1664525 + 1013904223) >> 24);
  for (const Compression kind : {Compression::Lz4, Compression::Zstd}) {
    Bytes frame, back;
    Compressor(kind, 1).append(frame, noise);
    EXPECT_NE(decompress(name_of(kind), frame, 250 * noise.size(), back), nullptr);
    EXPECT_LT(back.capacity(), 100 * noise.size()) << name_of(kind);
  }
  // A chunk that really contains that many zeros is still unpacked.
  Bytes zeros(std::size_t{100} << 20), frame, back;
  Compressor(Compression::Zstd, 1).append(frame, zeros);
  ASSERT_LT(frame.size(), std::size_t{1} << 20);
  EXPECT_EQ(decompress("zstd", frame, zeros.size(), back), nullptr);
  EXPECT_EQ(back, zeros);
}

}  // namespace
}  // namespace cardan::mcap
