// SPDX-License-Identifier: Apache-2.0
// Files that are cut at every byte, or changed at every byte: what is whole is read, nothing else is made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cardan/error.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap {
namespace {

using test::FileOnDisk;
using test::read_all;
using test::Sample;

std::vector<Sample> streamed(View file, Finish& finish) {
  std::size_t at = 0;
  RecordReader reader([&](std::span<std::byte> into) {
    const std::size_t bytes =
        std::min({into.size(), file.size() - at, std::size_t{97}});  // in odd pieces, as from a pipe
    std::memcpy(into.data(), file.data() + at, bytes);
    at += bytes;
    return bytes;
  });
  std::vector<Sample> all;
  while (const auto record = reader.next())
    if (record->is(Opcode::Message))
      if (const auto message = decode<Message>(record->content)) all.push_back(test::sample_of(*message));
  finish = reader.finish();
  return all;
}

bool is_prefix(const std::vector<Sample>& part, const std::vector<Sample>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

std::vector<Sample> in_file_order(std::vector<Sample> samples) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.sequence < b.sequence; });
  return samples;
}

TEST(Damage, AFileThatIsCutAnywhereGivesWhatIsWhole) {
  const auto samples = test::some_samples(12, 60);
  for (WriterOptions way : test::ways_to_write()) {
    way.chunk_bytes = 200;
    const Bytes whole = test::write_file(samples, way);
    const FileOnDisk file({});
    std::size_t before = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const View cut = View(whole).first(length);
      Finish finish;
      const auto found = streamed(cut, finish);
      EXPECT_NE(finish.how, Finish::How::Complete) << length;
      EXPECT_FALSE(finish.cause.empty());
      EXPECT_LE(finish.valid, length);
      ASSERT_TRUE(is_prefix(found, samples)) << length;
      EXPECT_GE(found.size(), before) << "more bytes, fewer messages";
      before = found.size();
      file.put(cut);
      if (length < kMagic.size()) {
        EXPECT_THROW(Reader{file.path()}, Error);
        continue;
      }
      const Reader reader(file.path());
      EXPECT_FALSE(reader.complete());
      // Without an index messages come by their times; what the stream gives is what a reader gives.
      ASSERT_EQ(in_file_order(read_all(reader)), found) << length;
    }
    EXPECT_EQ(before, samples.size());
  }
}

TEST(Damage, ReservedSpaceThatWasNotWrittenIsNotAMessage) {
  const auto samples = test::some_samples(12, 60);
  Bytes file = test::write_file(samples, {.chunk_bytes = 200});
  file.resize(file.size() / 2);
  Finish finish;
  const auto cut = streamed(file, finish);
  file.resize(file.size() + 5000);  // zeros
  const FileOnDisk disk(file);
  const Reader reader(disk.path());
  EXPECT_EQ(reader.finish().how, Finish::How::Cut);
  EXPECT_TRUE(is_prefix(in_file_order(read_all(reader)), samples));
  Finish after;
  EXPECT_TRUE(is_prefix(streamed(file, after), samples));
  EXPECT_LE(after.valid, file.size());
  EXPECT_GE(in_file_order(read_all(reader)).size(), cut.size());
}

TEST(Damage, AChangedByteNeverMakesAMessageThatWasNotWritten) {
  const auto samples = test::some_samples(12, 60);
  for (const Compression compression : {Compression::None, Compression::Lz4, Compression::Zstd}) {
    const Bytes whole = test::write_file(samples, {.chunk_bytes = 200, .compression = compression});
    const FileOnDisk file(whole);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      Bytes bad = whole;
      bad[at] ^= std::byte{0x41};
      Finish finish;
      for (const Sample& s : streamed(bad, finish)) EXPECT_EQ(s, samples.at(s.sequence)) << at;
      file.put(bad);
      try {
        const Reader reader(file.path());
        for (const Sample& s : read_all(reader)) EXPECT_EQ(s, samples.at(s.sequence)) << at;
      } catch (const Error&) {
        EXPECT_LT(at, kMagic.size()) << "only files that are not MCAP at all are refused";
      }
    }
  }
}

TEST(Damage, OneBadChunkCostsItsOwnMessagesOnly) {
  const auto samples = test::some_samples(40, 60);
  Bytes bytes = test::write_file(samples, {.chunk_bytes = 200});
  const FileOnDisk file(bytes);
  std::uint64_t bad_chunk = 0;
  {
    const Reader reader(file.path());
    ASSERT_GT(reader.summary().chunks().size(), 5U);
    bad_chunk = reader.summary().chunks()[2].chunk_start_offset;
  }
  bytes[static_cast<std::size_t>(bad_chunk) + kPrefixBytes + kChunkHeaderBytes + 20] ^= std::byte{1};
  file.put(bytes);
  std::size_t problems = 0;
  const auto found = read_all(Reader(file.path()), {}, &problems);
  EXPECT_EQ(problems, 1U);
  EXPECT_LT(found.size(), samples.size());
  EXPECT_GT(found.size(), samples.size() - 10);
}

