// SPDX-License-Identifier: Apache-2.0
// Files whose index is well formed and wrong: nobody crashes, asks for memory that is not there, or makes up a message;
// what the lie is not about is read.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "src/mcap/message_sizes.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap {
namespace {

using test::FileOnDisk;
using test::Sample;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLiedOf = 1;  // the number of the chunk

struct Lie {
  const char* what;
  std::function<void(ChunkIndex&)> tell;
};

std::vector<Lie> lies() {
  return {
      {"begins at the end of all files", [](ChunkIndex& c) { c.chunk_start_offset = kMost; }},
      {"begins at a negative offset", [](ChunkIndex& c) { c.chunk_start_offset |= std::uint64_t{1} << 63; }},
      {"begins at the file's magic", [](ChunkIndex& c) { c.chunk_start_offset = 0; }},
      {"has no length", [](ChunkIndex& c) { c.chunk_length = 0; }},
      {"is longer than every file", [](ChunkIndex& c) { c.chunk_length = kMost - c.chunk_start_offset; }},
      {"has a length that overflows", [](ChunkIndex& c) { c.chunk_length = kMost; }},
      {"indexes at the end of all files", [](ChunkIndex& c) { c.message_index_offsets[1] = kMost; }},
      {"indexes at a negative offset", [](ChunkIndex& c) { c.message_index_offsets[1] |= std::uint64_t{1} << 63; }},
      {"indexes with the other channel's index",
       [](ChunkIndex& c) { c.message_index_offsets[1] = c.message_index_offsets[2]; }},
      {"indexes a channel that there is not", [](ChunkIndex& c) { c.message_index_offsets[999] = 100; }},
      {"has indexes without end", [](ChunkIndex& c) { c.message_index_length = kMost; }},
      {"has no indexes", [](ChunkIndex& c) { c.message_index_length = 0; }},
      {"has records longer than it is", [](ChunkIndex& c) { c.compressed_size = kMost; }},
      {"has no records", [](ChunkIndex& c) { c.compressed_size = 0; }},
      {"has records of 16 EiB", [](ChunkIndex& c) { c.uncompressed_size = kMost; }},
      {"has records of a terabyte", [](ChunkIndex& c) { c.uncompressed_size = std::uint64_t{1} << 40; }},
      {"has records of no size", [](ChunkIndex& c) { c.uncompressed_size = 0; }},
      {"is compressed in an unknown way", [](ChunkIndex& c) { c.compression = "brotli"; }},
      {"is not compressed", [](ChunkIndex& c) { c.compression = ""; }},
  };
}

std::uint64_t summary_start_of(const Bytes& file) {
  std::uint64_t start = 0;
  std::memcpy(&start, file.data() + file.size() - kMagic.size() - (8 + 8 + 4), sizeof start);
  return start;
}

/// The same data, followed by another summary.
Bytes with_lie(const Bytes& file, const std::function<void(ChunkIndex&)>& tell) {
  const FileOnDisk disk(file);
  const Reader reader(disk.path());
  Summary summary;
  for (const auto& [id, schema] : reader.summary().schemas()) summary.add(schema);
  for (const auto& [id, channel] : reader.summary().channels()) summary.add(channel);
  summary.set(reader.summary().statistics());
  for (std::size_t i = 0; i < reader.summary().chunks().size(); ++i) {
    ChunkIndex chunk = reader.summary().chunks()[i];
    if (i == kLiedOf) tell(chunk);
    summary.add(std::move(chunk));
  }
  Bytes out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(summary_start_of(file)));
  summary.append_to(out, out.size());
  return out;
}

