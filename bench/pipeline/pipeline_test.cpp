// SPDX-License-Identifier: Apache-2.0
// `cardan bench pipeline` as a user starts it: short runs on drawn pictures, whose form is checked and whose figures
// are not.
#include <algorithm>

#include "bench/pipeline/recording_test.hpp"
#include "bench/pipeline/vision/pictures.hpp"
#include "bench/transport/bench_case.hpp"
#include "cardan/cdr.hpp"
#include "cardan/image.hpp"
#include "cardan/local_message.hpp"

namespace cardan::bench {
namespace {

class PipelineProgram : public TransportBench {
 protected:
  PipelineProgram() { part_ = "pipeline"; }
  static Json stage(const Json& row, const std::string& name) {
    for (const Json& one : row["stages"])
      if (one["stage"] == name) return one;
    ADD_FAILURE() << "no stage " << name;
    return {};
  }
  static std::uint64_t lost_of(const Json& row) {
    std::uint64_t lost = 0;
    for (const Json& one : row["stages"])
      if (one.contains("results_lost"))
        lost += one["lost"].get<std::uint64_t>() + one["results_lost"].get<std::uint64_t>() +
                one["torn"].get<std::uint64_t>();
    return lost;
  }
};

TEST_F(PipelineProgram, GoesThroughRawAndCardan) {
  const Ended ended = bench({"--peers", "raw,cardan", "--camera", "drawn", "--rate", "4", "--frames", "10", "--runs",
                             "1", "--json", json_path()});
  const Json result = json();
  ASSERT_EQ(result["rows"].size(), 2U) << ended.err;
  EXPECT_EQ(result["inputs"]["detector"], "HOG");
  EXPECT_EQ(result["inputs"]["width"], 640);
  for (const Json& row : result["rows"]) {
    SCOPED_TRACE(row["peer"].get<std::string>());
    ASSERT_EQ(row["stages"].size(), 5U);
    for (const char* name : {"lane", "detector", "tracker"}) {
      SCOPED_TRACE(name);
      const Json one = stage(row, name);
      EXPECT_EQ(one["due"], 5) << "five of ten are discarded";
      ASSERT_TRUE(one.contains("transport_ms")) << "no picture arrived";
      EXPECT_GT(one["transport_ms"]["min"], 0);
      EXPECT_GT(one["processing_ms"]["min"], 0);
      EXPECT_GT(one["results_ms"]["min"], 0);
      EXPECT_GT(one["transport_to_processing_percent"], 0);
      EXPECT_GT(one["cpu_percent"], 0);
    }
    EXPECT_EQ(stage(row, "lane")["found_per_frame"], 2) << "both lines of the drawn street";
    EXPECT_EQ(stage(row, "tracker")["found_per_frame"], 1) << "the vehicle ahead";
    ASSERT_TRUE(row.contains("camera_to_fusion_ms"));
    EXPECT_GT(row["camera_to_fusion_ms"]["min"], stage(row, "detector")["processing_ms"]["min"]);
    EXPECT_GE(stage(row, "fusion")["lost"], stage(row, "detector")["lost"]);
  }
  // On a busy computer a stage may come too late for a picture; the code has to say so.
  EXPECT_EQ(ended.code, lost_of(result["rows"][1]) == 0 ? 0 : 3) << ended.err;
  const Json& all = result["measurements"];  // the form that compare and report read
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Json& m) {
    return m["part"] == "pipeline" && m["peer"] == "cardan" && m["cell"] == "whole" && m.value("due", 0U) == 5U;
  }));
}

