// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/keys.hpp"

#include <gtest/gtest.h>

namespace cardan::apps {
namespace {

TEST(Keys, LettersAndArrows) {
  std::string bytes = "s \x1b[C\x1b[D+\x1bOA\x1b[Bq";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{'s', ' ', kRight, kLeft, '+', kUp, kDown, 'q'}));
  EXPECT_TRUE(bytes.empty());
}

TEST(Keys, AnIncompleteKeyWaitsForItsRest) {
  std::string bytes = "a\x1b[";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{'a'}));
  bytes += "1;5C";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{kRight}));
  EXPECT_TRUE(bytes.empty());
}

TEST(Keys, EscapeAndUnknownKeys) {
  std::string bytes = "\x1b";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{kEscape}));
  bytes = "\x1b[3~x";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{'x'}));
}

TEST(Keys, PagesAndEnds) {
  std::string bytes = "\x1b[5~\x1b[6~\x1b[H\x1b[F\x1bOH\x1b[1~\x1b[4~";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{kPageUp, kPageDown, kHome, kEnd, kHome, kHome, kEnd}));
}

TEST(Keys, ASequenceWithoutEndIsNotKept) {
  std::string bytes = "\x1b[" + std::string(1000, '1');
  EXPECT_TRUE(keys_in(bytes).empty());
  EXPECT_TRUE(bytes.empty());
  bytes = "q";
  EXPECT_EQ(keys_in(bytes), (std::vector<char32_t>{'q'}));
}

}  // namespace
}  // namespace cardan::apps
