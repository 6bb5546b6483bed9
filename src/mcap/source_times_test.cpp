// SPDX-License-Identifier: Apache-2.0
// The publishers' own stamps, which follow the message indexes: they come back in every order and way of writing,
// survive cuts, merges and crashes, and false ones crash nothing, cost nothing and change nothing else.
#include "src/mcap/source_times.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "cardan/mcap/verify.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap::source_times_test {
namespace {

using test::FileOnDisk;
using test::Sample;

std::int64_t stamp_of(std::uint32_t sequence) {
  if (sequence % 5 == 3) return 0;  // some give none
  return (sequence % 2 == 0 ? -1 : 1) * (1'700'000'000'000'000'000 + static_cast<std::int64_t>(sequence) * 7);
}

Bytes write_stamped(const std::vector<Sample>& samples, const WriterOptions& options, bool stamped = true) {
  Bytes file;
  Writer writer([&](View bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); }, options);
  writer.add(Channel{.id = 1, .topic = "/one", .message_encoding = "json"});
  writer.add(Channel{.id = 2, .topic = "/two", .message_encoding = "json"});
  for (const Sample& s : samples)
    writer.write({.channel_id = s.channel,
                  .sequence = s.sequence,
                  .log_time = s.log_time,
                  .publish_time = s.log_time,
                  .data = View(s.data),
                  .source_time = stamped ? stamp_of(s.sequence) : 0});
  writer.close();
  return file;
}

std::map<std::uint32_t, std::int64_t> stamps_in(const std::string& path, ReadOptions options = {},
                                                std::vector<Problem>* problems = nullptr) {
  std::map<std::uint32_t, std::int64_t> all;
  const Reader reader(path);
  Messages messages = reader.messages(std::move(options));
  while (const auto one = messages.next()) all[one->message.sequence] = one->message.source_time;
  if (problems != nullptr) *problems = messages.problems();
  return all;
}

std::vector<WriterOptions> ways() {
  return {{.chunk_bytes = 600},
          {.chunk_bytes = 600, .compression = Compression::Lz4},
          {.chunk_bytes = 600, .compression = Compression::Zstd},
          {.chunk_bytes = 1500 << 10}};  // with large messages: read one by one
}
std::size_t most_bytes(const WriterOptions& way) { return way.chunk_bytes > 600 ? 200'000 : 120; }

TEST(SourceTimes, ComeBackInEveryOrderAndWay) {
  for (const WriterOptions& way : ways()) {
    const auto samples = test::some_samples(60, most_bytes(way));
    const FileOnDisk file(write_stamped(samples, way));
    EXPECT_TRUE(verify(file.path()).good());
    for (const Order order : {Order::LogTime, Order::ReverseLogTime}) {
      std::vector<Problem> problems;
      const auto stamps = stamps_in(file.path(), {.order = order}, &problems);
      ASSERT_EQ(stamps.size(), samples.size());
      for (const auto& [sequence, stamp] : stamps) EXPECT_EQ(stamp, stamp_of(sequence)) << sequence;
      EXPECT_TRUE(problems.empty());
    }
    const auto part =
        stamps_in(file.path(), {.start = 1100, .end = 1300, .wanted = [](const Channel& c) { return c.id == 2; }});
    EXPECT_GT(part.size(), 5U);
    for (const auto& [sequence, stamp] : part) EXPECT_EQ(stamp, stamp_of(sequence)) << sequence;
  }
}

TEST(SourceTimes, AFileThatEndsWithinItsMessageIndexesLosesNoMessages) {
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{20'000}}) {  // read at once, and message by message
    for (const bool stamped : {true, false}) {
      std::vector<Sample> samples;
      for (std::uint32_t i = 0; i < 100; ++i)
        samples.push_back(
            {.channel = static_cast<std::uint16_t>(1 + i % 2), .sequence = i, .log_time = i + 1, .data = Bytes(bytes)});
      Bytes whole = write_stamped(samples, {.chunk_bytes = 1 << 28}, stamped);
      {
        const FileOnDisk file(whole);
        whole.resize(
            static_cast<std::size_t>(Reader(file.path()).summary().chunks().at(0).message_index_offsets.at(2)) + 20);
      }
      const FileOnDisk file(whole);
      for (const int wanted : {0, 1, 2}) {
        std::vector<Problem> problems;
        const auto stamps = stamps_in(
            file.path(), {.wanted = [&](const Channel& c) { return wanted == 0 || c.id == wanted; }}, &problems);
        EXPECT_EQ(stamps.size(), wanted == 0 ? 100U : 50U) << bytes << " bytes, channel " << wanted;
        for (const auto& [sequence, stamp] : stamps)
          EXPECT_EQ(stamp, stamped && sequence % 2 == 0 ? stamp_of(sequence) : 0) << sequence;
        EXPECT_EQ(problems.size(), stamped && wanted != 1 ? 1U : 0U) << bytes << " bytes, channel " << wanted;
      }
    }
  }
}

TEST(SourceTimes, WhereThereAreNoneTheFileIsAsItWas) {
  const auto samples = test::some_samples(60, 120);
  Bytes index;
  append(index, MessageIndex{.channel_id = 1, .records = {{5, 0}, {6, 40}}});
  const std::vector<std::int64_t> none(2);
  Bytes extra;
  append_source_times(extra, none);
  EXPECT_TRUE(extra.empty());
  const FileOnDisk file(write_stamped(samples, {.chunk_bytes = 600}, false));
  for (const auto& [sequence, stamp] : stamps_in(file.path())) EXPECT_EQ(stamp, 0) << sequence;
  const auto read = decode_index(View(index).subspan(kPrefixBytes));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->source_times.empty());
  EXPECT_FALSE(read->damaged);
}

