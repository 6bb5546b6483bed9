// SPDX-License-Identifier: Apache-2.0
// A recorder's own files as other tools take them: messages in the order of their log times, parts that become one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cardan/mcap/record_reader.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "src/record/recorder/bag_folder.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

/// Messages in a file, in their order there, whose log time is less than one before: what `mcap doctor` warns of.
std::size_t messages_out_of_order(const std::string& path, std::size_t& messages) {
  std::ifstream file(path, std::ios::binary);
  mcap::RecordReader reader([&](std::span<std::byte> into) {
    file.read(reinterpret_cast<char*>(into.data()), std::ssize(into));
    return static_cast<std::size_t>(file.gcount());
  });
  std::uint64_t last = 0;
  std::size_t back = 0;
  messages = 0;
  while (const auto record = reader.next()) {
    if (!record->is(mcap::Opcode::Message)) continue;
    const auto message = mcap::decode<mcap::Message>(record->content);
    if (!message) continue;
    ++messages;
    if (message->log_time < last) ++back;
    last = std::max(last, message->log_time);
  }
  EXPECT_EQ(reader.finish().how, mcap::Finish::How::Complete);
  return back;
}

class FileOrder : public RecorderTest {
 protected:
  /// Frames, and small samples between them.
  static std::uint64_t publish_some(Publisher<Image>& camera, Publisher<Imu>& imu, std::uint32_t from,
                                    std::uint32_t frames) {
    std::uint32_t number = (from - 1) * 3;
    for (std::uint32_t i = from; i < from + frames; ++i) {
      for (int k = 0; k < 3; ++k) publish_imu(imu, ++number), std::this_thread::sleep_for(300us);
      publish_image(camera, i);
    }
    return 4U * frames;
  }
};

TEST_F(FileOrder, LogTimesDoNotGoBack) {
  for (const auto compression : {mcap::Compression::None, mcap::Compression::Zstd}) {
    auto o = options();
    o.path = folder_ + (compression == mcap::Compression::None ? "/plain.mcap" : "/packed.mcap");
    o.compression = compression;
    Publisher camera{kCamera};
    Publisher imu{kImu};
    Recorder recorder(o);
    const std::uint64_t sent = publish_some(camera, imu, 1, 40);
    ASSERT_TRUE(reaches([&] {
      const auto report = recorder.report();
      return of_topic(report, "/camera").recorded + of_topic(report, "/imu").recorded == sent;
    }));
    recorder.stop();
    expect_good(o.path);
    std::size_t messages = 0;
    EXPECT_EQ(messages_out_of_order(o.path, messages), 0U);
    EXPECT_GE(messages, sent);
  }
}

TEST_F(FileOrder, PartsOfARecordingBecomeOneFile) {
  std::ofstream(folder_ + "/notes.txt") << "calibrated on Monday";
  auto o = options();
  o.split_bytes = std::uint64_t{1} << 40;  // when it is told to
  o.statistics = false;
  o.attachments = {folder_ + "/notes.txt"};
  o.metadata = {{"drive", {{"weather", "rain"}}}};
  constexpr std::uint32_t kParts = 3, kFrames = 5;
  Publisher camera{kCamera};
  Publisher imu{kImu};
  {
    Recorder recorder(o);
    std::uint64_t sent = 0;
    for (std::uint32_t part = 0; part < kParts; ++part) {
      if (part != 0) recorder.split();
      if (part != 0) {
        ASSERT_TRUE(reaches([&] { return recorder.report().files.size() == part; }));
      }
      sent += publish_some(camera, imu, part * kFrames + 1, kFrames);
      ASSERT_TRUE(reaches([&] { return recorder.report().recorded == sent; }));
    }
    recorder.stop();
  }
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    if (entry.path().extension() == ".mcap") parts.push_back(entry.path().string());
  ASSERT_EQ(parts.size(), kParts);
  std::sort(parts.begin(), parts.end());
  const std::string all = folder_ + "/all.out";
  const mcap::Rewritten merged = mcap::rewrite(parts, all, {});
  EXPECT_TRUE(merged.troubles.empty());
  expect_good(all);
  EXPECT_EQ(numbers_in(all, "/camera"), up_to(kParts * kFrames));
  EXPECT_EQ(numbers_in(all, "/imu"), up_to(kParts * kFrames * 3));
  const mcap::Reader reader(all);
  EXPECT_EQ(reader.summary().channels().size(), 2U);
  EXPECT_EQ(reader.summary().schemas().size(), 2U);
  EXPECT_EQ(reader.summary().attachments().size(), 1U);
  std::map<std::string, int> names;
  for (const mcap::MetadataIndex& index : reader.summary().metadata()) ++names[index.name];
  EXPECT_EQ(names["drive"], 1);
  EXPECT_EQ(names["cardan"], 1);
  EXPECT_EQ(names[mcap::kMarkName], 0) << "it is of the file that a recorder wrote";
  std::size_t messages = 0;
  EXPECT_EQ(messages_out_of_order(all, messages), 0U);
}

TEST_F(FileOrder, ChannelsWithoutMessagesStay) {
  {
    Publisher camera{kCamera};
    Publisher imu{kImu};
    Recorder recorder(options());
    publish_image(camera, 1);
    ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), "/camera").recorded == 1; }));
    std::this_thread::sleep_for(2ms);
    publish_imu(imu, 1);
    ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), "/imu").recorded == 1; }));
    recorder.stop();
  }
  const std::string path = folder_ + "/a.mcap", out = folder_ + "/out";
  std::uint64_t imu_time = 0;
  {
    const mcap::Reader reader(path);
    mcap::Messages messages = reader.messages({.wanted = [](const mcap::Channel& c) { return c.topic == "/imu"; }});
    const auto message = messages.next();
    ASSERT_TRUE(message);
    imu_time = message->message.log_time;
  }
  const auto topics_of = [](const std::string& file) {
    std::vector<std::string> topics;
    const mcap::Reader reader(file);
    for (const auto& [id, channel] : reader.summary().channels())
      if (!channel.topic.starts_with("/cardan/")) topics.push_back(channel.topic);
    std::sort(topics.begin(), topics.end());
    return topics;
  };
  const std::vector<std::string> both{"/camera", "/imu"};
  mcap::rewrite({path}, out + "1", {.read = {.end = imu_time}});  // a cut before its first message
  expect_good(out + "1");
  EXPECT_EQ(topics_of(out + "1"), both);
  mcap::rewrite({out + "1", out + "1"}, out + "2", {});  // a merge
  EXPECT_EQ(topics_of(out + "2"), both);
  mcap::rewrite({out + "2"}, out + "3", {.open = {.rescan = true, .scanning = {.search = true}}});  // a repair
  EXPECT_EQ(topics_of(out + "3"), both);
  mcap::rewrite({path}, out + "4", {.read = {.wanted = [](const mcap::Channel& c) { return c.topic == "/camera"; }}});
  EXPECT_EQ(topics_of(out + "4"), std::vector<std::string>{"/camera"}) << "what was not wanted goes";
}

TEST(BagFolder, NamesFilesInTheirOrderAlsoIfALaterOneIsFinishedFirst) {
  BagFolder folder("/drive");
  for (const char* name : {"/drive/a_0001.mcap", "/drive/a_10000.mcap", "/drive/a_0003.mcap", "/drive/a_0002.mcap"})
    folder.add(name, {}, {}, {});
  const std::string text = folder.text();
  std::vector<std::size_t> places;
  for (const char* name : {"a_0001", "a_0002", "a_0003", "a_10000"}) places.push_back(text.find(name));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << text;
}

}  // namespace
}  // namespace cardan::record
