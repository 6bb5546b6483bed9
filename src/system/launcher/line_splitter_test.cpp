// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/line_splitter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cardan::launcher {
namespace {

using Lines = std::vector<std::string>;

struct Collector {
  void add(std::string_view text) {
    splitter.add(text, [this](std::string_view line) { lines.emplace_back(line); });
  }
  void finish() {
    splitter.finish([this](std::string_view line) { lines.emplace_back(line); });
  }
  LineSplitter splitter;
  Lines lines;
};

TEST(LineSplitter, PiecesBecomeLines) {
  Collector c;
  c.add("one\ntw");
  EXPECT_EQ(c.lines, (Lines{"one"}));
  c.add("o\n\nthree\r\nfo");
  EXPECT_EQ(c.lines, (Lines{"one", "two", "", "three"}));
  c.add("ur");
  c.finish();
  c.finish();
  EXPECT_EQ(c.lines, (Lines{"one", "two", "", "three", "four"}));
}

TEST(LineSplitter, AnEndlessLineComesInPiecesAndNothingIsLost) {
  Collector c;
  const std::string much(LineSplitter::kMaxLine + 10, 'x');
  c.add(much);
  ASSERT_EQ(c.lines.size(), 1U);
  EXPECT_EQ(c.lines[0].size(), LineSplitter::kMaxLine);
  c.add("\nnext\n");
  ASSERT_EQ(c.lines.size(), 3U);
  EXPECT_EQ(c.lines[1].size(), 10U);
  EXPECT_EQ(c.lines[2], "next");
}

TEST(LineSplitter, ALineOfExactlyTheLimitIsOne) {
  Collector c;
  c.add(std::string(LineSplitter::kMaxLine, 'x') + "\nnext\n");
  ASSERT_EQ(c.lines.size(), 2U);
  EXPECT_EQ(c.lines[1], "next");
}

}  // namespace
}  // namespace cardan::launcher