TEST(SourceTimes, WithoutAnIndexThereIsNoPlaceForThem) {
  const auto samples = test::some_samples(30, 120);
  for (const WriterOptions& way : {WriterOptions{.chunks = false}, WriterOptions{.message_index = false}}) {
    const FileOnDisk file(write_stamped(samples, way));
    const auto stamps = stamps_in(file.path());
    EXPECT_EQ(stamps.size(), samples.size());
    for (const auto& [sequence, stamp] : stamps) EXPECT_EQ(stamp, 0) << sequence;
  }
}

TEST(SourceTimes, SurviveACutAndAMerge) {
  const auto samples = test::some_samples(60, 120);
  std::vector<Sample> even, odd;
  for (const Sample& s : samples) (s.sequence % 4 < 2 ? even : odd).push_back(s);
  const FileOnDisk a(write_stamped(even, {.chunk_bytes = 600}));
  const FileOnDisk b(write_stamped(odd, {.chunk_bytes = 300, .compression = Compression::Zstd}));
  const FileOnDisk merged({}), cut({});
  rewrite({a.path(), b.path()}, merged.path(), {.replace = true});
  EXPECT_TRUE(verify(merged.path()).good());
  auto stamps = stamps_in(merged.path());
  ASSERT_EQ(stamps.size(), samples.size());
  for (const auto& [sequence, stamp] : stamps) EXPECT_EQ(stamp, stamp_of(sequence)) << sequence;
  rewrite({merged.path()}, cut.path(), {.read = {.start = 1100, .end = 1300}, .replace = true});
  stamps = stamps_in(cut.path());
  ASSERT_GT(stamps.size(), 10U);
  for (const auto& [sequence, stamp] : stamps) EXPECT_EQ(stamp, stamp_of(sequence)) << sequence;
}

TEST(SourceTimes, OfAFileThatWasCutAnywhereAreRightOrNone) {
  const auto samples = test::some_samples(20, 60);
  const Bytes whole = write_stamped(samples, {.chunk_bytes = 200});
  const FileOnDisk file(whole), repaired({});
  std::size_t most = 0;
  for (std::size_t length = kMagic.size(); length < whole.size(); length += 13) {
    file.put(View(whole).first(length));
    rewrite({file.path()}, repaired.path(), {.replace = true});
    EXPECT_TRUE(verify(repaired.path()).good()) << length;
    std::size_t right = 0;
    for (const auto& [sequence, stamp] : stamps_in(repaired.path())) {
      EXPECT_TRUE(stamp == stamp_of(sequence) || stamp == 0) << "of " << sequence << ", cut at " << length;
      right += stamp == stamp_of(sequence) ? 1U : 0U;
    }
    most = std::max(most, right);
  }
  EXPECT_EQ(most, samples.size());
}

/// Where an index's stamps begin in a file, and how many bytes they and their head are.
std::pair<std::size_t, std::size_t> place_of_stamps(const std::string& path) {
  const Reader reader(path);
  const ChunkIndex& chunk = reader.summary().chunks().at(1);
  const std::uint64_t at = chunk.message_index_offsets.at(1);
  Bytes content;
  EXPECT_TRUE(reader.file().read_exactly(at + kPrefixBytes, reader.file().read_prefix(at)->length, content));
  const auto index = decode<MessageIndex>(content);
  const std::size_t before = kPrefixBytes + 2 + 4 + 16 * index->records.size();
  return {static_cast<std::size_t>(at) + before, content.size() + kPrefixBytes - before};
}