/// Small chunks, which are read whole, and large ones, of which each message is read by itself.
struct Way {
  WriterOptions options;
  std::size_t most_bytes;
};
std::vector<Way> ways() {
  return {{{.chunk_bytes = 600}, 120},
          {{.chunk_bytes = 600, .compression = Compression::Lz4}, 120},
          {{.chunk_bytes = 600, .compression = Compression::Zstd}, 120},
          {{.chunk_bytes = 1500 << 10}, 200'000}};
}

/// By number, of those in the chunk that is lied of.
std::set<std::uint32_t> numbers_of_the_chunk(const Bytes& file, const std::vector<Sample>& samples) {
  const FileOnDisk disk(file);
  const Reader reader(disk.path());
  const ChunkIndex& chunk = reader.summary().chunks().at(kLiedOf);
  std::set<std::uint32_t> inside;
  for (const Sample& s : samples)  // generously: chunks overlap in time
    if (s.log_time >= chunk.message_start_time && s.log_time <= chunk.message_end_time) inside.insert(s.sequence);
  return inside;
}

TEST(LyingIndex, CostsAtMostTheChunkItIsOf) {
  for (const Way& way : ways()) {
    const auto samples = test::some_samples(60, way.most_bytes);
    const Bytes file = test::write_file(samples, way.options);
    const auto lied_of = numbers_of_the_chunk(file, samples);
    ASSERT_LT(lied_of.size(), samples.size() / 2);
    for (const Lie& lie : lies()) {
      SCOPED_TRACE(lie.what);
      const FileOnDisk disk(with_lie(file, lie.tell));
      const Reader reader(disk.path());
      for (const Order order : {Order::LogTime, Order::ReverseLogTime}) {
        std::set<std::uint32_t> found;
        for (const Sample& s : test::read_all(reader, {.order = order})) {
          EXPECT_EQ(s, samples.at(s.sequence));
          EXPECT_TRUE(found.insert(s.sequence).second) << "twice: " << s.sequence;
        }
        for (const Sample& s : samples)
          EXPECT_TRUE(found.contains(s.sequence) || lied_of.contains(s.sequence)) << s.sequence;
      }
    }
  }
}

TEST(LyingIndex, SaysWhatIsWrong) {
  const auto samples = test::some_samples(60, 120);
  const Bytes file = test::write_file(samples, {.chunk_bytes = 600});
  for (const Lie& lie : lies()) {
    const FileOnDisk disk(with_lie(file, lie.tell));
    std::size_t problems = 0;
    const auto found = test::read_all(Reader(disk.path()), {}, &problems);
    EXPECT_EQ(problems > 0, found.size() < samples.size()) << lie.what;
  }
}

TEST(LyingIndex, AChunkOfOtherTimesIsReported) {
  const auto samples = test::some_samples(60, 120);
  const Bytes file = test::write_file(samples, {.chunk_bytes = 600});
  for (const Order order : {Order::LogTime, Order::ReverseLogTime}) {
    const FileOnDisk disk(with_lie(file, [&](ChunkIndex& chunk) {
      if (order == Order::LogTime)
        chunk.message_start_time += 50;
      else
        chunk.message_end_time -= 50;
    }));
    std::size_t problems = 0;
    EXPECT_EQ(test::read_all(Reader(disk.path()), {.order = order}, &problems).size(), samples.size());
    EXPECT_EQ(problems, 1U) << "the reader that relies on the order is told";
  }
}

TEST(LyingIndex, ThatNamesAChunkManyTimesDoesNotFillTheMemory) {
  const auto samples = test::some_samples(60, 120);
  const Bytes file = test::write_file(samples, {.chunk_bytes = 600});
  const FileOnDisk honest(file);
  const Reader reader(honest.path());
  Summary summary;
  for (const auto& [id, channel] : reader.summary().channels()) summary.add(channel);
  summary.set(reader.summary().statistics());
  const ChunkIndex chunk = reader.summary().chunks().at(kLiedOf);
  constexpr std::size_t kTimes = 5000;
  for (std::size_t i = 0; i < kTimes; ++i) summary.add(ChunkIndex(chunk));
  Bytes out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(summary_start_of(file)));
  summary.append_to(out, out.size());
  const FileOnDisk disk(out);
  std::size_t problems = 0;
  const auto found = test::read_all(Reader(disk.path()), {}, &problems);
  EXPECT_GT(problems, 0U);
  // All of them would be open at the same time.
  EXPECT_LE(found.size() * 20, 4 * out.size());
}

/// A chunk that is read message by message, which the index of the file names `chunks` times, and the index of the
/// chunk its only message `times` times.
Bytes with_one_message(std::size_t chunks, std::size_t times) {
  Bytes file;
  detail::put(file, std::as_bytes(std::span(kMagic)));
  append(file, Header{});
  const Channel channel{.id = 1, .topic = "/one", .message_encoding = "json"};
  Bytes records;
  append(records, channel);
  const std::uint64_t place = records.size();
  const Bytes data(2 << 20);
  append(records, Message{.channel_id = 1, .log_time = 7, .data = data});
  ChunkIndex index{.message_start_time = 7,
                   .message_end_time = 7,
                   .chunk_start_offset = file.size(),
                   .compressed_size = records.size(),
                   .uncompressed_size = records.size()};
  append(
      file,
      Chunk{.message_start_time = 7, .message_end_time = 7, .uncompressed_size = records.size(), .records = records});
  index.chunk_length = file.size() - index.chunk_start_offset;
  index.message_index_offsets[1] = file.size();
  append(file, MessageIndex{.channel_id = 1, .records = {times, {7, place}}});
  index.message_index_length = file.size() - index.message_index_offsets[1];
  append(file, DataEnd{});
  Summary summary;
  summary.add(channel);
  summary.set(Statistics{.message_count = 1});
  for (std::size_t i = 0; i < chunks; ++i) summary.add(ChunkIndex(index));
  summary.append_to(file, file.size());
  return file;
}

TEST(LyingIndex, GivesNothingOfAFileAgainAndAgain) {
  for (const auto& [chunks, times] : {std::pair{1U, 5000U}, {5000U, 1U}, {1U, 1U}}) {
    const FileOnDisk disk(with_one_message(chunks, times));
    const Reader reader(disk.path());
    Messages all = reader.messages();
    std::uint64_t bytes = 0;
    while (const auto one = all.next()) bytes += one->message.data.size();
    EXPECT_GE(bytes, 2U << 20);
    EXPECT_LE(bytes, 2 * reader.file().size()) << "another file of it may be as large as that";
    EXPECT_EQ(all.problems().empty(), chunks * times == 1);
    EXPECT_LE(all.problems().size(), chunks);
  }
}

TEST(LyingIndex, ChunksThatOverlapAreUnpackedAsFarAsThereIsMemory) {
  Bytes file;
  Writer writer([&](View bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); },
                {.chunk_bytes = 1, .compression = Compression::Zstd});
  writer.add(Channel{.id = 1, .topic = "/one", .message_encoding = "json"});
  const Bytes zeros(100'000);
  constexpr std::uint32_t kChunks = 20;
  for (std::uint32_t i = 0; i < kChunks; ++i)
    writer.write({.channel_id = 1, .sequence = i, .log_time = 7, .data = zeros});
  writer.close();
  const FileOnDisk disk(file);
  std::size_t problems = 0;
  EXPECT_EQ(test::read_all(Reader(disk.path()), {}, &problems).size(), kChunks);
  EXPECT_EQ(problems, 0U);
  const auto some = test::read_all(Reader(disk.path()), {.most_unpacked_bytes = 1'000'000}, &problems);
  EXPECT_EQ(some.size(), 9U);
  EXPECT_EQ(problems, kChunks - 9);
}

TEST(LyingIndex, AChannelThatTheSummaryDoesNotNameIsReported) {
  for (const Way& way : ways()) {
    const auto samples = test::some_samples(60, way.most_bytes);
    const Bytes file = test::write_file(samples, way.options);
    const FileOnDisk honest(file);
    const Reader reader(honest.path());
    Summary summary;
    summary.add(reader.summary().channels().at(1));
    summary.set(reader.summary().statistics());
    for (const ChunkIndex& chunk : reader.summary().chunks()) summary.add(ChunkIndex(chunk));
    Bytes out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(summary_start_of(file)));
    summary.append_to(out, out.size());
    const FileOnDisk disk(out);
    std::size_t problems = 0;
    EXPECT_EQ(test::read_all(Reader(disk.path()), {}, &problems).size(), samples.size() / 2);
    EXPECT_EQ(problems, reader.summary().chunks().size());
    EXPECT_EQ(test::read_all(reader, {.wanted = [](const Channel& c) { return c.id == 1; }}, &problems).size(),
              samples.size() / 2);
    EXPECT_EQ(problems, 0U) << "a reader of one channel gets no problems of the others";
  }
}

