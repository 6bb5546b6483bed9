// SPDX-License-Identifier: Apache-2.0
// The layout without a disk: each prefix of the writes, as a crash leaves it, gives exactly the chunks whose head was
// written.
#include "src/record/chunks/seam.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "cardan/mcap/verify.hpp"
#include "src/mcap/sample_file_test.hpp"

namespace cardan::record {
namespace {

using mcap::test::FileOnDisk;

struct Written {
  std::uint16_t channel;
  std::uint32_t sequence;
  mcap::Bytes data;
};

/// The contents of the disk.
class MemoryDisk {
 public:
  void write(std::uint64_t offset, mcap::View bytes) {
    if (bytes.empty()) return;
    if (file_.size() < offset + bytes.size()) file_.resize(offset + bytes.size());
    std::memcpy(file_.data() + offset, bytes.data(), bytes.size());
  }
  [[nodiscard]] mcap::Bytes& bytes() { return file_; }

 private:
  mcap::Bytes file_;
};

/// A recording of frames and batches by turns, and what is in each chunk.
class Recording {
 public:
  explicit Recording(std::size_t chunks, const SeamLayout::Preamble& preamble = {.mount = {"here", "1", {}}})
      : layout(preamble), start_(layout.end()) {
    disk.write(0, layout.preamble());
    std::mt19937 random(11);
    compressor_.emplace_back(mcap::Compression::None);
    compressor_.emplace_back(mcap::Compression::Lz4);
    for (std::size_t i = 0; i < chunks; ++i) {
      if (i % 4 == 3)
        add_batch(random, i);
      else
        add_frame(random, i);
    }
  }

  void add_frame(std::mt19937& random, std::size_t i) {
    const auto channel = static_cast<std::uint16_t>(1 + i % 3);
    know(channel);
    const std::array<std::size_t, 8> sizes{0, 1, 4095, 4096, 4097, 65536, 100'000, random() % 20'000};
    AlignedBuffer payload;  // as in a publisher's slot
    payload.append(content(random, sizes[i % sizes.size()]));
    const mcap::Bytes prefix = content(random, i == 5 ? 6000 : random() % 300);
    const mcap::Bytes suffix = content(random, i == 6 ? 5000 : random() % 8);
    const FrameChunk frame{.head = head(channel, i),
                           .prefix = prefix,
                           .payload = payload.view(),
                           .suffix = suffix,
                           .checksum = i % 2 == 0};
    Written w{channel, static_cast<std::uint32_t>(i), prefix};
    w.data.insert(w.data.end(), payload.data(), payload.data() + payload.size());
    w.data.insert(w.data.end(), suffix.begin(), suffix.end());
    content_of_chunk.push_back({std::move(w)});
    placed.push_back(layout.place(frame));
    payloads_.push_back(std::move(payload));
    batches_.emplace_back();
  }

  void add_batch(std::mt19937& random, std::size_t i) {
    Batch batch;
    content_of_chunk.emplace_back();
    for (std::size_t k = 0; k < 40; ++k) {
      const auto channel = static_cast<std::uint16_t>(4 + k % 3 * k % 2);
      know(channel);
      Written w{channel, static_cast<std::uint32_t>(k), content(random, random() % 400)};
      batch.add(head(channel, k), w.data, {}, {});
      content_of_chunk.back().push_back(std::move(w));
    }
    batch.close(compressor_[i % 2], true);
    placed.push_back(layout.place(batch));
    payloads_.emplace_back();
    batches_.push_back(std::move(batch));
  }

  void write_body(std::size_t i) {
    const PlacedChunk& p = placed[i];
    disk.write(p.body_offset, p.payload);
    disk.write(p.body_offset + p.payload.size(), placed[i].tail.blocks());
    disk.write(p.body_offset, batches_[i].body().blocks());
  }
  void write_head(std::size_t i) { disk.write(placed[i].head_offset, placed[i].head.blocks()); }

  [[nodiscard]] mcap::Bytes finished(std::size_t chunks) {
    auto trailer = layout.finish(chunks, chunks == 0 ? start_ : placed[chunks - 1].end,
                                 {{.name = "losses", .metadata = {{"/a", "none"}}}});
    MemoryDisk copy = disk;
    copy.write(trailer.offset, trailer.bytes.blocks());
    copy.bytes().resize(trailer.file_bytes);
    return copy.bytes();
  }

