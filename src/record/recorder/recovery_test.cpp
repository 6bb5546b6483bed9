// SPDX-License-Identifier: Apache-2.0
// A recorder's own files, damaged everywhere: what is whole is found again, nothing is made up, and what is missing is
// said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cardan/mcap/rewrite.hpp"
#include "src/mcap/sample_file_test.hpp"
#include "src/record/chunks/aligned_buffer.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;
using mcap::test::FileOnDisk;

constexpr std::uint32_t kSide = 150;  // 67,500 bytes: just held, and no multiple of a block
constexpr Topic<Image> kFront{"/front", {.max_bytes = kSide * kSide * 3, .depth = 64}};
constexpr Topic<Image> kRear{"/rear", {.max_bytes = kSide * kSide * 3, .depth = 64}};
constexpr Topic<Imu> kWheels{"/wheels", {.depth = 1024}};

/// A message as a file has it.
struct Found {
  std::uint64_t log_time = 0, publish_time = 0;
  mcap::Bytes data;
  bool operator==(const Found&) const = default;
};
using Messages = std::map<std::pair<std::string, std::uint32_t>, Found>;

Messages messages_of(const mcap::Reader& reader, std::size_t* problems = nullptr) {
  Messages all;
  mcap::Messages messages = reader.messages();
  while (const auto m = messages.next()) {
    const auto [at, is_new] = all.try_emplace(
        {m->channel->topic, m->message.sequence},
        Found{m->message.log_time, m->message.publish_time, {m->message.data.begin(), m->message.data.end()}});
    EXPECT_TRUE(is_new) << at->first.first << " " << at->first.second << " is there twice";
  }
  if (problems != nullptr) *problems = messages.problems().size();
  return all;
}

mcap::Bytes read_file(const std::string& path, std::uint64_t bytes) {
  mcap::Bytes content(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::filesystem::file_size(path))));
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(content.data()), std::ssize(content));
  return content;
}

const mcap::MountIdentity kElsewhere{"another kernel", "1", {}};
const mcap::OpenOptions kRepair{.rescan = true, .scanning = {.search = true}};
const mcap::OpenOptions kRepairElsewhere{.rescan = true, .scanning = {.search = true, .mount = kElsewhere}};

class Recovery : public RecorderTest {
 protected:
  /// Frames and small samples of topics that come one after the other, so that schemas and channels are all over the
  /// file; and the file as it was just before its end.
  void record(RecorderOptions options) {
    options.chunk_time = 1ms;
    options.schedule.policy = SchedulePolicy::Asap;
    options.statistics = false;
    options.topics = {"/front", "/rear", "/imu", "/wheels"};
    options.metadata = {{"drive", {{"weather", "rain"}}}};
    std::ofstream(folder_ + "/notes.txt") << "calibrated on Monday";
    options.attachments = {folder_ + "/notes.txt"};
    Recorder recorder(options);
    std::uint64_t sent = 0;
    const auto all_recorded = [&] {
      ASSERT_TRUE(reaches([&] { return recorder.report().recorded == sent; })) << recorder.report().recorded;
    };
    Publisher front{kFront};
    for (std::uint32_t i = 1; i <= 2; ++i, ++sent) publish(front, i);
    all_recorded();
    Publisher imu{kImu};
    for (std::uint32_t i = 1; i <= 8; ++i, ++sent) publish_imu(imu, i);
    all_recorded();
    Publisher rear{kRear};
    publish(rear, 1), publish(front, 3), sent += 2;
    all_recorded();
    Publisher wheels{kWheels};
    for (std::uint32_t i = 1; i <= 5; ++i, sent += 2) publish_imu(wheels, i), publish_imu(imu, 8 + i);
    all_recorded();
    publish(rear, 2), ++sent;
    all_recorded();
    // After the written bytes, room is reserved.
    unfinished_ = read_file(options.path + ".active", recorder.report().bytes + (64 << 10));
    recorder.stop();
    finished_ = read_file(options.path, ~std::uint64_t{0});
    const mcap::Reader reader(options.path);
    expected_ = messages_of(reader);
    ASSERT_EQ(expected_.size(), sent);
    ASSERT_GE(reader.summary().chunks().size(), 7U);
    for (const mcap::ChunkIndex& chunk : reader.summary().chunks()) note_chunk(options.path, chunk);
  }

