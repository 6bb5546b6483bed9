// SPDX-License-Identifier: Apache-2.0
// Tables and live blocks on screens that are too small for them, and that change their size.
#include "src/terminal/screen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "src/terminal/output.hpp"

namespace cardan::terminal {
namespace {

Table table(int rows, int lost_in = -1) {
  Table t(
      {{"PROCESS"}, {"STATE"}, {"PID", true}, {"TRANSPORT", true}, {"COMPONENT"}, {"LOST", true}, {"FAILED", true}});
  t.trouble({"LOST", "FAILED"});
  t.keep({"COMPONENT", "PROCESS", "STATE"});
  t.carry_down(2);
  for (int i = 0; i < rows; ++i) {
    const bool first = i % 2 == 0;
    t.row({first ? "process_" + std::to_string(i / 2) : "", first ? "running" : "", "4711", "12 µs",
           "component_" + std::to_string(i), i == lost_in ? "3" : "0", "0"});
  }
  return t;
}

bool is_in(const std::string& part, const std::vector<std::string>& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

TEST(Screen, ColumnsOfTroubleStayWhenOthersHaveNoRoom) {
  for (const std::size_t width : {200U, 80U, 60U, 40U, 30U}) {
    const std::vector<std::string> lines = table(2, 1).lines({width, 24});
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_TRUE(is_in("LOST  FAILED", lines)) << width << "\n" << text_of(lines);
    EXPECT_TRUE(lines[2].ends_with("3       0")) << lines[2];
    for (const std::string& line : lines) EXPECT_LE(width_of(line), width) << line;
    EXPECT_EQ(is_in("TRANSPORT", lines), width >= 80) << text_of(lines);
  }
}

TEST(Screen, TheHeadAndRowsOfTroubleStayWhenOthersHaveNoRoom) {
  const std::vector<std::string> lines = table(50, 43).lines({80, 10});
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_TRUE(lines.front().starts_with("PROCESS")) << text_of(lines);
  EXPECT_TRUE(is_in("component_0 ", lines));
  EXPECT_TRUE(is_in("component_43 ", lines)) << "the one that lost\n" << text_of(lines);
  // It belongs to the process that the row above it would have named.
  EXPECT_TRUE(std::find_if(lines.begin(), lines.end(),
                           [](const std::string& l) {
                             return l.starts_with("process_21 ") && l.find("component_43") != std::string::npos;
                           }) != lines.end())
      << text_of(lines);
  EXPECT_EQ(lines.back(), "… 42 more");
  EXPECT_EQ(table(50).lines({80, 51}).size(), 51U);
  EXPECT_TRUE(is_in("… ", table(50).lines({80, 50})));

  Table all({{"NAME"}, {"LOST", true}});
  all.trouble({"LOST"});
  for (int i = 0; i < 9; ++i) all.row({std::to_string(i), "1"});
  EXPECT_EQ(all.lines({80, 5}).back(), "… 6 more, 6 of them with trouble");
}

TEST(Screen, ATableInFewColumnsBreaksNoWord) {
  Table table({{"NAME"}, {"TYPE"}, {"N", true}, {"WORDS"}});
  table.row({"/front/camera", "sensor_msgs/msg/Image", "12", "some words about it that follow"});
  table.row({"/a", "a/B", "3", ""});
  EXPECT_EQ(table.text(80), table.text());
  EXPECT_EQ(table.text(60),
            "NAME           TYPE                    N  WORDS\n"
            "/front/camera  sensor_msgs/msg/Image  12  some words about\n"
            "                                          it that follow\n"
            "/a             a/B                     3\n");
  EXPECT_EQ(table.text(40),
            "NAME           TYPE                    N\n"
            "    WORDS\n"
            "/front/camera  sensor_msgs/msg/Image  12\n"
            "    some words about it that follow\n"
            "/a             a/B                     3\n");
  for (std::size_t columns = 20; columns < 90; ++columns) {
    std::istringstream lines(table.text(columns));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(width_of(line), std::max<std::size_t>(columns, 25)) << "the longest word, indented";
    EXPECT_NE(table.text(columns).find("sensor_msgs/msg/Image"), std::string::npos) << columns;
  }
}

TEST(Screen, WidthsAreLettersWithoutColours) {
  EXPECT_EQ(width_of("12 µs"), 5U);
  EXPECT_EQ(width_of("\x1b[1;31m→ rot\x1b[0m"), 5U);
  EXPECT_EQ(cut("µµµµ", 3), "µµ…");
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(wrapped("one, two, three", 9), (std::vector<std::string>{"one, two,", "three"}));
  EXPECT_EQ(wrapped("0123456789, a", 8), (std::vector<std::string>{"0123456…", "a"}));
}

TEST(Screen, ABlockIsDrawnOverItselfAndAgainAfterTheSizeChanged) {
  LiveBlock block;
  EXPECT_EQ(block.draw("log 1\n", {"a", "b"}, {80, 24}), "\r\x1b[Jlog 1\na\nb\n");
  EXPECT_EQ(block.draw("log 2\n", {"c", "d"}, {80, 24}), "\x1b[2A\r\x1b[Jlog 2\nc\nd\n");
  EXPECT_FALSE(block.drawn_for({40, 24}));
  EXPECT_EQ(block.draw("", {"e", "f"}, {40, 24}), "\x1b[H\x1b[Jlog 1\nlog 2\ne\nf\n");
  // Of the log only what has room above the block: this line takes two of four rows.
  (void)block.draw(std::string(15, 'x') + "\n", {"e"}, {40, 24});
  EXPECT_EQ(block.draw("", {"e"}, {10, 4}), "\x1b[H\x1b[J" + std::string(15, 'x') + "\ne\n");
}

}  // namespace
}  // namespace cardan::terminal
