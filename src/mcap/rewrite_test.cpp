// SPDX-License-Identifier: Apache-2.0
// Cutting, merging and repairing, and what `verify` says of it.
#include "cardan/mcap/rewrite.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>

#include "cardan/error.hpp"
#include "cardan/mcap/verify.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::mcap {
namespace {

using test::FileOnDisk;
using test::read_all;
using test::Sample;

std::string output_of(const FileOnDisk& file) { return file.path() + ".out"; }

/// Removes what a test wrote.
struct Output {
  std::string path;
  explicit Output(const FileOnDisk& file) : path(output_of(file)) {}
  ~Output() { std::filesystem::remove(path); }
};

std::vector<std::uint32_t> sequences(const std::vector<Sample>& samples) {
  std::vector<std::uint32_t> all;
  for (const Sample& s : samples) all.push_back(s.sequence);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Verify, FindsNothingInAGoodFile) {
  const auto samples = test::some_samples(40, 60);
  for (const WriterOptions& way : test::ways_to_write()) {
    const FileOnDisk file(test::write_file(samples, way));
    const Verification found = verify(file.path());
    EXPECT_EQ(found.messages, samples.size());
    EXPECT_EQ(found.finish.how, Finish::How::Complete);
    // A file without an index says so.
    const bool has_index = way.chunks && way.summary.chunk_indexes;
    EXPECT_EQ(found.problems.size(), has_index || !way.chunks ? 0U : 1U)
        << (found.problems.empty() ? "" : found.problems[0].cause);
  }
}

TEST(Verify, FindsEveryChangedByteThatMatters) {
  const auto samples = test::some_samples(12, 60);
  WriterOptions options{.chunk_bytes = 200, .data_crc = true};
  const Bytes whole = test::write_file(samples, options);
  const FileOnDisk file(whole);
  ASSERT_TRUE(verify(file.path()).good());
  for (std::size_t at = kMagic.size(); at < whole.size(); ++at) {
    Bytes bad = whole;
    bad[at] ^= std::byte{0x10};
    file.put(bad);
    EXPECT_FALSE(verify(file.path()).good()) << "byte " << at << " of " << whole.size();
  }
}

TEST(Verify, FindsEveryChangedByteThatAFileStoresTwice) {
  // Without a checksum of all its data, as `cut` and the recorder write it: the texts of the header and of metadata
  // are there once, without a checksum.
  const auto samples = test::some_samples(12, 60);
  for (const Compression compression :
       {Compression::None, Compression::Lz4}) {  // zstd's frames have bits without a meaning
    const Bytes whole = test::write_file(samples, {.chunk_bytes = 200, .compression = compression});
    const FileOnDisk file(whole);
    std::set<std::size_t> once;
    for (std::size_t at = kMagic.size(); at + kPrefixBytes < whole.size();) {
      const Prefix prefix(View(whole).subspan(at, kPrefixBytes));
      const std::size_t end = at + kPrefixBytes + static_cast<std::size_t>(prefix.length);
      if (prefix.is(Opcode::Header) || prefix.is(Opcode::Metadata))
        for (std::size_t byte = at + kPrefixBytes; byte < end; ++byte) once.insert(byte);
      if (prefix.is(Opcode::Footer)) break;
      at = end;
    }
    ASSERT_LT(once.size(), 100U);
    for (std::size_t at = kMagic.size(); at < whole.size(); ++at) {
      if (once.contains(at)) continue;
      Bytes bad = whole;
      bad[at] ^= std::byte{0x10};
      file.put(bad);
      EXPECT_FALSE(verify(file.path()).good()) << "byte " << at << " of " << whole.size();
    }
  }
}

TEST(Rewrite, CutsByTimeAndTopic) {
  const auto samples = test::some_samples(60, 120);
  const FileOnDisk file(test::write_file(samples, {.chunk_bytes = 600}));
  const Output out(file);
  const Rewritten result =
      rewrite({file.path()}, out.path,
              {.read = {.start = 1100, .end = 1300, .wanted = [](const Channel& c) { return c.topic == "/one"; }}});
  const Reader reader(out.path);
  EXPECT_TRUE(verify(out.path).good());
  EXPECT_EQ(reader.summary().channels().size(), 1U);
  EXPECT_EQ(reader.summary().attachments().size(), 1U);
  const auto left = read_all(reader);
  EXPECT_EQ(result.messages, left.size());
  EXPECT_EQ(left.size(), static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [](const Sample& s) {
              return s.channel == 1 && s.log_time >= 1100 && s.log_time < 1300;
            })));
}