  struct Part {
    std::uint64_t begin = 0, end = 0;
    std::vector<std::pair<std::string, std::uint32_t>> messages;
  };

  void note_chunk(const std::string& path, const mcap::ChunkIndex& index) {
    Part part{.begin = index.chunk_start_offset,
              .end = index.chunk_start_offset + index.chunk_length + index.message_index_length,
              .messages = {}};
    Bytes bytes = read_file(path, part.begin + index.chunk_length);
    const auto chunk = mcap::decode<mcap::Chunk>(mcap::View(bytes).subspan(part.begin + mcap::kPrefixBytes));
    ASSERT_TRUE(chunk && chunk->compression.empty());
    for (mcap::View left = chunk->records; !left.empty();)
      if (const auto record = mcap::take_record(left); record && record->is(mcap::Opcode::Message)) {
        const auto message = mcap::decode<mcap::Message>(record->content);
        ASSERT_TRUE(message);
        for (const auto& [key, found] : expected_)
          if (key.second == message->sequence && found.log_time == message->log_time &&
              std::equal(found.data.begin(), found.data.end(), message->data.begin(), message->data.end()))
            part.messages.push_back(key);
      }
    parts_.push_back(std::move(part));
  }
  using Bytes = mcap::Bytes;

  static void publish(Publisher<Image>& out, std::uint32_t number) {
    auto loan = out.loan();
    ASSERT_TRUE(loan);
    const auto pixels = loan->resize(kSide, kSide, "bgr8");
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(number * 7 + i % 251);
    loan->header.stamp = number;
    out.publish(std::move(loan));
  }

  /// Where records begin, those at the top level of the file.
  static std::vector<std::pair<std::uint64_t, mcap::Prefix>> records_of(const Bytes& file) {
    std::vector<std::pair<std::uint64_t, mcap::Prefix>> all;
    for (std::size_t at = mcap::kMagic.size(); at + mcap::kPrefixBytes <= file.size();) {
      const mcap::Prefix prefix(mcap::View(file).subspan(at));
      if (prefix.opcode == 0) break;
      all.emplace_back(at, prefix);
      at += mcap::kPrefixBytes + prefix.length;
    }
    return all;
  }

  /// The bytes that say something: all around where records begin, and some of the long parts between them.
  static std::vector<std::size_t> places_in(const Bytes& file, std::size_t step) {
    std::vector<std::size_t> all;
    const auto records = records_of(file);
    std::size_t next = 0;
    for (std::size_t at = mcap::kMagic.size(); at < file.size();) {
      while (next + 1 < records.size() && records[next + 1].first <= at) ++next;
      const std::size_t into = at - records[next].first;
      all.push_back(at);
      at += into < 31 ? 1 : into < 100 ? 5 : step;
      if (into >= 31 && next + 1 < records.size() && at > records[next + 1].first) at = records[next + 1].first;
    }
    return all;
  }

  /// One damaged byte: what it may cost, and what has to be said of it.
  void check(const FileOnDisk& file, std::size_t at, bool payload_checked, bool names_are_twice) {
    SCOPED_TRACE("byte " + std::to_string(at));
    const mcap::Reader reader(file.path(), kRepair);
    std::size_t problems = 0;
    const Messages found = messages_of(reader, &problems);
    // Names are in an unfinished file once, without a checksum.
    const bool name_lost = !names_are_twice && in_name(at);
    for (const auto& [key, message] : found) {
      const auto known = expected_.find(key);
      if (name_lost) continue;
      const bool own = in_part_of(key, at);
      if (!payload_checked && own) continue;
      ASSERT_NE(known, expected_.end()) << key.first << " " << key.second << " was never recorded";
      ASSERT_TRUE(known->second == message) << key.first << " " << key.second << " was not recorded so";
    }
    // The mark's value is unknown then.
    const bool mark_lost = !names_are_twice && at < kBlock;
    for (const Part& part : parts_) {
      if ((at >= part.begin && at < part.end) || name_lost) continue;
      for (const auto& key : part.messages) {
        const bool frame = key.first == kFront.name || key.first == kRear.name;
        if (mark_lost && frame && !payload_checked) continue;
        ASSERT_TRUE(found.contains(key)) << key.first << " " << key.second << " is in an intact chunk, and was lost";
      }
    }
    if (found.size() < expected_.size()) {
      ASSERT_TRUE(reader.lossy() || problems != 0) << expected_.size() - found.size() << " are missing, unsaid";
    }
    ASSERT_LE(found.size(), expected_.size());
  }