TEST(SourceTimes, DamageIsNoticedAndCostsTheStampsAlone) {
  for (const WriterOptions& way : ways()) {
    const auto samples = test::some_samples(60, most_bytes(way));
    const Bytes whole = write_stamped(samples, way);
    const FileOnDisk file(whole);
    const auto [begin, bytes] = place_of_stamps(file.path());
    ASSERT_GT(bytes, kSourceTimesHead);
    for (std::size_t at = 4; at < bytes; at += 5) {  // the first four say that there are any
      Bytes bad = whole;
      bad[begin + at] ^= std::byte{0x20};
      file.put(bad);
      EXPECT_FALSE(verify(file.path()).good()) << at;
      std::vector<Problem> problems;
      const auto stamps = stamps_in(file.path(), {}, &problems);
      EXPECT_EQ(problems.size(), 1U) << at;
      EXPECT_EQ(stamps.size(), samples.size());
      std::size_t left_out = 0;
      for (const auto& [sequence, stamp] : stamps) {
        if (stamp == stamp_of(sequence)) continue;
        EXPECT_EQ(stamp, 0);
        ++left_out;
      }
      EXPECT_GT(left_out, 0U);
      EXPECT_LT(left_out, samples.size() / 2);
    }
  }
}

TEST(SourceTimes, AClaimOfMoreThanThereIsGetsNothing) {
  const std::vector<std::int64_t> stamps{1, 2, 3};
  Bytes extra;
  append_source_times(extra, stamps);
  for (std::size_t messages = 0; messages <= 5; ++messages) {
    MessageIndex index{.channel_id = 1};
    for (std::size_t i = 0; i < messages; ++i) index.records.emplace_back(i, i);
    for (std::size_t length = 0; length <= extra.size(); ++length) {
      Bytes record;
      append(record, index, View(extra).first(length));
      const auto read = decode_index(View(record).subspan(kPrefixBytes));
      ASSERT_TRUE(read);
      EXPECT_TRUE(read->source_times.empty() || read->source_times.size() == messages);
      EXPECT_EQ(read->source_times == stamps, messages == 3 && length == extra.size());
      EXPECT_EQ(read->damaged, length >= 4 && !(messages == 3 && length == extra.size())) << length;
    }
  }
  Bytes record;
  append(record, MessageIndex{.channel_id = 1, .records = {{1, 1}}}, extra);
  std::uint32_t huge = 0xFFFFFFF0U;  // of the records' bytes
  std::memcpy(record.data() + kPrefixBytes + 2, &huge, sizeof huge);
  EXPECT_FALSE(decode_index(View(record).subspan(kPrefixBytes)));
}

TEST(SourceTimes, IndexesThatNameTheSameBytesAgainAndAgainAreReadNoMoreOftenThanTheFileIsLong) {
  // One large index with stamps, and a summary of many chunks that all name it for many channels.
  constexpr std::uint16_t kChannels = 400;
  Bytes file;
  Writer writer([&](View bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); }, {.chunk_bytes = 1 << 30});
  for (std::uint16_t c = 1; c <= kChannels; ++c)
    writer.add(Channel{.id = c, .topic = "/" + std::to_string(c), .message_encoding = "json"});
  const Bytes data(1);
  for (std::uint32_t i = 0; i < 20'000; ++i)
    writer.write({.channel_id = 1, .sequence = i, .log_time = i, .data = View(data), .source_time = 7});
  writer.close();
  const FileOnDisk honest(file);
  const Reader reader(honest.path());
  Summary summary;
  for (const auto& [id, channel] : reader.summary().channels()) summary.add(channel);
  summary.set(reader.summary().statistics());
  ChunkIndex chunk = reader.summary().chunks().at(0);
  for (std::uint16_t c = 2; c <= kChannels; ++c) chunk.message_index_offsets[c] = chunk.message_index_offsets[1];
  for (int i = 0; i < 100; ++i) summary.add(ChunkIndex(chunk));
  Bytes lied(file);
  std::uint64_t summary_start = 0;
  std::memcpy(&summary_start, file.data() + file.size() - kMagic.size() - (8 + 8 + 4), sizeof summary_start);
  lied.resize(static_cast<std::size_t>(summary_start));
  summary.append_to(lied, lied.size());
  const FileOnDisk disk(lied);
  std::vector<Problem> problems;
  const auto stamps = stamps_in(disk.path(), {}, &problems);
  EXPECT_LE(stamps.size(), 20'000U);
  EXPECT_GT(problems.size(), 90U) << "most of those chunks are not read at all";
}

}  // namespace
}  // namespace cardan::mcap::source_times_test
