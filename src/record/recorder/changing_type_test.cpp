// SPDX-License-Identifier: Apache-2.0
// A topic whose type is another one when its publisher comes again.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "src/record/recorder/recording_test.hpp"

namespace changing_type_test {
struct First {
  std::uint32_t a = 0;
};
struct Second {
  double b = 0;
  std::uint8_t c = 0;
};
struct alignas(32) Strange {
  std::uint64_t d = 0;
};
}  // namespace changing_type_test
CARDAN_MESSAGE(changing_type_test::First, "y_msgs/msg/Y", a);
CARDAN_MESSAGE(changing_type_test::Second, "y_msgs/msg/Y", b, c);
CARDAN_MESSAGE(changing_type_test::Strange, "y_msgs/msg/Strange", d);

namespace cardan::record {
namespace {

using namespace test;
using changing_type_test::First;
using changing_type_test::Second;
using changing_type_test::Strange;

class ChangingType : public RecorderTest {};

constexpr const char* kTopic = "/changes";

template <class T>
void publish_some(Recorder& recorder, std::uint64_t messages) {
  Publisher out{Topic<T>{kTopic, {.depth = 64}}};
  const std::uint64_t before = recorder.report().recorded;
  for (std::uint64_t i = 0; i < messages; ++i) out.publish(T{});
  EXPECT_TRUE(reaches([&] { return recorder.report().recorded == before + messages; }));
}

TEST_F(ChangingType, HasAChannelForEachOfItsTypes) {
  RecorderOptions o = options();
  o.topics = {kTopic};
  o.split_bytes = 1 << 30;
  Recorder recorder(o);
  publish_some<First>(recorder, 5);
  publish_some<Second>(recorder, 7);
  publish_some<First>(recorder, 3);  // the first type again: no third channel
  recorder.stop();
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.recorded, 15U);
  EXPECT_EQ(report.lost + report.refused + report.unreadable, 0U);
  EXPECT_TRUE(report.missing.empty());
  ASSERT_EQ(report.topics.size(), 2U);
  ASSERT_EQ(report.files.size(), 1U);
  expect_good(report.files[0]);
  const mcap::Reader reader(report.files[0]);
  std::map<std::string, std::uint64_t> messages;  // by schema
  for (const auto& [id, channel] : reader.summary().channels()) {
    EXPECT_EQ(channel.topic, kTopic);
    const mcap::Bytes& text = reader.summary().schemas().at(channel.schema_id).data;
    messages[{reinterpret_cast<const char*>(text.data()), text.size()}] +=
        reader.summary().statistics().channel_message_counts.at(id);
  }
  EXPECT_EQ(messages, (std::map<std::string, std::uint64_t>{{"uint32 a\n", 8}, {"float64 b\nuint8 c\n", 7}}));
  for (const mcap::MetadataIndex& index : reader.summary().metadata())
    if (index.name == "cardan.losses") {
      EXPECT_EQ(reader.metadata(index)->metadata.size(), 2U) << "an account of each";
    }
}

TEST_F(ChangingType, TwoTypesAtOnceAreBothRecorded) {
  Recorder recorder(options());
  Publisher first{Topic<First>{kTopic, {.depth = 64}}};
  Publisher second{Topic<Second>{kTopic, {.depth = 64}}};
  for (int i = 0; i < 10; ++i) first.publish(First{}), second.publish(Second{});
  EXPECT_TRUE(reaches([&] { return recorder.report().recorded == 20; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
}

TEST_F(ChangingType, ATypeThatCannotBeRecordedIsCountedAndNamed) {
  Recorder recorder(options());
  publish_some<First>(recorder, 5);
  {
    Publisher strange{Topic<Strange>{kTopic, {}}};
    EXPECT_TRUE(reaches([&] { return recorder.report().unreadable == 1; }));
  }
  recorder.stop();
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.unreadable, 1U);
  EXPECT_EQ(report.recorded, 5U);
  std::set<std::string> problems;
  for (const TopicReport& topic : report.topics) problems.insert(topic.problem);
  EXPECT_NE(problems.rbegin()->find("y_msgs/msg/Strange"), std::string::npos) << *problems.rbegin();
}

TEST_F(ChangingType, ANamedTopicThatNeverCameIsReported) {
  Publisher strange{Topic<Strange>{"/strange", {}}};
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.topics = {kImu.name, "/never", "/strange", "/camera/*"};
  Recorder recorder(o);
  publish_imu(imu, 1);
  EXPECT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().missing, (std::vector<std::string>{"/never", "/strange"}));
}

}  // namespace
}  // namespace cardan::record