  [[nodiscard]] bool in_part_of(const std::pair<std::string, std::uint32_t>& key, std::size_t at) const {
    // Its number may be what is damaged.
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      return at >= part.begin && at < part.end &&
             (!expected_.contains(key) ||
              std::find(part.messages.begin(), part.messages.end(), key) != part.messages.end());
    });
  }

  [[nodiscard]] bool in_name(std::size_t at) const {
    for (const auto& [begin, prefix] : records_of(finished_))
      if ((prefix.is(mcap::Opcode::Schema) || prefix.is(mcap::Opcode::Channel)) && at >= begin &&
          at < begin + mcap::kPrefixBytes + prefix.length)
        return true;
    return false;
  }

  void damage_everywhere(const Bytes& whole, bool payload_checked, bool names_are_twice) {
    Bytes bytes = whole;
    const FileOnDisk file(bytes);
    std::fstream disk(file.path(), std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](std::size_t at, std::byte value) {
      disk.seekp(static_cast<std::streamoff>(at));
      disk.put(static_cast<char>(value));
      disk.flush();
    };
    constexpr std::byte kChanges[]{std::byte{0x01}, std::byte{0x80}, std::byte{0xff}};
    for (const std::size_t at : places_in(whole, 997)) {
      const std::size_t how = at % 4;
      const std::byte change = how < 3 ? kChanges[how] : whole[at];  // becomes 0
      if (change == std::byte{0}) continue;
      put(at, whole[at] ^ change);
      check(file, at, payload_checked, names_are_twice);
      if (HasFatalFailure()) return;
      put(at, whole[at]);
    }
  }

  Bytes finished_, unfinished_;
  Messages expected_;
  std::vector<Part> parts_;
};

TEST_F(Recovery, ADamagedByteOfAFinishedFileCostsItsOwnChunkAtMost) {
  auto o = options();
  o.held_checksums = true;
  record(o);
  if (HasFatalFailure()) return;
  damage_everywhere(finished_, true, true);
}

TEST_F(Recovery, ADamagedByteOfAnUnfinishedFileCostsItsOwnChunkAtMost) {
  auto o = options();
  o.held_checksums = true;
  record(o);
  if (HasFatalFailure()) return;
  damage_everywhere(unfinished_, true, false);
}

TEST_F(Recovery, ADamagedByteOfAFileWithoutChecksumsCostsItsOwnChunkAtMost) {
  record(options());
  if (HasFatalFailure()) return;
  damage_everywhere(unfinished_, false, false);
}

TEST_F(Recovery, ASchemaAfterASkippedFrameIsFound) {
  record(options());
  if (HasFatalFailure()) return;
  // The second frame's head; after it come the schema and the channel of /imu.
  Bytes bytes = unfinished_;
  bytes[static_cast<std::size_t>(parts_[1].begin) + 1] ^= std::byte{0x40};
  const FileOnDisk file(bytes);
  const mcap::Reader reader(file.path(), kRepair);
  const Messages found = messages_of(reader);
  EXPECT_EQ(found.size(), expected_.size() - 1);
  EXPECT_FALSE(found.contains({"/front", 2}));
  ASSERT_EQ(reader.gaps().size(), 1U);
  EXPECT_EQ(reader.gaps()[0].begin, parts_[1].begin);
}