TEST(Rewrite, MergesByTimeAndGivesEqualChannelsOneNumber) {
  const auto samples = test::some_samples(60, 120);
  std::vector<Sample> even, odd;
  for (const Sample& s : samples) (s.sequence % 4 < 2 ? even : odd).push_back(s);
  const FileOnDisk a(test::write_file(even, {.chunk_bytes = 600}));
  const FileOnDisk b(test::write_file(odd, {.chunk_bytes = 300, .compression = Compression::Zstd}));
  const Output out(a);
  EXPECT_EQ(rewrite({a.path(), b.path()}, out.path, {}).messages, samples.size());
  const Reader reader(out.path);
  EXPECT_TRUE(verify(out.path).good());
  EXPECT_EQ(reader.summary().channels().size(), 2U);
  EXPECT_EQ(reader.summary().schemas().size(), 1U);
  auto merged = read_all(reader);
  EXPECT_TRUE(std::is_sorted(merged.begin(), merged.end(),
                             [](const Sample& x, const Sample& y) { return x.log_time < y.log_time; }));
  EXPECT_EQ(sequences(merged), sequences(samples));
}

TEST(Rewrite, RepairsAFileThatWasCutAnywhere) {
  const auto samples = test::some_samples(20, 60);
  const Bytes whole = test::write_file(samples, {.chunk_bytes = 200});
  const FileOnDisk file(whole);
  const Output out(file);
  for (std::size_t length = kMagic.size(); length < whole.size(); length += 37) {
    file.put(View(whole).first(length));
    const auto there = sequences(read_all(Reader(file.path())));
    const Rewritten result = rewrite({file.path()}, out.path, {.replace = true});
    EXPECT_TRUE(verify(out.path).good()) << length;
    EXPECT_EQ(result.messages, there.size());
    EXPECT_EQ(sequences(read_all(Reader(out.path))), there);
  }
}

TEST(Rewrite, FindsTheChunksAfterDamage) {
  const auto samples = test::some_samples(40, 60);
  Bytes bytes = test::write_file(samples, {.chunk_bytes = 200});
  const FileOnDisk file(bytes);
  const auto chunks = Reader(file.path()).summary().chunks();
  ASSERT_GT(chunks.size(), 6U);
  // The third chunk's head is overwritten, and the summary with it.
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(chunks[2].chunk_start_offset), 40, std::byte{0});
  bytes.resize(static_cast<std::size_t>(chunks[5].chunk_start_offset));
  file.put(bytes);
  EXPECT_LT(read_all(Reader(file.path())).size(), read_all(Reader(file.path(), {.scanning = {.search = true}})).size());
  const Output out(file);
  const Rewritten result = rewrite({file.path()}, out.path, {.open = {.scanning = {.search = true}}});
  EXPECT_TRUE(verify(out.path).good());
  const Reader reader(file.path(), {.scanning = {.search = true}});
  ASSERT_EQ(reader.gaps().size(), 1U);
  EXPECT_EQ(reader.gaps()[0].begin, chunks[2].chunk_start_offset);
  EXPECT_EQ(reader.gaps()[0].end, chunks[3].chunk_start_offset);
  EXPECT_EQ(reader.summary().chunks().size(), 4U);
  EXPECT_GT(result.messages, 0U);
}

TEST(Rewrite, NeverTouchesItsInputOrWhatIsThere) {
  const FileOnDisk file(test::write_file(test::some_samples(10, 60), {}));
  EXPECT_THROW(rewrite({file.path()}, file.path(), {.replace = true}), Error);
  const FileOnDisk there(test::bytes_of("mine"));
  EXPECT_THROW(rewrite({file.path()}, there.path(), {}), Error);
  EXPECT_EQ(std::filesystem::file_size(there.path()), 4U);
}

TEST(Rewrite, AnIndexThatNamesAnAttachmentManyTimesMakesNoLargerFile) {
  const Bytes file = test::write_file({}, {});
  const FileOnDisk honest(file);
  const Reader reader(honest.path());
  Summary summary;
  for (const auto& [id, channel] : reader.summary().channels()) summary.add(channel);
  summary.set(reader.summary().statistics());
  for (int i = 0; i < 1000; ++i) summary.add(AttachmentIndex(reader.summary().attachments().at(0)));
  Bytes out(file.begin(), file.end());
  std::uint64_t start = 0;
  std::memcpy(&start, file.data() + file.size() - kMagic.size() - (8 + 8 + 4), sizeof start);
  out.resize(start);
  summary.append_to(out, out.size());
  const FileOnDisk disk(out);
  const Output output(disk);
  const Rewritten result = rewrite({disk.path()}, output.path, {});
  EXPECT_LE(result.bytes, 2 * out.size());
  EXPECT_EQ(result.troubles.size(), 1U);
  // Records that are looked for where the summary says are found once.
  std::filesystem::remove(output.path);
  const Rewritten again = rewrite({disk.path()}, output.path, {.open = {.rescan = true, .scanning = {.search = true}}});
  EXPECT_EQ(Reader(output.path).summary().attachments().size(), 1U);
}

TEST(Rewrite, AFullDiskLeavesNothingBehind) {
  const FileOnDisk file(test::write_file(test::some_samples(200, 4000), {}));
  const Output out(file);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{20'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(rewrite({file.path()}, out.path, {}), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignore);
  EXPECT_FALSE(std::filesystem::exists(out.path));
  EXPECT_FALSE(std::filesystem::exists(out.path + ".partial"));
}

}  // namespace
}  // namespace cardan::mcap
