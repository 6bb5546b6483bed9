// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/recorded_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kMillisecond = 1'000'000;

TEST(RecordedFolder, TimesAreReadAsKittiWritesThem) {
  EXPECT_EQ(parse_time("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(parse_time("1970-01-02 00:00:01.5"), 86'401'500'000'000);
  EXPECT_EQ(parse_time("2011-09-26 13:02:25.964389445"), 1'317'042'145'964'389'445);
  for (const char* other : {"", "2011-09-26", "2011-09-26 13:02", "2011-13-26 13:02:25", "2011-02-30 13:02:25",
                            "2011-09-26 24:02:25", "2011-09-26 13:60:25", "2011-09-26 13:02:25.", "1317042145.96",
                            "2011-09-26 13:02:25.9643894451", "2011-09-26 13:02:25x", "0000-00-00 00:00:00",
                            "2011-09-26T13:02:25", "-111-09-26 13:02:25", "9999-01-01 00:00:00"})
    EXPECT_EQ(parse_time(other), std::nullopt) << other;
}

class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-folder-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "data");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void touch(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }
  void times(const std::string& text) const { std::ofstream(folder_ / "timestamps.txt") << text; }
  [[nodiscard]] std::string names(const std::string& argument) const {
    std::string all;
    for (const fs::path& file : read_recorded_folder(argument, kPictureFiles).files)
      all += (all.empty() ? "" : " ") + file.filename().string();
    return all;
  }
  [[nodiscard]] std::string refusal(const std::string& argument) const {
    try {
      static_cast<void>(read_recorded_folder(argument, kPictureFiles));
    } catch (const Error& error) {
      EXPECT_FALSE(error.remedy().empty());
      return error.cause();
    }
    return "it was taken";
  }
  fs::path folder_;
};

TEST_F(Recorded, KittisFolderIsFoundFromAboveFromWithinAndByItsPattern) {
  for (const char* name : {"data/0000000002.png", "data/0000000000.png", "data/0000000010.png", "data/notes.txt"})
    touch(name);
  times("2011-09-26 13:02:25.100000000\n2011-09-26 13:02:25.200000000\r\n2011-09-26 13:02:25.300000000");
  const std::string in_order = "0000000000.png 0000000002.png 0000000010.png";
  for (const std::string& argument : {folder_.string(), (folder_ / "data").string(), folder_.string() + "/data/",
                                      (folder_ / "data/%010d.png").string()}) {
    EXPECT_TRUE(is_folder_of_frames(argument));
    EXPECT_EQ(names(argument), in_order) << argument;
    const auto found = read_recorded_folder(argument, kPictureFiles).times;
    ASSERT_EQ(found.size(), 3U) << argument;
    EXPECT_EQ(found[2] - found[0], 200 * kMillisecond);
  }
  EXPECT_FALSE(is_folder_of_frames((folder_ / "timestamps.txt").string()));
  EXPECT_FALSE(is_folder_of_frames("rtsp://camera/%d"));
  EXPECT_EQ(times_of_folder((folder_ / "missing").string(), kPictureFiles).size(), 0U);
}

TEST_F(Recorded, AFileThatIsMissingHasItsLineAllTheSame) {
  for (const char* name : {"data/0000000000.png", "data/0000000003.png"}) touch(name);
  times("2011-09-26 13:02:25.0\n2011-09-26 13:02:25.1\n2011-09-26 13:02:25.2\n2011-09-26 13:02:25.3\n");
  const auto found = read_recorded_folder(folder_.string(), kPictureFiles).times;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1] - found[0], 300 * kMillisecond);
}

TEST_F(Recorded, NumbersWithoutZerosAreCountedAndOtherNamesSpelled) {
  for (const char* name : {"9.jpg", "10.JPG", "100.jpg"}) touch(name);
  EXPECT_EQ(names(folder_.string()), "9.jpg 10.JPG 100.jpg");
  EXPECT_EQ(names((folder_ / "%d.jpg").string()), "9.jpg 100.jpg");
  EXPECT_EQ(names((folder_ / "%03d.jpg").string()), "100.jpg");
  touch("a.jpg");
  EXPECT_EQ(names(folder_.string()), "10.JPG 100.jpg 9.jpg a.jpg");
  EXPECT_TRUE(read_recorded_folder(folder_.string(), kPictureFiles).times.empty());
}

TEST_F(Recorded, ErrorsAreReported) {
  EXPECT_NE(refusal(folder_.string()).find("no .png"), std::string::npos);
  EXPECT_NE(refusal((folder_ / "missing/%d.png").string()).find("cannot read"), std::string::npos);
  for (const char* pattern : {"%x.png", "%d%d.png", "%099d.png", "%.png", "%0d.png"})
    EXPECT_NE(refusal((folder_ / pattern).string()).find("not a pattern"), std::string::npos) << pattern;
  for (const char* name : {"0.png", "1.png"}) touch(name);
  times("yesterday\n");
  EXPECT_NE(refusal(folder_.string()).find("line 1 is not a time: 'yesterday'"), std::string::npos);
  times(std::string(100'000, '7'));
  EXPECT_NE(refusal(folder_.string()).find("line 1 is longer than a time"), std::string::npos);
  times("2011-09-26 13:02:25.0\n");
  EXPECT_NE(refusal(folder_.string()).find("1 times for 2 files"), std::string::npos);
  times("2011-09-26 13:02:25.1\n2011-09-26 13:02:25.0\n");
  EXPECT_NE(refusal(folder_.string()).find("do not ascend"), std::string::npos);
  times("2011-09-26 13:02:25.1\n2021-09-26 13:02:25.0\n");
  EXPECT_NE(refusal(folder_.string()).find("more than a day"), std::string::npos);
}

}  // namespace
}  // namespace cardan::street
