// SPDX-License-Identifier: Apache-2.0
#include "bench/record/summary.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/record/report.hpp"
#include "bench/record/sensors.hpp"

namespace cardan::bench::recording {
namespace {

Row row(Part part, Peer peer, std::vector<RunFigures> runs, std::uint32_t camera_count = 0,
        Schedule schedule = Schedule::Absolute, char scene = 0) {
  Row out;
  out.part = part;
  out.peer = peer;
  out.schedule = schedule;
  out.cameras = camera_count;
  out.scene = scene;
  out.bytes_per_second = bytes_per_second(cameras(camera_count));
  out.runs = std::move(runs);
  return out;
}

RunFigures rate(double bytes_per_second) {
  RunFigures run;
  run.file_bytes = static_cast<std::uint64_t>(bytes_per_second * 2);
  run.seconds = 2;
  return run;
}
RunFigures share(std::uint64_t recorded, std::uint64_t made = 1000) {
  RunFigures run;
  run.made = made;
  run.recorded = recorded;
  return run;
}
RunFigures phases(double calls_ms, double cpu_s) {
  RunFigures run = share(100, 100);
  run.system_calls_ms = calls_ms;
  run.recording_cpu_s = cpu_s;
  run.file_bytes = 1'000'000'000;
  return run;
}
RunFigures samples(std::vector<double> RunFigures::* which, std::vector<double> values) {
  RunFigures run;
  run.*which = std::move(values);
  return run;
}

TEST(RecordSummary, NothingMeasuredIsNull) {
  const auto json = to_json(summarize_rows({}));
  for (const char* name :
       {"rate_vs_fio", "cameras", "cameras_vs_rosbag2", "lost", "path_time_vs_rosbag2", "cpu_per_gb_vs_rosbag2",
        "memory_mib", "task_std_vs_rosbag2", "task_std_vs_alone", "publish_p99_vs_unrecorded"}) {
    ASSERT_TRUE(json.contains(name)) << name;
    EXPECT_TRUE(json[name].is_null()) << name;
  }
  for (const Verdict& verdict : judge({})) EXPECT_FALSE(verdict.reached.has_value()) << verdict.what;
}

TEST(RecordSummary, RatesAreComparedRoundByRound) {
  const Rows rows{row(Part::Rate, Peer::Fio, {rate(1e9), rate(2e9), rate(1e9)}),
                  row(Part::Rate, Peer::FioBuffered, {rate(5e8)}),
                  row(Part::Rate, Peer::Cardan, {rate(0.95e9), rate(1.9e9), rate(0.95e9)}, 9),
                  row(Part::Rate, Peer::Rosbag2, {rate(4.8e8)}, 5)};
  const RecordSummary s = summarize_rows(rows);
  EXPECT_DOUBLE_EQ(s.rate_vs_fio.value(), 0.95);
  EXPECT_DOUBLE_EQ(s.rosbag2_vs_fio_buffered.value(), 0.96);
  EXPECT_DOUBLE_EQ(s.cameras_disk.value(), 5) << "1 GB/s is five cameras of 199 MB/s";
}

TEST(RecordSummary, CamerasAreThoseBeforeTheFirstLoss) {
  const Rows rows{row(Part::Cameras, Peer::Cardan, {share(1000)}, 1),
                  row(Part::Cameras, Peer::Cardan, {share(1000), share(999), share(500)}, 2),
                  row(Part::Cameras, Peer::Cardan, {share(998)}, 3),
                  row(Part::Cameras, Peer::Cardan, {share(1000)}, 4),
                  row(Part::Cameras, Peer::Cardan, {share(1000)}, 1, Schedule::IntegerMs),
                  row(Part::Cameras, Peer::Rosbag2, {share(1000)}, 1),
                  row(Part::Cameras, Peer::Rosbag2Topics, {share(900)}, 1)};
  const RecordSummary s = summarize_rows(rows);
  EXPECT_DOUBLE_EQ(s.cameras.value(), 2) << "the median of its rounds is whole with two, not with three";
  EXPECT_DOUBLE_EQ(s.cameras_vs_rosbag2.value(), 2) << "of the better of the peer's rows";
}

TEST(RecordSummary, CamerasThatWereKeptFromSendingAreNotRecorded) {
  RunFigures kept = share(900, 900);
  kept.skipped = 100;
  const RecordSummary s =
      summarize_rows({row(Part::Cameras, Peer::Cardan, {share(1000)}, 1), row(Part::Cameras, Peer::Cardan, {kept}, 2)});
  EXPECT_DOUBLE_EQ(s.cameras.value(), 1);
}

TEST(RecordSummary, RatiosAreToTheBetterRosbag2) {
  const Rows rows{row(Part::Phases, Peer::Cardan, {phases(2, 0.1)}, 1),
                  row(Part::Phases, Peer::Rosbag2, {phases(100, 1.0)}, 1),
                  row(Part::Phases, Peer::Rosbag2Topics, {phases(200, 0.5)}, 1)};
  const RecordSummary s = summarize_rows(rows);
  EXPECT_DOUBLE_EQ(s.path_time_vs_rosbag2.value(), 0.02);
  EXPECT_DOUBLE_EQ(s.cpu_per_gb_vs_rosbag2.value(), 0.2);
}

TEST(RecordSummary, LossAndMemoryAreOfTheMix) {
  RunFigures first = share(990);
  first.memory_mib = 20;
  first.own_mib = 30;
  const RecordSummary s = summarize_rows({row(Part::Mix, Peer::Cardan, {first, share(1000)}, 8)});
  EXPECT_DOUBLE_EQ(s.lost.value(), 10);
  EXPECT_DOUBLE_EQ(s.memory_mib.value(), 15) << "the median of 30 and 0";
}

TEST(RecordSummary, DeviationsAndTails) {
  const auto tasks = [](double spread) { return samples(&RunFigures::tasks, {3 - spread, 3, 3 + spread}); };
  const auto pipeline = [](double spread) { return samples(&RunFigures::end_to_end_ms, {8 - spread, 8, 8 + spread}); };
  Rows rows{row(Part::Task, Peer::Alone, {tasks(0.1)}), row(Part::Task, Peer::Cardan, {tasks(0.12)}, 5),
            row(Part::Task, Peer::Rosbag2, {tasks(1.2)}, 5),
            row(Part::Bystander, Peer::Unrecorded, {samples(&RunFigures::publish_us, {10, 10, 10})}, 1),
            row(Part::Bystander, Peer::Cardan, {samples(&RunFigures::publish_us, {11, 11, 11})}, 1)};
  for (const char scene : {'A', 'B'}) {
    rows.push_back(row(Part::Pipeline, Peer::CardanAsap, {pipeline(0.5)}, 4, Schedule::Absolute, scene));
    rows.push_back(
        row(Part::Pipeline, Peer::Cardan, {pipeline(scene == 'A' ? 0.25 : 1)}, 4, Schedule::Absolute, scene));
    rows.push_back(row(Part::Pipeline, Peer::Rosbag2Topics, {pipeline(4)}, 4, Schedule::Absolute, scene));
  }
  const RecordSummary s = summarize_rows(rows);
  EXPECT_NEAR(s.task_std_vs_alone.value(), 1.2, 1e-9);
  EXPECT_NEAR(s.task_std_vs_rosbag2.value(), 0.1, 1e-9);
  EXPECT_NEAR(s.publish_p99_vs_unrecorded.value(), 1.1, 1e-9);
  EXPECT_FALSE(s.transport_p99_vs_unrecorded.has_value());
  EXPECT_NEAR(s.pipeline_std_vs_asap.value(), 2, 1e-9) << "scene B, the worst";
  EXPECT_NEAR(s.pipeline_std_vs_rosbag2.value(), 0.25, 1e-9);
}

TEST(RecordSummary, VerdictsHoldAtTheirLimits) {
  RecordSummary s;
  s.rate_vs_fio = 0.9;
  s.lost = 0;
  s.path_time_vs_rosbag2 = 0.051;
  s.cameras = 10;
  s.cameras_disk = 10;
  s.cameras_vs_rosbag2 = 2.5;
  int reached = 0;
  int missed = 0;
  for (const Verdict& verdict : judge(s)) {
    if (!verdict.reached) continue;
    ++(*verdict.reached ? reached : missed);
    EXPECT_FALSE(verdict.found.empty());
    EXPECT_FALSE(verdict.wanted.empty());
  }
  EXPECT_EQ(reached, 3) << "the rate, the loss, and all cameras that the disk takes";
  EXPECT_EQ(missed, 1);
}

TEST(RecordReport, SaysWhatItMeasured) {
  RunFigures run = phases(2, 0.1);
  run.lost_by_cause = {{"queue full", 3}, {"lapped", 0}};
  run.path_p50_ms = 1.5;
  run.mode = "direct, io_uring";
  run.steal_percent = 7;
  Row one = row(Part::Phases, Peer::Cardan, {run}, 1);
  one.stolen = true;
  const Rows rows{one, row(Part::Rate, Peer::Fio, {rate(1e9)}), row(Part::Task, Peer::Alone, {RunFigures()})};
  RecordCircumstances c;
  c.fio_version = "fio-3";
  c.fio_commands = {"fio --name=limit"};
  c.left_out = {"rosbag left out."};
  const std::string table = to_table(rows, c);
  for (const char* word : {"Fig. 7", "stolen", "fio --name=limit", "rosbag left out.", "cycle"})
    EXPECT_NE(table.find(word), std::string::npos) << word;
  const auto json = to_json(rows, c);
  ASSERT_EQ(json["rows"].size(), 3U);
  const auto& phase = json["rows"][0];
  EXPECT_EQ(phase["part"], "phases");
  EXPECT_EQ(phase["peer"], "cardan");
  EXPECT_EQ(phase["stolen"], true);
  EXPECT_EQ(phase["mode"], "direct, io_uring");
  EXPECT_EQ(phase["lost_by_cause"], (nlohmann::ordered_json{{"queue full", 3}}));
  EXPECT_TRUE(phase["time_ms"]["encoding"].is_null()) << "an unknown value is not a zero";
  EXPECT_DOUBLE_EQ(phase["path_ms"]["p50"], 1.5);
  EXPECT_FALSE(json["rows"][1].contains("share")) << "fio records no messages";
  EXPECT_TRUE(json["summary"].contains("rate_vs_fio"));
  EXPECT_FALSE(json["interrupted"].get<bool>());
}

}  // namespace
}  // namespace cardan::bench::recording
