// SPDX-License-Identifier: Apache-2.0
#include "src/messages/ros_schema.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"

namespace cardan {
namespace {

using Kind = RosType::Kind;
using Many = RosType::Many;

TEST(RosSchema, ReadsWhatRosWrites) {
  const RosSchema schema("test_msgs/msg/All", R"(# a comment
uint8 DEBUG=1           # a constant
string NAME = "a # b"
std_msgs/Header header
bool ok true            # a default
float64[36] covariance
uint8[] data
string<=10[<=3] names
Point[2] corners
wstring wide
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: test_msgs/Point
float32 x
float32 y
)");
  const RosMessage& root = schema.root();
  EXPECT_EQ(root.name, "test_msgs/All");
  ASSERT_EQ(root.fields.size(), 7U);
  EXPECT_EQ(root.fields[0].name, "header");
  ASSERT_NE(root.fields[0].type.message, nullptr);
  EXPECT_EQ(root.fields[0].type.message->fields[0].type.message->fields[1].name, "nanosec");
  EXPECT_EQ(root.fields[1].type.kind, Kind::Bool);
  EXPECT_EQ(root.fields[2].type.many, Many::Fixed);
  EXPECT_EQ(root.fields[2].type.count, 36U);
  EXPECT_EQ(root.fields[3].type.many, Many::List);
  EXPECT_EQ(root.fields[4].type.kind, Kind::String);
  EXPECT_EQ(root.fields[4].type.many, Many::List);
  EXPECT_EQ(root.fields[5].type.message->name, "test_msgs/Point");
  EXPECT_EQ(root.fields[6].type.kind, Kind::WString);
}

TEST(RosSchema, ReadsOurOwnSchemas) {
  const std::string text = detail::schema_text<Image>();
  const RosSchema schema("sensor_msgs/msg/Image", text);
  EXPECT_EQ(schema.root().fields.back().name, "data");
  EXPECT_EQ(schema.root().fields.back().type.many, Many::List);
}

TEST(RosSchema, SaysWhatMakesNoSense) {
  for (const char* text : {"uint8", "uint8[ x", "uint8[two] x", "nowhere/Type x", "Self x"})
    EXPECT_THROW(RosSchema("a/msg/Self", text), Error) << text;
}

/// A definition of `levels` messages, each with ten fields of the next.
std::string tower(int levels) {
  std::string text;
  for (int i = 0; i <= levels; ++i) {
    if (i > 0) text += "====\nMSG: a/L" + std::to_string(i) + "\n";
    for (int f = 0; f < 10; ++f)
      text += (i < levels ? "L" + std::to_string(i + 1) : std::string("uint8")) + " f" + std::to_string(f) + "\n";
  }
  return text;
}

TEST(RosSchema, ManyPathsThroughADefinitionTakeNoTime) {
  const RosSchema schema("a/msg/L0", tower(32));  // 10^32 of them
  EXPECT_EQ(schema.root().fields.size(), 10U);
  EXPECT_THROW(RosSchema("a/msg/L0", tower(33)), Error) << "nested too deep";
  EXPECT_THROW(RosSchema("a/msg/L0", "A x\n====\nMSG: a/A\nB x\n====\nMSG: a/B\nA x\n"), Error) << "in itself";
}

TEST(RosSchema, TheEventsOfAServiceByItsOwnText) {
  const std::string line(80, '=');
  const RosSchema schema("own_msgs/srv/Add_Event",
                         line +
                             "\nSRV: own_msgs/srv/Add\nint64 a  # a number\nPoint where\n---\n"
                             "int64 sum\n\n" +
                             line + "\nMSG: own_msgs/Point\nfloat64 x\n");
  const auto& fields = schema.root().fields;
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].type.message->name, "service_msgs/ServiceEventInfo");
  EXPECT_EQ(fields[0].type.message->fields.size(), 4U);
  for (const std::size_t half : {1U, 2U}) {
    EXPECT_EQ(fields[half].type.many, RosType::Many::List);
    EXPECT_EQ(fields[half].type.bound, 1U);
  }
  EXPECT_EQ(fields[1].type.message->fields.size(), 2U);
  EXPECT_EQ(fields[1].type.message->fields[1].type.message->name, "own_msgs/Point");
  EXPECT_EQ(fields[2].type.message->fields[0].name, "sum");

  EXPECT_TRUE(RosSchema("own_msgs/srv/Ping_Event", "---\n").root().fields[1].type.message->fields.empty());
  EXPECT_THROW(RosSchema("own_msgs/srv/Add_Event", "Missing a\n---\n"), Error);
  EXPECT_EQ(RosSchema("own_msgs/msg/Crash_Event", "int64 a\n").root().fields.size(), 1U) << "a message of that name";
}

}  // namespace
}  // namespace cardan
