// SPDX-License-Identifier: Apache-2.0
// `cardan bag export` as a user starts it; what it wrote is read back. Images: export_images_test.cpp.
#include "tests/command/export_fixture.hpp"

namespace cardan::test {
namespace {

using ExportFiles = ExportTest;

TEST_F(ExportFiles, TablesHaveAColumnANumber) {
  {
    Recording recording(file());
    recording.add_wheels("/wheel/speeds", wheels(1.5, 2, "a,b"));
    recording.add_wheels("/wheel/speeds", wheels(-0.25, 65, "two\n\"lines\""));
    recording.add("/state", "State", text(R"({"gear":"D","limits":{"v":13.9}})"), "json");
    recording.add("/state", "State", text(R"({"gear":"P","doors":[1,2]})"), "json");
  }
  ASSERT_EQ(run({"--json"}), 0) << said_;
  EXPECT_EQ(rows("wheel_speeds.csv"),
            (Rows{{"log_time", "publish_time", "header.stamp.sec", "header.stamp.nanosec", "header.frame_id", "speed",
                   "axis_0", "axis_1", "ranges.count", "ranges", "note"},
                  {"1700000000000000000", "1699999999999999999", "12", "34", "front, left", "1.5", "0.1", "-2", "2",
                   "[0.0,1.0]", "a,b"},
                  {"1700000000050000000", "1700000000049999999", "12", "34", "front, left", "-0.25", "0.1", "-2", "65",
                   "", "two\n\"lines\""}}));
  EXPECT_EQ(rows("state.csv"), (Rows{{"log_time", "publish_time", "gear", "limits.v", "doors.count", "doors"},
                                     {"1700000000000000000", "1699999999999999999", "D", "13.9", "", ""},
                                     {"1700000000050000000", "1700000000049999999", "P", "", "2", "[1,2]"}}));
  const Json summary = Json::parse(said_);
  EXPECT_FALSE(summary["lost"]);
  ASSERT_EQ(summary["topics"].size(), 2U);
  EXPECT_EQ(summary["topics"][0]["topic"], "/wheel/speeds");
  EXPECT_EQ(summary["topics"][0]["type"], "test_msgs/msg/Wheels");
  EXPECT_EQ(summary["topics"][0]["as"], "csv");
  EXPECT_EQ(summary["topics"][0]["messages"], 2);
  EXPECT_EQ(summary["topics"][0]["files"], 1);
  EXPECT_EQ(summary["topics"][0]["lists_counted_only"], Json::array({"ranges"}));
  EXPECT_NE(complained_.find("lists of more than 64 elements in 'ranges'"), std::string::npos) << complained_;
  ASSERT_EQ(run({"--force", "--list", "65"}), 0);
  EXPECT_NE(rows("wheel_speeds.csv")[2][9].find("64.0]"), std::string::npos);
  EXPECT_EQ(complained_, "");
}

TEST_F(ExportFiles, CloudsBecomePcd) {
  {
    Recording recording(file());
    recording.add_cloud("/lidar", cloud(5));
    recording.add_cloud("/lidar", cloud(0));
  }
  ASSERT_EQ(run(), 0) << complained_;
  const std::string pcd = content("lidar/1700000000000000000.pcd");
  const std::string header =
      "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z ring\nSIZE 4 4 4 2\nTYPE F F F U\n"
      "COUNT 1 1 1 1\nWIDTH 5\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 5\nDATA binary\n";
  ASSERT_EQ(pcd.substr(0, header.size()), header);
  ASSERT_EQ(pcd.size(), header.size() + std::size_t{5} * 14);
  for (int i = 0; i < 5; ++i) {
    float xyz[3];
    std::uint16_t ring = 0;
    std::memcpy(xyz, pcd.data() + header.size() + 14 * i, sizeof xyz);
    std::memcpy(&ring, pcd.data() + header.size() + 14 * i + 12, sizeof ring);
    EXPECT_EQ(xyz[0], static_cast<float>(i));
    EXPECT_EQ(xyz[1], static_cast<float>(i) + 0.25F);
    EXPECT_EQ(xyz[2], -static_cast<float>(i));
    EXPECT_EQ(ring, i);
  }
  EXPECT_NE(content("lidar/1700000000050000000.pcd").find("POINTS 0\n"), std::string::npos);
  EXPECT_EQ(rows("lidar.csv"), (Rows{{"log_time", "publish_time", "header.stamp.sec", "header.stamp.nanosec",
                                      "header.frame_id", "height", "width", "is_dense", "file"},
                                     {"1700000000000000000", "1699999999999999999", "12", "34", "front, left", "1", "5",
                                      "true", "lidar/1700000000000000000.pcd"},
                                     {"1700000000050000000", "1700000000049999999", "12", "34", "front, left", "1", "0",
                                      "true", "lidar/1700000000050000000.pcd"}}));
}

TEST_F(ExportFiles, JpegAndPngAreWrittenAsTheyWereRecorded) {
  Bytes jpeg = text("\xff\xd8\xff\xe0 and so on"), png = text("\x89PNG\r\n\x1a\n and so on");
  {
    Recording recording(file());
    recording.add_compressed("/camera", compressed("jpeg", jpeg));
    recording.add_compressed("/camera", compressed("rgb8; png compressed bgr8", png));
    recording.add_compressed("/camera", compressed("h264", text("no picture")));
  }
  ASSERT_EQ(run(), 3);
  EXPECT_EQ(content("camera/1700000000000000000.jpg"), std::string(reinterpret_cast<char*>(jpeg.data()), jpeg.size()));
  EXPECT_EQ(content("camera/1700000000050000000.png"), std::string(reinterpret_cast<char*>(png.data()), png.size()));
  EXPECT_EQ(rows("camera.csv").size(), 3U);
  EXPECT_NE(complained_.find("/camera: 1 messages left out, the first of 2023-11-14 22:13:20.100000000: format 'h264'"),
            std::string::npos)
      << complained_;
}

TEST_F(ExportFiles, DamagedMessagesAreLeftOutAndReported) {
  {
    Recording recording(file());
    Bytes cut = wheels(1, 3, "note");
    cut.resize(cut.size() - 9);
    recording.add_wheels("/wheels", wheels(1, 3, "note"));
    recording.add_wheels("/wheels", cut);
    recording.add_wheels("/wheels", wheels(2, 3, "note"));
    Bytes half = cloud(5);
    half.resize(half.size() / 2);
    recording.add_cloud("/lidar", half);
    recording.add("/state", "State", text("{\"gear\":"), "json");
    recording.add("/state", "State", text("{\"gear\":1}"), "json");
    recording.add("/other", "pkg.Other", text("\x08\x01"), "protobuf");
    recording.add("/odd", "pkg/msg/Odd", text("abcd"), "cdr", "Nowhere x\n");
  }
  ASSERT_EQ(run({"--json"}), 3) << complained_;
  EXPECT_EQ(rows("wheels.csv").size(), 3U);
  EXPECT_EQ(rows("state.csv").size(), 2U);
  EXPECT_EQ(names(), (Names{"state.csv", "wheels.csv"}));
  const Json summary = Json::parse(said_);
  EXPECT_TRUE(summary["lost"]);
  std::map<std::string, Json> of;
  for (const Json& topic : summary["topics"]) of[topic["topic"]] = topic;
  EXPECT_EQ(of["/wheels"]["messages"], 3);
  EXPECT_EQ(of["/wheels"]["skipped"][0]["messages"], 1);
  EXPECT_EQ(of["/wheels"]["skipped"][0]["first_log_time"], kBegin + kStep);
  EXPECT_EQ(of["/lidar"]["files"], 0);
  EXPECT_EQ(of["/state"]["skipped"].size(), 1U);
  EXPECT_NE(of["/other"]["skipped"][0]["cause"].get<std::string>().find("'protobuf'"), std::string::npos);
  EXPECT_NE(of["/odd"]["skipped"][0]["cause"].get<std::string>().find("Nowhere x"), std::string::npos);
  EXPECT_TRUE(of["/other"]["as"].is_null());
  ASSERT_EQ(run({"--force", "--topic", "/wheels", "--end", "0.05"}), 0) << "the damage is not asked for";
}

TEST_F(ExportFiles, ADamagedFileGivesTheRest) {
  {
    Recording recording(file());
    for (int i = 0; i < 30'000; ++i) recording.add_wheels("/wheels", wheels(i, 3, "note"));
  }
  std::fstream damage(file(), std::ios::binary | std::ios::in | std::ios::out);
  damage.seekp(1'500'000);
  damage.put('\x55');
  damage.close();
  ASSERT_EQ(run(), 3);
  const Rows left = rows("wheels.csv");
  EXPECT_GT(left.size(), 10'000U);
  EXPECT_LT(left.size(), 30'001U);
  EXPECT_NE(complained_.find(", byte "), std::string::npos);
}

TEST_F(ExportFiles, ATopicsNameLeadsNowhereElse) {
  const std::vector<std::string> topics{"/../../outside", "/../outside", "../outside", "..",  "/",     "",
                                        "/a/b",           "/a_b",        "/a.b",       "-rf", "/x\ny", "/x y",
                                        "//etc/passwd"};
  {
    Recording recording(file());
    for (const std::string& topic : topics) {
      recording.add_wheels(topic, wheels(1, 1, topic));
      recording.add_cloud(topic + "/cloud", cloud(1));
    }
  }
  ASSERT_EQ(run(), 0) << complained_;
  std::set<std::string> notes;
  std::size_t folders = 0;
  for (const std::string& name : names()) {
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-0123456789.c"), std::string::npos) << name;
    if (fs::is_directory(folder_ / "to" / name)) {
      ++folders;
    } else if (const auto table = rows(name); table[0].back() == "note") {
      notes.insert(table[1].back());
    }
  }
  EXPECT_EQ(notes, std::set<std::string>(topics.begin(), topics.end()));
  EXPECT_EQ(folders, topics.size());
  Names beside;
  for (const auto& entry : fs::directory_iterator(folder_)) beside.insert(entry.path().filename());
  EXPECT_EQ(beside, (Names{"drive.mcap", "said", "complained", "to"}));
}

TEST_F(ExportFiles, NothingIsReplacedWithoutForce) {
  {
    Recording recording(file());
    recording.add_wheels("/wheels", wheels(1, 1, "new"));
    recording.add_cloud("/lidar", cloud(1));
  }
  fs::create_directory(folder_ / "to");
  std::ofstream(folder_ / "to/wheels.csv") << "mine\n";
  ASSERT_EQ(run(), 2);
  EXPECT_NE(complained_.find("wheels.csv already exists — "), std::string::npos) << complained_;
  EXPECT_EQ(content("wheels.csv"), "mine\n");
  EXPECT_EQ(names(), (Names{"wheels.csv"})) << "nothing was begun";
  ASSERT_EQ(run({"--topic", "/lidar"}), 0) << "another topic in addition to it";
  fs::remove(folder_ / "to/lidar.csv");
  ASSERT_EQ(run({"--topic", "/lidar"}), 2) << "its folder is there";
  ASSERT_EQ(run({"--force"}), 0);
  EXPECT_EQ(rows("wheels.csv")[1].back(), "new");
  EXPECT_EQ(names(), (Names{"wheels.csv", "lidar", "lidar.csv"}));
}

TEST_F(ExportFiles, SelectsTopicsAndTimes) {
  {
    Recording recording(file());
    for (int i = 0; i < 10; ++i)
      for (const char* topic : {"/a/one", "/a/two", "/b", "/a_one"}) recording.add_wheels(topic, wheels(i, 0, topic));
  }
  ASSERT_EQ(run({"--topic", "/a*", "--exclude", "/a/two", "--start", "0.1", "--end", "0.25"}), 0) << complained_;
  EXPECT_EQ(names(), (Names{"a_one.csv", "a_one_2.csv"}));
  const Rows table = rows("a_one_2.csv");
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table[1][5], "2");
  EXPECT_EQ(table[3][5], "4");
  EXPECT_EQ(table[1].back(), "/a_one");
  ASSERT_EQ(run({"--force", "--topic", "/a_one"}), 0);
  EXPECT_EQ(rows("a_one_2.csv").size(), 11U) << "a topic's file does not depend on what else is asked for";
  EXPECT_EQ(run({"--topic", "/nobody"}), 2);
  EXPECT_EQ(run({"--quality", "50"}), 2);
  EXPECT_EQ(run({"--images", "gif"}), 2);
}

TEST_F(ExportFiles, WithoutTheImageLibraryRawImagesAreLeftOutWithAWord) {
  {
    Recording recording(file());
    recording.add_image("/camera", image("mono8", 1, 1, 1, text("x")));
    recording.add_wheels("/wheels", wheels(1, 1, ""));
  }
  // A command whose library cannot be loaded.
  for (const char* folder : {"bin", "lib"}) fs::create_directories(folder_ / "other" / folder);
  fs::copy_file(std::getenv("CARDAN_TEST_COMMAND"), folder_ / "other/bin/cardan");
  std::ofstream(folder_ / "other/lib/libcardan_images.so") << "no library";
  command_ = folder_ / "other/bin/cardan";
  ASSERT_EQ(run(), 3) << complained_;
  EXPECT_NE(complained_.find("/camera: 1 messages left out"), std::string::npos) << complained_;
  EXPECT_NE(complained_.find("OpenCV"), std::string::npos) << complained_;
  EXPECT_NE(complained_.find("libopencv-imgcodecs-dev"), std::string::npos) << complained_;
  EXPECT_EQ(names(), (Names{"wheels.csv"}));
  EXPECT_EQ(run({"--force", "--exclude", "/camera"}), 0) << complained_;
  EXPECT_EQ(names(), (Names{"wheels.csv"}));
}

}  // namespace
}  // namespace cardan::test