TEST_F(PipelineProgram, ALinkCanBeMadeByAnotherPeerAndSocketsLoseNothing) {
  const Ended ended = bench({"--peers", "uds", "--links", "results=tcp,targets=raw", "--camera", "drawn", "--rate", "4",
                             "--frames", "8", "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json row = json()["rows"][0];
  EXPECT_EQ(row["links"]["pictures"], "uds");
  EXPECT_EQ(row["links"]["results"], "tcp");
  EXPECT_EQ(row["links"]["targets"], "raw");
  EXPECT_EQ(lost_of(row), 0U) << row.dump(1);
  EXPECT_EQ(stage(row, "fusion")["lost"], 0);
  EXPECT_TRUE(row.contains("targets_ms"));
}

// The detector needs tens of milliseconds for a picture, and gets one each millisecond.
TEST_F(PipelineProgram, ACameraThatIsTooFastLosesAndTheCodeSaysSo) {
  const Ended ended = bench({"--peers", "cardan", "--camera", "drawn", "--rate", "1000", "--frames", "200", "--runs",
                             "1", "--json", json_path()});
  EXPECT_EQ(ended.code, 3) << ended.err;
  const Json row = json()["rows"][0];
  EXPECT_GT(stage(row, "detector")["lost"], 0);
  EXPECT_LE(stage(row, "detector")["lost"], stage(row, "fusion")["lost"]);
  EXPECT_EQ(stage(row, "detector")["torn"], 0) << "late, but never torn";
  EXPECT_NE(ended.err.find("lost"), std::string::npos);
}

// The stages are a module next to the program; a build without OpenCV has none.
TEST_F(PipelineProgram, WithoutItsStagesItSaysSoAndFailsNobody) {
  fs::create_directories(folder_ / "bin");
  fs::copy_file(driver_, folder_ / "bin" / "cardan-bench");
  driver_ = (folder_ / "bin" / "cardan-bench").string();
  const Ended ended = bench({"--quick", "--json", json_path()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("left out"), std::string::npos);
  const Json result = json();
  EXPECT_TRUE(result["measurements"].empty());
  ASSERT_EQ(result["left_out"].size(), 1U);
  EXPECT_NE(result["left_out"][0].get<std::string>().find("OpenCV"), std::string::npos);
  const Ended lidar = bench({"--chain", "lidar", "--quick", "--json", json_path()});
  EXPECT_EQ(lidar.code, 0) << lidar.err;
  EXPECT_NE(lidar.out.find("left out"), std::string::npos);
  EXPECT_NE(lidar.out.find("libpcl-dev"), std::string::npos) << "the package that is missing";
}

TEST_F(PipelineProgram, TheCameraCanBeARecording) {
  const std::string file = (folder_ / "drive.mcap").string();
  std::vector<std::vector<std::byte>> messages;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const cv::Mat picture = perception::draw_street(n);
    LocalMessage<Image> image(picture.total() * picture.elemSize());
    picture.copyTo(image->mat(picture.rows, picture.cols, picture.type()));
    messages.push_back(to_cdr(*image));
  }
  perception::test::write_recording(file, "/camera", "sensor_msgs/msg/Image", messages);
  const Ended ended = bench({"--peers", "uds", "--from", file, "--topic", "/camera", "--rate", "4", "--frames", "8",
                             "--runs", "1", "--json", json_path()});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(json()["inputs"]["camera"], "drive.mcap");
  EXPECT_EQ(json()["inputs"]["width"], 640);
  EXPECT_EQ(stage(json()["rows"][0], "lane")["found_per_frame"], 2) << "both lines of the drawn street";
  const Ended wrong = bench({"--peers", "uds", "--from", file, "--topic", "/rear"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("give one of these: /camera"), std::string::npos) << wrong.err;
}

TEST_F(PipelineProgram, WrongInputsAreNamed) {
  EXPECT_EQ(bench({"--chain", "sonar"}).code, 2);
  EXPECT_EQ(bench({"--lidar", "drive.pcap"}).code, 2);

  EXPECT_EQ(bench({"--peers", "nobody"}).code, 2);
  EXPECT_EQ(bench({"--links", "sounds=raw"}).code, 2);
  const Ended missing = bench({"--peers", "raw", "--camera", "/nonexistent/drive.mp4"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("no such file"), std::string::npos);
  EXPECT_EQ(bench({"--peers", "raw", "--camera", "/proc/self/exe"}).code, 2);
  EXPECT_EQ(bench({"--peers", "raw", "--camera", "drawn", "--detector", "/proc/self/exe"}).code, 2);
}

}  // namespace
}  // namespace cardan::bench
