// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/log_line.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "cardan/cdr_reader.hpp"

namespace cardan::bridge {
namespace {

struct Line {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  std::uint8_t level = 0;
  std::string name{}, text{};
};

Line read(const std::vector<std::byte>& bytes) {
  CdrReader in{std::span<const std::byte>(bytes)};
  Line line;
  std::string_view name, text, file, function;
  std::uint32_t number = 1;
  EXPECT_TRUE(in.number(line.sec) && in.number(line.nanosec) && in.number(line.level) && in.string(name) &&
              in.string(text) && in.string(file) && in.string(function) && in.number(number));
  EXPECT_EQ(in.left(), 0U);
  EXPECT_EQ(number, 0U);
  line.name = name;
  line.text = text;
  return line;
}

TEST(LogLine, IsWhatRosCallsALogMessage) {
  const Line line = read(ros_log_line({1'500'000'002, LogLevel::Warning, "main", "brake", "it is hot"}));
  EXPECT_EQ(line.sec, 1);
  EXPECT_EQ(line.nanosec, 500'000'002U);
  EXPECT_EQ(line.level, 30);
  EXPECT_EQ(line.name, "brake");
  EXPECT_EQ(line.text, "it is hot");
  EXPECT_EQ(read(ros_log_line({0, LogLevel::Error, "main", "", "x"})).name, "main") << "the process wrote it";
  EXPECT_EQ(read(ros_log_line({0, LogLevel::Error, "", "", ""})).level, 40);
}

TEST(LogLine, AnyTextOfAnotherProcessBecomesABoundedLine) {
  const std::string text(100'000, 'x');
  const Line line =
      read(ros_log_line({std::numeric_limits<std::int64_t>::min(), static_cast<LogLevel>(77), "p", "", text}));
  EXPECT_EQ(line.level, 20);
  EXPECT_EQ(line.text.size(), kMostLogText);
}

}  // namespace
}  // namespace cardan::bridge
