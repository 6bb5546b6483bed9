// SPDX-License-Identifier: Apache-2.0
#include "src/base/printable.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using cardan::detail::printable;
using cardan::detail::printable_lines;

TEST(Printable, OrdinaryTextStaysAsItIs) {
  for (const char* text : {"", "camera_driver", "Straße nach Köln", "カメラ", "\xf0\x9f\x9a\x97", "a\"b\\c"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, IsCutBetweenTwoCharacters) {
  const std::string name = std::string(63, 'a') + "é";
  EXPECT_EQ(printable(name, 64), std::string(63, 'a'));
  EXPECT_EQ(printable(name, 65), name);
  EXPECT_EQ(printable("カメラ", 5), "カ");
  EXPECT_EQ(printable("abc", 0), "");
}

TEST(Printable, ControlsAndTricksOfDirectionBecomeQuestionMarks) {
  EXPECT_EQ(printable("\x1b[2J"), "?[2J");
  EXPECT_EQ(printable(std::string("a\0b\n\t\x7f", 6)), "a?b???");
  for (const char* trick :
       {"\xc2\x80", "\xc2\x9b", "\xc2\x9f", "\xd8\x9c", "\xe2\x80\x8b", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf"})
    EXPECT_EQ(printable(std::string("a") + trick + "b"), "a?b");
}

TEST(Printable, BytesThatAreNotUtf8BecomeQuestionMarks) {
  EXPECT_EQ(printable("a\xff\xfe"), "a??");
  EXPECT_EQ(printable("a\xc3"), "a?");               // cut
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(printable("\xe2\x80"
                      "b"),
            "??b");
}

TEST(Printable, LinesKeepTheirEndsAndTabs) {
  EXPECT_EQ(printable_lines("int32 a\n\tint32 b\r\x1b"), "int32 a\n\tint32 b??");
}

TEST(Printable, JsonKeepsItsValues) {
  const nlohmann::json json{{"a\u202e", "\u009b31m\u007f\u00e9\U000e0041"}, {"b", {1, "\x1b"}}};
  const std::string text = cardan::detail::printable_json(json.dump(2));
  EXPECT_EQ(nlohmann::json::parse(text), json);
  EXPECT_EQ(cardan::detail::printable_lines(text), text);
  EXPECT_NE(text.find("\\u009b31m\\u007f\u00e9\\udb40\\udc41"), std::string::npos) << text;
  EXPECT_EQ(cardan::detail::printable_json("\"\xff\""), "\"?\"");
}

}  // namespace
