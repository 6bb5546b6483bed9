// SPDX-License-Identifier: Apache-2.0
// The parts of a recording that ROS 2's tools look for: the profile, the metadata of the channels, the folder's
// metadata.yaml. tests/record/record_test.py has them read by another's reader.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "cardan/any_publisher.hpp"
#include "cardan/detail/encoded.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "src/record/recorder/bag_folder.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

class Ros2Readers : public RecorderTest {};

std::string profile_of(const std::string& path) { return mcap::Reader(path).header().profile; }

std::string rewritten(const std::vector<std::string>& inputs, const std::string& output,
                      const mcap::ReadOptions& read = {}) {
  (void)mcap::rewrite(inputs, output, {.read = read});
  expect_good(output);
  return profile_of(output);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Of an object that ROS 2 has no form for.
void publish_encoded(AnyPublisher& out) {
  auto loan = out.loan();
  ASSERT_TRUE(loan);
  EXPECT_TRUE(out.publish(std::move(loan)));
}

TEST_F(Ros2Readers, TheProfileIsRos2sWhereAllChannelsAre) {
  RecorderOptions o = options();
  o.split_time = 1h;
  Publisher imu{kImu};
  Recorder recorder(o);
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  EXPECT_EQ(profile_of(folder_ + "/a_0001.mcap.active"), "") << "it is not known yet what else will come";
  recorder.split();
  ASSERT_TRUE(reaches([&] { return recorder.report().files.size() == 1; }));
  AnyPublisher encoded("/thing", detail::encoded_type("my.Thing", "\nsomething"), {.max_bytes = 64, .depth = 8});
  publish_encoded(encoded);
  publish_imu(imu, 2);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 3; }));
  recorder.split();
  ASSERT_TRUE(reaches([&] { return recorder.report().files.size() == 2; }));
  recorder.stop();
  const auto files = recorder.report().files;
  ASSERT_EQ(files.size(), 3U);
  for (const std::string& file : files) expect_good(file);
  EXPECT_EQ(profile_of(files[0]), "ros2");
  EXPECT_EQ(profile_of(files[1]), "");
  EXPECT_EQ(profile_of(files[2]), "ros2") << "nothing is in it";
  // The result describes itself truly.
  EXPECT_EQ(rewritten({files[0]}, folder_ + "/one.mcap"), "ros2");
  EXPECT_EQ(rewritten({files[0], files[1]}, folder_ + "/both.mcap"), "");
  const mcap::ReadOptions only_imu{.wanted = [](const mcap::Channel& c) { return c.topic == kImu.name; }};
  EXPECT_EQ(rewritten({files[1]}, folder_ + "/imu.mcap", only_imu), "ros2");
}

TEST_F(Ros2Readers, ChannelsHaveWhatRosbag2Writes) {
  Publisher imu{kImu};
  Recorder recorder(options());
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  recorder.stop();
  const mcap::Reader reader(options().path);
  const auto& metadata = reader.summary().channels().begin()->second.metadata;
  EXPECT_EQ(metadata.at("topic_type_hash"), "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b");
  const std::string& qos = metadata.at("offered_qos_profiles");
  EXPECT_TRUE(qos.starts_with("- history: 1\n  depth: 1024\n  reliability: 1\n")) << qos;
}

TEST_F(Ros2Readers, AFolderOfItsOwnHasItsMetadata) {
  RecorderOptions o = options();
  o.path = folder_ + "/new/drive/drive.mcap";
  o.folder = true;
  o.split_time = 1h;
  o.on_full = OnFull::DeleteOldest;
  const std::string metadata = folder_ + "/new/drive/" + BagFolder::kName;
  {
    Publisher imu{kImu};
    Recorder recorder(o);
    publish_imu(imu, 1);
    publish_imu(imu, 2);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 2; }));
    recorder.split();
    ASSERT_TRUE(reaches([&] { return recorder.report().files.size() == 1; }));
    EXPECT_NE(text_of(metadata).find("  message_count: 2\n"), std::string::npos) << "before the recording ends";
    publish_imu(imu, 3);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 3; }));
    recorder.stop();
  }
  const std::string text = text_of(metadata);
  for (const char* const line :
       {"  version: 8\n", "  storage_identifier: mcap\n", "  message_count: 3\n", "    - \"drive_0001.mcap\"\n",
        "    - \"drive_0002.mcap\"\n", "        name: \"/imu\"\n", "        serialization_format: cdr\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  o.path = folder_ + "/new/drive/again.mcap";
  EXPECT_THROW(Recorder{o}, Error) << "it already has a recording";
}

TEST_F(Ros2Readers, AFlightRecorderThatNobodyTriggeredLeavesNoMetadata) {
  RecorderOptions o = options();
  o.folder = true;
  o.keep_last = 10s;
  Publisher imu{kImu};
  Recorder recorder(o);
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  recorder.stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Ros2Readers, TopicsThatRosCannotReadAreNotInTheMetadata) {
  BagFolder folder(folder_);
  mcap::Statistics statistics{.message_start_time = 100, .message_end_time = 150};
  statistics.channel_message_counts = {{1, 4}, {2, 5}};
  folder.add(
      folder_ + "/x.mcap", statistics,
      {{.id = 1, .name = "a_msgs/msg/A", .encoding = "ros2msg"}, {.id = 2, .name = "b.B", .encoding = "protobuf"}},
      {{.id = 1, .schema_id = 1, .topic = "/a", .message_encoding = "cdr"},
       {.id = 2, .schema_id = 2, .topic = "/b", .message_encoding = "protobuf"}});
  EXPECT_NE(folder.text().find("  message_count: 4\n"), std::string::npos) << folder.text();
  EXPECT_EQ(folder.text().find("/b"), std::string::npos) << folder.text();
  folder.add(folder_ + "/Straße \xf0\x9f\x98\x80.mcap", {}, {}, {});
  EXPECT_NE(folder.text().find("    - \"Straße \xf0\x9f\x98\x80.mcap\"\n"), std::string::npos) << folder.text();
  folder.remove(folder_ + "/Straße \xf0\x9f\x98\x80.mcap");
  folder.remove(folder_ + "/x.mcap");
  EXPECT_NE(folder.text().find("  message_count: 0\n"), std::string::npos) << folder.text();
}

}  // namespace
}  // namespace cardan::record