TEST(Damage, AChunkThatIsThereTwiceIsRecoveredOnce) {
  const auto samples = test::some_samples(120, 60);
  for (const WriterOptions& way : test::ways_to_write()) {
    if (!way.chunks) continue;
    const Bytes whole = test::write_file(samples, way);
    const FileOnDisk good(whole);
    const Reader first(good.path(), {.rescan = true, .scanning = {.search = true}});
    ASSERT_GT(first.summary().chunks().size(), 4U);
    EXPECT_EQ(read_all(first).size(), samples.size());
    EXPECT_FALSE(first.lossy());
    const ChunkIndex& copied = first.summary().chunks()[1];
    const auto chunk = View(whole).subspan(static_cast<std::size_t>(copied.chunk_start_offset),
                                           static_cast<std::size_t>(copied.chunk_length + copied.message_index_length));
    // As a block that was written to the wrong place as well: between two others.
    Bytes bad = whole;
    bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(first.summary().chunks()[3].chunk_start_offset), chunk.begin(),
               chunk.end());
    const FileOnDisk file(bad);
    const Reader reader(file.path(), {.rescan = true, .scanning = {.search = true}});
    EXPECT_TRUE(read_all(reader) == read_all(first)) << "each message once";
    EXPECT_EQ(reader.summary().statistics().message_count, samples.size());
    EXPECT_TRUE(reader.lossy()) << "it is reported";
  }
}

TEST(Damage, EqualChunksThatWereWrittenAreRecovered) {
  std::vector<Sample> samples(6, {.channel = 1, .sequence = 0, .log_time = 7, .data = Bytes(300)});
  const FileOnDisk file(test::write_file(samples, {.chunk_bytes = 300}));
  const Reader reader(file.path(), {.rescan = true, .scanning = {.search = true}});
  EXPECT_GT(reader.summary().chunks().size(), 1U);
  EXPECT_EQ(read_all(reader).size(), samples.size());
  EXPECT_FALSE(reader.lossy());
}

TEST(Damage, AWalkUnpacksNoMoreThanItMay) {
  const auto samples = test::some_samples(12, 60);
  WriterOptions way{.compression = Compression::Zstd};
  way.chunk_bytes = 200;
  const Bytes whole = test::write_file(samples, way);
  const FileOnDisk file(View(whole).first(whole.size() - 20));  // nobody finished it: it is walked through
  EXPECT_EQ(read_all(Reader(file.path(), {.scanning = {.most_unpacked_bytes = 1000}})).size(), samples.size());
  for (const bool search : {false, true}) {
    const Reader reader(file.path(), {.scanning = {.search = search, .most_unpacked_bytes = 150}});
    const std::size_t found = read_all(reader).size();  // after the first one, those of a small chunk
    EXPECT_TRUE(search ? found < samples.size() / 2 : found == 0) << found;
    EXPECT_TRUE(reader.lossy());
    const std::string cause = search ? reader.gaps().at(0).cause : reader.finish().cause;
    EXPECT_NE(cause.find("more than the 150 bytes that are permitted (--max-chunk)"), std::string::npos) << cause;
  }
}

TEST(Damage, FalseChunksEndASearch) {
  const auto samples = test::some_samples(40, 60);
  Bytes bytes = test::write_file(samples, {.chunk_bytes = 200});
  const std::size_t data = kMagic.size();
  Bytes liars(data);
  std::copy_n(bytes.begin(), data, liars.begin());
  // Heads of chunks, each of which claims all that follows but a byte or two, so that none ends where the next does.
  constexpr std::size_t kLiars = 4000, kBytes = kPrefixBytes + kChunkHeaderBytes;
  for (std::size_t i = 0; i < kLiars; ++i) {
    const std::uint64_t rest = (kLiars - i) * kBytes - 1 - i % 2;
    Bytes head(kBytes);
    head[0] = static_cast<std::byte>(Opcode::Chunk);
    const std::uint64_t length = rest - kPrefixBytes, records = length - kChunkHeaderBytes;
    std::memcpy(head.data() + 1, &length, sizeof length);
    std::memcpy(head.data() + kBytes - sizeof records, &records, sizeof records);
    if (i + 1 < kLiars) liars.insert(liars.end(), head.begin(), head.end());
  }
  liars.resize(liars.size() + kBytes);
  const FileOnDisk file(liars);
  const Reader reader(file.path(), {.rescan = true, .scanning = {.search = true}});
  EXPECT_EQ(reader.finish().how, Finish::How::Damaged);
  EXPECT_GT(reader.gaps().size(), 0U);
  EXPECT_LT(reader.gaps().size(), 100U) << "each was read to its end";
  // Real ones after damaged data are found, however many they are.
  bytes[data] = std::byte{0x7f};
  for (std::size_t i = 1; i <= 8; ++i) bytes[data + i] = std::byte{0xff};
  file.put(bytes);
  EXPECT_EQ(read_all(Reader(file.path(), {.rescan = true, .scanning = {.search = true}})).size(), samples.size());
}

TEST(Damage, FalsePrefixesEndASearchToo) {
  const auto samples = test::some_samples(40, 60);
  const Bytes bytes = test::write_file(samples, {.chunk_bytes = 200});
  const auto after = [&bytes](std::size_t liars) {
    constexpr std::uint64_t kClaims = 100'000;
    Bytes damaged(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kMagic.size()));
    // Prefixes of chunks whose heads cannot be true. To see that, each head is read.
    Bytes liar(kPrefixBytes + 1, std::byte{0xff});
    liar[0] = static_cast<std::byte>(Opcode::Chunk);
    std::memcpy(liar.data() + 1, &kClaims, sizeof kClaims);
    for (std::size_t i = 0; i < liars; ++i) damaged.insert(damaged.end(), liar.begin(), liar.end());
    damaged.insert(damaged.end(), kClaims, std::byte{0xff});
    damaged.insert(damaged.end(), bytes.begin() + static_cast<std::ptrdiff_t>(kMagic.size()), bytes.end());
    const FileOnDisk file(damaged);
    return read_all(Reader(file.path(), {.rescan = true, .scanning = {.search = true}})).size();
  };
  EXPECT_EQ(after(20), samples.size());
  EXPECT_EQ(after(20'000), 0U) << "more was read than sixteen times the file";
}

}  // namespace
}  // namespace cardan::mcap