TEST(LyingIndex, MakesNoMessageLargerThanAPublisherCanCarry) {
  for (const Way& way : ways()) {
    const auto samples = test::some_samples(60, way.most_bytes);
    const Bytes file = test::write_file(samples, way.options);
    for (const Lie& lie : lies()) {
      const FileOnDisk disk(with_lie(file, lie.tell));
      for (const auto& [channel, bytes] : largest_messages(Reader(disk.path())))
        EXPECT_LE(bytes, std::uint64_t{1} << 30) << lie.what << ", channel " << channel;
    }
  }
}

TEST(LyingIndex, AMessageOfAnotherChannelIsNotThatOfTheIndex) {
  const auto samples = test::some_samples(60, 200'000);
  const Bytes good = test::write_file(samples, {.chunk_bytes = 1500 << 10});
  const FileOnDisk disk(good);
  std::uint64_t record = 0;
  {
    const Reader reader(disk.path());
    const ChunkIndex& chunk = reader.summary().chunks().at(kLiedOf);
    ASSERT_GT(chunk.chunk_length, std::uint64_t{1} << 20) << "too small to be read message by message";
    Bytes buffer;
    ASSERT_TRUE(reader.file().read_exactly(chunk.message_index_offsets.at(1) + kPrefixBytes, 2 + 4 + 16, buffer));
    std::uint64_t place = 0;
    std::memcpy(&place, buffer.data() + 2 + 4 + 8, sizeof place);
    record = chunk.chunk_start_offset + kPrefixBytes + kChunkHeaderBytes + place;
  }
  ASSERT_EQ(good[record], static_cast<std::byte>(Opcode::Message));
  // The channel of a message that is found by its index, which nothing else in the file tells of; and its time.
  for (const auto& [at, value] : {std::pair{0U, 2}, {0U, 0xE7}, {2U + 4, 0x55}, {2U + 4 + 7, 0xFF}}) {
    Bytes bad = good;
    bad[static_cast<std::size_t>(record) + kPrefixBytes + at] = static_cast<std::byte>(value);
    disk.put(bad);
    std::size_t problems = 0;
    const auto found = test::read_all(Reader(disk.path()), {}, &problems);
    EXPECT_EQ(problems, 1U) << at;
    EXPECT_EQ(found.size(), samples.size() - 1) << at;
    for (const Sample& s : found) EXPECT_EQ(s, samples.at(s.sequence)) << at;
  }
}

}  // namespace
}  // namespace cardan::mcap
