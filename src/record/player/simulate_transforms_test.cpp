// SPDX-License-Identifier: Apache-2.0
// Recorded static transforms, and those of the configuration.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cardan/component.hpp"
#include "cardan/transforms.hpp"
#include "src/mcap/sample_file_test.hpp"
#include "src/record/player/bag_test.hpp"
#include "src/record/player/simulate.hpp"

namespace cardan::record::simulate_transforms_test {

using namespace std::chrono_literals;

/// Where frames were in base_link, each 10 ms.
std::vector<std::map<std::string, double>> looks;
std::vector<TransformProblem> problems;

class TransformsTestLooker : public Component {
  void on_start(Context& context) override {
    tf_ = context.transforms();
    context.timer(10ms, [this] {
      auto& look = looks.emplace_back();
      for (const char* const frame : {"lidar", "camera", "radar"})
        if (const FoundTransform found = tf_.lookup("base_link", frame)) look[frame] = found->translation.x;
      problems = tf_.problems();
    });
  }
  Transforms tf_;
};
CARDAN_COMPONENT(TransformsTestLooker)

class TransformsTestPlacer : public Component {
  void on_start(Context& context) override {
    context.static_transform("base_link", "radar", {.translation = {7, 0, 0}, .rotation = {}});
  }
};
CARDAN_COMPONENT(TransformsTestPlacer)

namespace {

TransformStamped place(const std::string& parent, const std::string& child, double x) {
  TransformStamped one;
  one.header.frame_id = FrameId(std::string_view(parent));
  one.child_frame_id = FrameId(std::string_view(child));
  one.transform.translation.x = x;
  return one;
}

config::FrameTransform of_file(const std::string& child, double x) {
  return {.parent = "base_link", .child = child, .place = {.translation = {x, 0, 0}, .rotation = {}}};
}

/// The first message comes with the first timer, the last one 50 ms later.
mcap::Bytes recorded() {
  test::Bag bag;
  const auto channel = bag.add<TransformMessage>("/tf_static");
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{50'000'000}}) {
    LocalMessage<TransformMessage> message(1 << 12);
    message->transforms.push_back(place("base_link", "lidar", 9));
    message->transforms.push_back(place("/base_link", "/camera", 9));
    message->transforms.push_back(place("base_link", "radar", 5));
    bag.write(channel, at, *message);
  }
  return bag.bytes();
}

class SimulateTransforms : public testing::Test {
 protected:
  SimulateTransforms() : file_(recorded()) {
    looks.clear();
    problems.clear();
  }
  SimulateReport run(std::vector<config::FrameTransform> transforms, const std::string& more = "") {
    config::Configuration c;
    c.name = "test";
    c.processes.push_back({.name = "all", .components = {{.name = "looker", .class_name = "TransformsTestLooker"}}});
    if (!more.empty()) c.processes[0].components.push_back({.name = "more", .class_name = more});
    c.transforms = std::move(transforms);
    return simulate(c, {file_.path()}, {});
  }
  mcap::test::FileOnDisk file_;
};

using Places = std::map<std::string, double>;

TEST_F(SimulateTransforms, ThoseOfTheFileComeInPlaceOfTheRecordedOnes) {
  const SimulateReport report = run({of_file("lidar", 1), of_file("camera", 2)});
  ASSERT_GE(looks.size(), 5U);
  for (const Places& look : looks) EXPECT_EQ(look, (Places{{"lidar", 1}, {"camera", 2}, {"radar", 5}}));
  EXPECT_TRUE(problems.empty()) << problems.front().text;
  ASSERT_EQ(report.fed.size(), 1U);
  EXPECT_EQ(report.fed[0].messages, 2U);
  EXPECT_EQ(report.fed[0].failed, 0U) << report.fed[0].failure;
  EXPECT_TRUE(report.recomputed.empty());
  ASSERT_EQ(report.made.size(), 1U) << "they are in the output, so that it can be looked at alone";
  EXPECT_EQ(report.made[0].topic, "/tf_static");
  EXPECT_EQ(report.made[0].messages, 1U);
}

TEST_F(SimulateTransforms, WithoutOnesInTheFileTheRecordedOnesAreUsed) {
  const SimulateReport report = run({});
  ASSERT_FALSE(looks.empty());
  EXPECT_EQ(looks.back(), (Places{{"lidar", 9}, {"camera", 9}, {"radar", 5}}));
  EXPECT_TRUE(report.made.empty());
}

TEST_F(SimulateTransforms, OfAComponentTheyAreNotTakenFromTheFile) {
  const SimulateReport report = run({of_file("lidar", 1)}, "TransformsTestPlacer");
  EXPECT_EQ(report.recomputed, std::vector<std::string>{"/tf_static"});
  EXPECT_TRUE(report.fed.empty());
}

}  // namespace
}  // namespace cardan::record::simulate_transforms_test
