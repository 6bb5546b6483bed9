// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/message_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap {
namespace {

using test::FileOnDisk;

std::map<std::uint16_t, std::uint64_t> truly_largest(const std::vector<test::Sample>& samples) {
  std::map<std::uint16_t, std::uint64_t> largest;
  for (const test::Sample& s : samples) largest[s.channel] = std::max(largest[s.channel], s.data.size());
  return largest;
}

TEST(McapMessageSizes, AreExactWhereThereAreIndexes) {
  const auto samples = test::some_samples(200, 300);
  const auto ways = test::ways_to_write();
  for (const std::size_t way : {0U, 1U, 2U, 3U}) {
    const FileOnDisk file(test::write_file(samples, ways[way]));
    EXPECT_EQ(largest_messages(Reader(file.path())), truly_largest(samples)) << way;
  }
}

TEST(McapMessageSizes, AreNeverTooSmall) {
  const auto samples = test::some_samples(200, 300);
  const auto truth = truly_largest(samples);
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    for (const auto& [channel, bytes] : largest_messages(Reader(file.path()))) {
      EXPECT_GE(bytes, truth.at(channel));
      EXPECT_LT(bytes, 2000U) << "and not larger than a chunk";
    }
  }
}

TEST(McapMessageSizes, OfTheChannelsThatAreWanted) {
  const auto samples = test::some_samples(50, 300);
  const FileOnDisk file(test::write_file(samples, {.chunk_bytes = 600}));
  const auto found = largest_messages(Reader(file.path()), [](const Channel& c) { return c.topic == "/two"; });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at(2), truly_largest(samples).at(2));
}

TEST(McapMessageSizes, DoNotTrustAnIndex) {
  // Every single byte changed: nothing is read out of bounds, nobody throws, nothing is larger than the file.
  Bytes bytes = test::write_file(test::some_samples(12, 40), {.chunk_bytes = 200});
  for (std::size_t i = kMagic.size(); i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{0x41};
    const FileOnDisk file(bytes);
    const Reader reader(file.path());
    const bool compressed = std::any_of(reader.summary().chunks().begin(), reader.summary().chunks().end(),
                                        [](const ChunkIndex& chunk) { return !chunk.compression.empty(); });
    for (const auto& [channel, size] : largest_messages(reader))
      EXPECT_TRUE(compressed || size <= bytes.size()) << i << ": channel " << channel << ", " << size;
    bytes[i] ^= std::byte{0x41};
  }
}

}  // namespace
}  // namespace cardan::mcap
