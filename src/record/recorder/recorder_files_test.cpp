// SPDX-License-Identifier: Apache-2.0
// The surroundings of a recording: files of others, topics that were asked for.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

class RecorderFiles : public RecorderTest {};

TEST_F(RecorderFiles, AFileThatAppearsMeanwhileIsNotReplaced) {
  const RecorderOptions o = options();
  Publisher imu{kImu};
  Recorder recorder(o);
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  std::ofstream(o.path) << "of somebody else";
  recorder.stop();
  std::ifstream in(o.path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "of somebody else");
  EXPECT_NE(recorder.report().failure.find(o.path + " is there now"), std::string::npos) << recorder.report().failure;
  EXPECT_EQ(numbers_in(o.path + ".active", kImu.name), up_to(1)) << "it is whole";
}

TEST_F(RecorderFiles, ANamedTopicWithoutAMessageIsMissing) {
  RecorderOptions o = options();
  o.topics = {kImu.name, kShallow.name, kCamera.name};
  o.rules = {{.pattern = kCamera.name, .max_rate_hz = 1e-9}};
  Publisher imu{kImu};
  Publisher silent{kShallow};
  Publisher camera{kCamera};
  Recorder recorder(o);
  publish_imu(imu, 1);
  publish_image(camera, 1);
  publish_image(camera, 2);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 2; }));
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kCamera.name).left_out == 1; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().missing, std::vector<std::string>{kShallow.name});
}

}  // namespace
}  // namespace cardan::record
