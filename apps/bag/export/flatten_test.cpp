// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/flatten.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "apps/bag/export/table_file.hpp"
#include "cardan/cdr_writer.hpp"
#include "cardan/error.hpp"

namespace {

using namespace cardan::apps;
using cardan::CdrWriter;
using cardan::Error;
using cardan::RosSchema;
using Strings = std::vector<std::string>;
using Json = nlohmann::ordered_json;

constexpr const char* kDefinition = R"(std_msgs/Header header
uint8 DEBUG=1
bool on
int8 small
uint64 large
float32 ratio
float64 distance
string name
float64[3] covariance
Wheel[2] wheels
uint8[100] blob
float32[] ranges
Wheel[] spare
int32 log_time
int32 log_time_
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: test_msgs/Wheel
string name
uint16 teeth
)";

struct Filled {
  std::vector<std::byte> bytes, suffix;
  explicit Filled(std::size_t ranges) {
    CdrWriter w(bytes, suffix, nullptr);
    w.number(std::int32_t{-5});
    w.number(std::uint32_t{7});
    w.string("base,link");
    w.boolean(true);
    w.number(std::int8_t{-3});
    w.number(std::numeric_limits<std::uint64_t>::max());
    w.number(0.1F);
    w.number(0.1);
    w.string("say \"hi\"\nthere");
    for (const double v : {1.0, std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
      w.number(v);
    for (const char* name : {"left", "right"}) {
      w.string(name);
      w.number(std::uint16_t{40});
    }
    for (int i = 0; i < 100; ++i) w.number(static_cast<std::uint8_t>(i));
    w.count(ranges);
    for (std::size_t i = 0; i < ranges; ++i) w.number(static_cast<float>(i));
    w.count(1);
    w.string("fifth");
    w.number(std::uint16_t{41});
    w.number(std::int32_t{11});
    w.number(std::int32_t{12});
  }
};

TEST(RosColumns, NameEveryNumberByWhereItStands) {
  const RosSchema schema("test_msgs/msg/Own", kDefinition);
  const RosColumns columns(schema, 4);
  EXPECT_EQ(columns.names(), (Strings{"header.stamp.sec",
                                      "header.stamp.nanosec",
                                      "header.frame_id",
                                      "on",
                                      "small",
                                      "large",
                                      "ratio",
                                      "distance",
                                      "name",
                                      "covariance_0",
                                      "covariance_1",
                                      "covariance_2",
                                      "wheels_0.name",
                                      "wheels_0.teeth",
                                      "wheels_1.name",
                                      "wheels_1.teeth",
                                      "blob.count",
                                      "blob",
                                      "ranges.count",
                                      "ranges",
                                      "spare.count",
                                      "spare",
                                      "log_time_",
                                      "log_time__"}))
      << "log_time is the table's own";
}

TEST(RosColumns, CellsAreTheMessagesValues) {
  const RosSchema schema("test_msgs/msg/Own", kDefinition);
  RosColumns columns(schema, 4);
  Strings cells{"left over"};
  ASSERT_TRUE(columns.cells(Filled(4).bytes, cells));
  EXPECT_EQ(cells, (Strings{"-5",
                            "7",
                            "base,link",
                            "true",
                            "-3",
                            "18446744073709551615",
                            "0.1",
                            "0.1",
                            "say \"hi\"\nthere",
                            "1",
                            "nan",
                            "-inf",
                            "left",
                            "40",
                            "right",
                            "40",
                            "100",
                            "",
                            "4",
                            "[0.0,1.0,2.0,3.0]",
                            "1",
                            R"([{"name":"fifth","teeth":41}])",
                            "11",
                            "12"}));
  EXPECT_EQ(columns.long_lists(), (std::set<std::string>{"blob"}));
}

TEST(RosColumns, OfLongListsOnlyTheCountIsThereAndTheyAreNamed) {
  const RosSchema schema("test_msgs/msg/Own", kDefinition);
  for (const std::size_t most : {4U, 64U, 70U}) {
    RosColumns columns(schema, most);
    Strings cells;
    ASSERT_TRUE(columns.cells(Filled(most + 1).bytes, cells));
    ASSERT_EQ(cells.size(), columns.names().size());
    EXPECT_EQ(cells[18], std::to_string(most + 1));
    EXPECT_EQ(cells[19], "");
    EXPECT_EQ(columns.long_lists(), (std::set<std::string>{"blob", "ranges"}));
  }
}

TEST(RosColumns, ADamagedMessageIsRefused) {
  const RosSchema schema("test_msgs/msg/Own", kDefinition);
  RosColumns columns(schema, 4);
  const std::vector<std::byte> whole = Filled(4).bytes;
  Strings cells;
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(columns.cells(std::span(whole).first(size), cells)) << size;
}

TEST(RosColumns, ADefinitionThatWouldBeMillionsOfColumnsIsRefused) {
  const std::string line = "\n" + std::string(80, '=') + "\nMSG: t/";
  std::string text = "A[64] a";
  for (const char* next : {"A", "B", "C", "D", "E"})
    text += line + next + "\n" + static_cast<char>(*next + 1) + "[64] x";
  const RosSchema numbers("t/Root", text + line + "F\nuint8 x");
  EXPECT_THROW(RosColumns(numbers, 4), Error);
  const RosSchema nothing("t/Root", text + line + "F\n");
  EXPECT_THROW(RosColumns(nothing, 4), Error) << "no columns, and yet no end";
}

TEST(RosColumns, ADefinitionWithAFieldTwiceIsRefused) {
  const RosSchema schema("t/Root", "uint8 x\nfloat64 x\n");
  EXPECT_THROW(RosColumns(schema, 4), Error);
}

TEST(JsonColumns, AreThoseOfAllMessages) {
  JsonColumns columns(2);
  const Json a = Json::parse(R"({"a":1,"b":{"c":"x","d":[1,2]},"e":null})");
  const Json b = Json::parse(R"({"b":{"c":true,"f":0.25},"log_time":3,"b.c":4,"d":[1,2,3]})");
  columns.see(a);
  columns.see(b);
  EXPECT_EQ(columns.names(),
            (Strings{"a", "b.c", "b.d.count", "b.d", "e", "b.f", "log_time_", "b\\.c", "d.count", "d"}));
  Strings cells;
  ASSERT_TRUE(columns.cells(a, cells));
  EXPECT_EQ(cells, (Strings{"1", "x", "2", "[1,2]", "", "", "", "", "", ""}));
  ASSERT_TRUE(columns.cells(b, cells));
  EXPECT_EQ(cells, (Strings{"", "true", "", "", "", "0.25", "3", "4", "3", ""}));
  EXPECT_EQ(columns.long_lists(), (std::set<std::string>{"d"}));
  EXPECT_FALSE(columns.cells(Json::parse(R"({"g":1})"), cells)) << "was not seen";
}

TEST(JsonColumns, AMessageNeedNotBeAnObject) {
  JsonColumns columns(4);
  columns.see(Json(5));
  columns.see(Json::array({1, "x"}));
  EXPECT_EQ(columns.names(), (Strings{"value", "value.count"}));
  Strings cells;
  ASSERT_TRUE(columns.cells(Json::array({1, "x"}), cells));
  EXPECT_EQ(cells, (Strings{R"([1,"x"])", "2"}));
}

TEST(JsonColumns, AMessageOfTooManyIsLeftOutAlone) {
  Json wide;
  for (std::size_t i = 0; i <= kMostColumns; ++i) wide["k" + std::to_string(i)] = i;
  JsonColumns columns(4);
  columns.see(wide);
  columns.see(Json{{"a", 1}});
  EXPECT_EQ(columns.names(), Strings{"a"});
  Strings cells;
  EXPECT_FALSE(columns.cells(wide, cells));
  EXPECT_TRUE(columns.cells(Json{{"a", 1}}, cells));
}

TEST(CsvRow, QuotesWhatNeedsIt) {
  std::string out;
  append_csv_row(out, {"a", "", "b,c", "say \"hi\"", "two\nlines", "ret\r", " space "});
  EXPECT_EQ(out, "a,,\"b,c\",\"say \"\"hi\"\"\",\"two\nlines\",\"ret\r\", space \n");
  append_csv_row(out, {});
  EXPECT_EQ(out.back(), '\n');
}

}  // namespace
