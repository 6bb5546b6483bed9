// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/names.hpp"

#include <gtest/gtest.h>

namespace {

using namespace cardan::apps;

TEST(FileStem, IsTheTopicWithoutSlashes) {
  EXPECT_EQ(file_stem("/camera/front"), "camera_front");
  EXPECT_EQ(file_stem("imu"), "imu");
  EXPECT_EQ(file_stem("/lidar/top-left/points_2"), "lidar_top-left_points_2");
}

TEST(FileStem, LeadsNowhereElse) {
  EXPECT_EQ(file_stem("/../../etc/passwd"), "______etc_passwd");
  EXPECT_EQ(file_stem(".."), "__");
  EXPECT_EQ(file_stem("."), "_");
  EXPECT_EQ(file_stem(""), "topic");
  EXPECT_EQ(file_stem("///"), "topic");
  EXPECT_EQ(file_stem("/.hidden"), "_hidden");
  EXPECT_EQ(file_stem("-rf"), "_rf");
  EXPECT_EQ(file_stem(std::string_view("a\0b\n$(c) \\d", 11)), "a_b___c___d");
  EXPECT_EQ(file_stem("/größe"), "gr____e");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string stem = file_stem(std::string("/x") + static_cast<char>(byte));
    EXPECT_EQ(stem.find_first_of("/.\\ \n'\""), std::string::npos) << byte;
  }
}

TEST(FileStem, IsAFileNameHoweverLongTheTopic) { EXPECT_EQ(file_stem("/" + std::string(70'000, 'a')).size(), 200U); }

TEST(FileStems, NoTwoTopicsShareAFile) {
  FileStems stems;
  EXPECT_EQ(stems.next("/a/b"), "a_b");
  EXPECT_EQ(stems.next("/a_b"), "a_b_2");
  EXPECT_EQ(stems.next("/a/b/2"), "a_b_2_2");
  EXPECT_EQ(stems.next("/a.b"), "a_b_3");
  EXPECT_EQ(stems.next("/c"), "c");
  EXPECT_EQ(stems.next("/a_b_2"), "a_b_2_3");
  EXPECT_EQ(stems.next("/C"), "C_2") << "some disks take C for c";
}

TEST(FrameNames, SortByTimeAndNeverMeet) {
  FrameNames names;
  EXPECT_EQ(names.next(0), "0000000000000000000");
  EXPECT_EQ(names.next(1'700'000'000'000'000'001), "1700000000000000001");
  EXPECT_EQ(names.next(1'700'000'000'000'000'001), "1700000000000000001_2");
  EXPECT_EQ(names.next(1'700'000'000'000'000'001), "1700000000000000001_3");
  EXPECT_EQ(names.next(1'700'000'000'000'000'002), "1700000000000000002");
}

}  // namespace