  /// Reads a file and expects just the first `chunks` chunks in it.
  void expect_chunks(const mcap::Bytes& bytes, std::size_t chunks, bool complete) const {
    const FileOnDisk file(bytes);
    const mcap::Reader reader(file.path(), {.scanning = {.mount = mcap::MountIdentity{"here", "1", {}}}});
    EXPECT_EQ(reader.complete(), complete);
    EXPECT_EQ(reader.summary().chunks().size(), chunks);
    std::vector<mcap::test::Sample> expected;
    for (std::size_t i = 0; i < chunks; ++i)
      for (const Written& w : content_of_chunk[i]) expected.push_back({w.channel, w.sequence, time_of(w), w.data});
    auto found = mcap::test::read_all(reader);
    const auto by_all = [](const auto& a, const auto& b) {
      return std::tie(a.channel, a.sequence, a.log_time, a.data) < std::tie(b.channel, b.sequence, b.log_time, b.data);
    };
    std::sort(found.begin(), found.end(), by_all);
    std::sort(expected.begin(), expected.end(), by_all);
    EXPECT_EQ(found, expected);
    mcap::Messages messages = reader.messages();
    while (const auto one = messages.next())
      EXPECT_EQ(one->message.source_time, source_time_of(one->message.channel_id, one->message.sequence));
    EXPECT_TRUE(messages.problems().empty());
  }

  MemoryDisk disk;
  SeamLayout layout;
  std::vector<PlacedChunk> placed;
  std::vector<std::vector<Written>> content_of_chunk;

 private:
  /// Of two channels in three; of those, not of every message.
  static std::int64_t source_time_of(std::uint16_t channel, std::uint32_t sequence) {
    return channel % 3 == 0 || sequence % 4 == 1 ? 0 : -1'000'000'007 * std::int64_t{channel} - sequence;
  }
  static std::uint64_t time_of(const Written& w) { return 1000 + 10 * w.sequence; }
  static MessageHead head(std::uint16_t channel, std::size_t i) {
    return {.channel = channel,
            .sequence = static_cast<std::uint32_t>(i),
            .log_time = 1000 + 10 * i,
            .publish_time = 7,
            .source_time = source_time_of(channel, static_cast<std::uint32_t>(i))};
  }
  // Zeros, and bytes that look like records: the possible remains of an unfinished chunk.
  static mcap::Bytes content(std::mt19937& random, std::size_t bytes) {
    mcap::Bytes all(bytes);
    for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(random() % 3 == 0 ? random() % 16 : 5);
    return all;
  }
  void know(std::uint16_t channel) {
    if (known_.size() <= channel) known_.resize(channel + std::size_t{1});
    if (known_[channel]) return;
    known_[channel] = true;
    if (channel == 1)
      layout.add(mcap::Schema{.id = 1, .name = "t/T", .encoding = "ros2msg", .data = mcap::Bytes(5000)});
    layout.add(mcap::Channel{
        .id = channel, .schema_id = 1, .topic = "/c" + std::to_string(channel), .message_encoding = "cdr"});
  }

