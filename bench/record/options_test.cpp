// SPDX-License-Identifier: Apache-2.0
#include "bench/record/options.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

const std::vector<int> kCpus{2, 3, 5};

TEST(RecordOptions, Usual) {
  const RecordOptions o = parse_options({}, kCpus);
  EXPECT_EQ(o.parts.size(), static_cast<std::size_t>(kParts));
  for (const Peer peer : {Peer::Alone, Peer::Unrecorded, Peer::Fio, Peer::FioBuffered, Peer::Cardan, Peer::CardanAsap,
                          Peer::Speed, Peer::Rosbag2, Peer::Rosbag2Topics, Peer::Rosbag})
    EXPECT_TRUE(o.has(peer)) << name_of(peer);
  EXPECT_EQ(o.schedules.size(), 2U) << "both kinds of producers";
  EXPECT_EQ(o.producer_cpu, 2);
  EXPECT_EQ(o.task_cpu, 5);
}

TEST(RecordOptions, QuickAndFull) {
  const RecordOptions quick = parse_options({.quick = true}, kCpus);
  EXPECT_EQ(quick.runs, 1U);
  EXPECT_EQ(quick.task_runs + quick.bystander_runs + quick.pipeline_runs, 3U);
  EXPECT_LE(quick.seconds, 1);
  const RecordOptions full = parse_options({.full = true}, kCpus);
  EXPECT_EQ(full.runs, 5U);
  EXPECT_EQ(full.camera_runs, 5U);
  EXPECT_EQ(full.pipeline_runs, 5U);
  EXPECT_GE(full.task_runs, 5U);
  EXPECT_DOUBLE_EQ(full.seconds, 10);
  EXPECT_DOUBLE_EQ(full.scene_share, 1);
}

TEST(RecordOptions, GivenOptionsCount) {
  const RecordOptions o = parse_options({.only = "mix,rate",
                                         .peers = "rosbag2",
                                         .schedule = "integer-ms",
                                         .seconds = 2,
                                         .runs = 4,
                                         .cameras = 7,
                                         .producer_cpu = 3,
                                         .task_cpu = 2,
                                         .keep = true},
                                        kCpus);
  EXPECT_EQ(o.parts, (std::set<Part>{Part::Rate, Part::Mix}));
  EXPECT_TRUE(o.has(Peer::Rosbag2Topics));
  EXPECT_FALSE(o.has(Peer::Cardan));
  EXPECT_TRUE(o.has(Peer::Alone)) << "what nobody records needs no peer";
  EXPECT_EQ(o.schedules, std::vector<Schedule>{Schedule::IntegerMs});
  EXPECT_DOUBLE_EQ(o.seconds, 2);
  for (const std::uint32_t runs : {o.runs, o.camera_runs, o.task_runs, o.bystander_runs, o.pipeline_runs})
    EXPECT_EQ(runs, 4U);
  EXPECT_EQ(o.most_cameras, 7U);
  EXPECT_EQ(o.producer_cpu, 3);
  EXPECT_EQ(o.task_cpu, 2);
  EXPECT_TRUE(o.keep);
}

TEST(RecordOptions, ImpossibleOptionsAreRefusedInWords) {
  for (const RecordArguments& wrong : std::vector<RecordArguments>{{.only = "speed"},
                                                                   {.only = ","},
                                                                   {.peers = "ros2"},
                                                                   {.schedule = "sometimes"},
                                                                   {.seconds = 0.01},
                                                                   {.runs = -1},
                                                                   {.cameras = 1000},
                                                                   {.producer_cpu = 4},
                                                                   {.task_cpu = 9},
                                                                   {.quick = true, .full = true}}) {
    try {
      static_cast<void>(parse_options(wrong, kCpus));
      ADD_FAILURE() << "it was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
      EXPECT_FALSE(e.remedy().empty());
    }
  }
  EXPECT_THROW(static_cast<void>(parse_options({}, {})), Error);
}

}  // namespace
}  // namespace cardan::bench::recording