TEST_F(Recovery, AnUnfinishedWriteOfARecorderThatDiedIsNotALoss) {
  record(options());
  if (HasFatalFailure()) return;
  // Bodies are written before their heads, so that the last frame may be there without being one.
  Bytes bytes = unfinished_;
  const auto begin = static_cast<std::size_t>(parts_.back().begin);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), kBlock - begin % kBlock, std::byte{0});
  const FileOnDisk file(bytes);
  const mcap::Reader reader(file.path(), kRepair);
  EXPECT_EQ(messages_of(reader).size(), expected_.size() - 1);
  EXPECT_FALSE(reader.lossy());
}

TEST_F(Recovery, AfterAPowerLossDataWithAChecksumIsFoundAfterFramesWithoutOne) {
  auto o = options();
  o.sync_interval = 0ns;  // the mark says that nothing was durable
  record(o);
  if (HasFatalFailure()) return;
  const FileOnDisk file(unfinished_);
  EXPECT_EQ(messages_of(mcap::Reader(file.path(), kRepair)), expected_) << "only the recorder died";
  const mcap::Reader reader(file.path(), kRepairElsewhere);
  const Messages found = messages_of(reader);
  for (const auto& [key, message] : expected_) {
    const bool frame = key.first == kFront.name || key.first == kRear.name;
    EXPECT_EQ(found.contains(key), !frame) << key.first << " " << key.second;
  }
  EXPECT_TRUE(reader.lossy());
  std::uint64_t messages = 0;
  for (const mcap::Gap& gap : reader.gaps()) messages += gap.messages;
  EXPECT_EQ(messages, expected_.size() - found.size());
}

TEST_F(Recovery, AFinishedFileThatIsCutElsewhereLosesItsEndOnly) {
  auto o = options();
  o.sync_interval = 0ns;
  record(o);
  if (HasFatalFailure()) return;
  const FileOnDisk file(mcap::View(finished_).first(finished_.size() - 30));
  EXPECT_EQ(messages_of(mcap::Reader(file.path(), kRepairElsewhere)), expected_);
  EXPECT_EQ(messages_of(mcap::Reader(file.path(), {.scanning = {.mount = kElsewhere}})), expected_);
  // In the middle of the last chunk.
  const FileOnDisk shorter(mcap::View(finished_).first(static_cast<std::size_t>(parts_.back().begin) + 500));
  const mcap::Reader reader(shorter.path(), kRepairElsewhere);
  EXPECT_EQ(messages_of(reader).size(), expected_.size() - parts_.back().messages.size());
  EXPECT_TRUE(reader.lossy());
}

TEST_F(Recovery, MessagesOfTheStatisticsThatAreNotFoundAreLosses) {
  record(options());
  if (HasFatalFailure()) return;
  Bytes bytes = finished_;
  // The middle of the file is gone, all chunks but the first and the last among it: neither magic nor summary suffer.
  const auto begin = static_cast<std::size_t>(parts_[1].begin), end = static_cast<std::size_t>(parts_.back().begin);
  // One unknown record that programs skip takes their place.
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + static_cast<std::ptrdiff_t>(end),
            std::byte{0x5a});
  bytes[begin] = std::byte{0x90};
  const std::uint64_t length = end - begin - mcap::kPrefixBytes;
  std::memcpy(bytes.data() + begin + 1, &length, sizeof length);
  const FileOnDisk file(bytes);
  const mcap::Reader reader(file.path(), kRepair);
  EXPECT_EQ(messages_of(reader).size(), parts_.front().messages.size() + parts_.back().messages.size());
  EXPECT_TRUE(reader.lossy());
  EXPECT_TRUE(std::any_of(reader.losses().begin(), reader.losses().end(), [](const mcap::Problem& p) {
    return p.cause.find("13 messages of /imu, but 0 were found") != std::string::npos;
  }));
  const std::string output = folder_ + "/out.mcap";
  const mcap::Rewritten result = mcap::rewrite({file.path()}, output, {.open = kRepair});
  EXPECT_FALSE(result.troubles.empty());
  // Whole chunks that a record swallowed are found where the index says.
  bytes = finished_;
  bytes[begin] = std::byte{0x90};
  std::memcpy(bytes.data() + begin + 1, &length, sizeof length);
  file.put(bytes);
  EXPECT_EQ(messages_of(mcap::Reader(file.path(), kRepair)).size(), expected_.size() - 1);
}

}  // namespace
}  // namespace cardan::record