  Seam start_;
  std::vector<AlignedBuffer> payloads_;
  std::vector<Batch> batches_;
  std::vector<mcap::Compressor> compressor_;
  std::vector<bool> known_;
};

TEST(SeamLayout, AFinishedFileIsWholeAndItsLargeSamplesBeginAtBlocks) {
  Recording r(24);
  for (std::size_t i = 0; i < r.placed.size(); ++i) r.write_body(i), r.write_head(i);
  const mcap::Bytes file = r.finished(r.placed.size());
  r.expect_chunks(file, r.placed.size(), true);
  const FileOnDisk on_disk(file);
  const auto verification = mcap::verify(on_disk.path());
  EXPECT_TRUE(verification.good());
  for (const auto& problem : verification.problems) ADD_FAILURE() << problem.offset << ": " << problem.cause;
  for (const PlacedChunk& p : r.placed) {
    EXPECT_EQ(p.body_offset % kBlock, 0U);
    EXPECT_EQ(p.head_offset % kBlock, 0U);
    EXPECT_EQ(p.payload.size() % kBlock, 0U);
  }
}

TEST(SeamLayout, AnEmptyRecordingIsAFile) {
  Recording r(0);
  const FileOnDisk file(r.finished(0));
  EXPECT_TRUE(mcap::verify(file.path()).good());
}

TEST(SeamLayout, ACrashAfterAnyWriteLeavesWholeChunks) {
  constexpr std::size_t kChunks = 16;
  Recording r(kChunks);
  r.expect_chunks(r.disk.bytes(), 0, false);
  r.write_body(0);
  for (std::size_t i = 0; i < kChunks; ++i) {
    if (i + 1 < kChunks) r.write_body(i + 1);  // bodies run ahead of heads
    r.expect_chunks(r.disk.bytes(), i, false);
    r.write_head(i);
    r.expect_chunks(r.disk.bytes(), i + 1, false);
    const FileOnDisk ended(r.finished(i + 1));  // the file can end after any of them
    EXPECT_TRUE(mcap::verify(ended.path()).good()) << i;
  }
}

TEST(SeamLayout, BodiesInAnyOrderAreNotSeenBeforeTheirHeads) {
  constexpr std::size_t kChunks = 12;
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    Recording r(kChunks);
    std::vector<std::size_t> order(kChunks);
    for (std::size_t i = 0; i < kChunks; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<bool> body(kChunks), head(kChunks);
    for (const std::size_t next : order) {
      r.write_body(next);
      body[next] = true;
      // Heads whose own body and the one before are there, in whatever order.
      for (const std::size_t i : order)
        if (body[i] && (i == 0 || body[i - 1]) && !head[i] && random() % 2 == 0) r.write_head(i), head[i] = true;
      const auto first_without = std::find(head.begin(), head.end(), false) - head.begin();
      r.expect_chunks(r.disk.bytes(), static_cast<std::size_t>(first_without), false);
    }
  }
}

TEST(SeamLayout, AFileThatIsCutAnywhereGivesWhatIsWhole) {
  Recording r(5);  // up to the first long one
  for (std::size_t i = 0; i < r.placed.size(); ++i) r.write_body(i), r.write_head(i);
  const mcap::Bytes file = r.disk.bytes();
  // Every byte of a seam, and some of the long parts between them.
  std::size_t chunks = 0;
  for (std::size_t bytes = r.layout.preamble().size(); bytes <= file.size();
       bytes += bytes % kBlock < 100 || bytes % kBlock > kBlock - 200 ? 1U : 411U) {
    const FileOnDisk cut(mcap::View(file).first(bytes));
    const mcap::Reader reader(cut.path(), {.scanning = {.mount = mcap::MountIdentity{"here", "1", {}}}});
    EXPECT_GE(reader.summary().chunks().size(), chunks) << bytes;
    chunks = reader.summary().chunks().size();
    std::size_t expected = 0;
    for (std::size_t i = 0; i < chunks; ++i) expected += r.content_of_chunk[i].size();
    EXPECT_EQ(mcap::test::read_all(reader).size(), expected);
  }
  EXPECT_EQ(chunks, r.placed.size());
}

TEST(SeamLayout, AfterAPowerLossChunksWithoutAChecksumCountUpToTheMark) {
  const mcap::MountIdentity then{"before the power loss", "7", "ext4 sda1 99"};
  Recording r(3, {.mount = then});  // chunk 0 and 2 have a checksum, 1 has none
  for (std::size_t i = 0; i < 3; ++i) r.write_body(i), r.write_head(i);
  mcap::MountIdentity now{"after it", "7", "ext4 sda1 99"};
  const auto chunks = [&](bool search = false) {
    const FileOnDisk file(r.disk.bytes());
    const mcap::Reader reader(file.path(), {.scanning = {.search = search, .mount = now}});
    EXPECT_TRUE(reader.summary().chunks().size() == 3 || reader.lossy());
    return reader.summary().chunks().size();
  };
  EXPECT_EQ(chunks(), 1U);
  EXPECT_EQ(chunks(true), 2U) << "a repair takes chunks with a checksum after them";
  // The kernel lives, the disk went and came back: it is mounted again.
  now = {then.boot_id, "8", "ext4 sda1 120"};
  EXPECT_EQ(chunks(), 1U);
  now = {then.boot_id, {}, {}};
  EXPECT_EQ(chunks(), 1U) << "nobody knows";
  now = {then.boot_id, "7", {}};
  EXPECT_EQ(chunks(), 3U) << "the recorder died, nothing else";
  now = {then.boot_id, "8", "ext4 sda1 99"};
  EXPECT_EQ(chunks(), 3U) << "the same file system, from another container";
  now.boot_id = "after it";
  const auto mark = [&](std::uint64_t durable) {
    AlignedBuffer block = r.layout.mark(durable);
    ASSERT_EQ(block.size(), kBlock);
    r.disk.write(0, block.view());
  };
  mark(r.placed[1].body_offset);
  EXPECT_EQ(chunks(), 1U);
  mark(r.placed[2].body_offset);
  EXPECT_EQ(chunks(), 3U);
  // A finished file needs no mark.
  mark(0);
  const FileOnDisk file(r.finished(3));
  EXPECT_TRUE(mcap::Reader(file.path(), {.rescan = true, .scanning = {.mount = now}}).complete());
}

}  // namespace
}  // namespace cardan::record
