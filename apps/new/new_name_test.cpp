// SPDX-License-Identifier: Apache-2.0
#include "apps/new/new_name.hpp"

#include <gtest/gtest.h>

namespace cardan::apps {
namespace {

TEST(NewName, IsThatOfAFolderAPackageAndAComponent) {
  for (const char* const good : {"a", "lane_keeper", "radar2", "x_1"}) EXPECT_EQ(name_refusal(good), "") << good;
  for (const char* const bad : {"", "LaneKeeper", "lane-keeper", "../up", "a/b", "2radar", "_a", "a_", "a__b", "a b",
                                "a\nb", "ä", "cardan", "std", "a$b", "a\"b"})
    EXPECT_NE(name_refusal(bad), "") << bad;
  EXPECT_EQ(name_refusal(std::string(40, 'a')), "");
  EXPECT_NE(name_refusal(std::string(41, 'a')), "");
}

TEST(NewName, ASuggestionCanAlwaysBeUsed) {
  EXPECT_EQ(name_like("LaneKeeper"), "lane_keeper");
  EXPECT_EQ(name_like("lane-keeper"), "lane_keeper");
  EXPECT_EQ(name_like("2Radar"), "radar");
  for (const char* const bad : {"", "___", "12", "../..", "A__B", "cardan", "ÄÖ", "\x1b[2J"})
    EXPECT_EQ(name_refusal(name_like(bad)), "") << bad;
  EXPECT_EQ(name_refusal(name_like(std::string(500, 'A'))), "");
}

TEST(NewName, AClassIsInCamelCase) {
  EXPECT_EQ(class_name_of("lane_keeper"), "LaneKeeper");
  EXPECT_EQ(class_name_of("radar2"), "Radar2");
  EXPECT_EQ(class_name_of("x_1"), "X1");
}

}  // namespace
}  // namespace cardan::apps
