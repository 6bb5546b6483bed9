// SPDX-License-Identifier: Apache-2.0
// The transforms of a configuration in a simulation.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/simulation.hpp"
#include "cardan/transforms.hpp"

namespace cardan::simulation_transforms_test {
namespace {

using namespace std::chrono_literals;

config::FrameTransform placed(const std::string& parent, const std::string& child, double x) {
  return {.parent = parent, .child = child, .place = {.translation = {x, 0, 0}, .rotation = {}}};
}

config::Configuration file(std::vector<config::FrameTransform> transforms) {
  config::Configuration c;
  c.name = "test";
  c.processes.push_back({.name = "p", .components = {{.name = "looker", .class_name = "TransformTestLooker"}}});
  c.transforms = std::move(transforms);
  return c;
}

/// Where the lidar is in the map, and the reason if that is not known.
struct Found {
  double x = 0;
  NoTransform reason = NoTransform::NotSet;
};
std::vector<Found> looks;

}  // namespace

class TransformTestLooker : public Component {
  void on_start(Context& context) override {
    tf_ = context.transforms();
    context.timer(10ms, [this] {
      const FoundTransform found = tf_.lookup("base_link", "lidar");
      looks.push_back({found->translation.x, found.reason()});
    });
  }
  Transforms tf_;
};
CARDAN_COMPONENT(TransformTestLooker)

namespace {

class SimulatedTransforms : public testing::Test {
 protected:
  SimulatedTransforms() { looks.clear(); }
};

TEST_F(SimulatedTransforms, OfAFileAreKnownInTheFirstCallback) {
  Simulation simulation(file({placed("base_link", "mount", 1), placed("mount", "lidar", 0.5)}));
  const auto& messages = simulation.collect(kStaticTransforms);
  simulation.start();
  simulation.run_for(10ms);
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_EQ(looks[0].reason, NoTransform::None);
  EXPECT_EQ(looks[0].x, 1.5);
  ASSERT_EQ(messages.size(), 1U) << "all in one message";
  ASSERT_EQ(messages[0]->transforms.size(), 2U);
  EXPECT_EQ(messages[0]->transforms[1].header.frame_id, "mount");
  EXPECT_EQ(messages[0]->transforms[1].child_frame_id, "lidar");
  EXPECT_EQ(messages[0]->transforms[1].header.stamp, 0);
}

TEST_F(SimulatedTransforms, WithoutThemNothingIsPublished) {
  Simulation simulation(file({}));
  const auto& messages = simulation.collect(kStaticTransforms);
  simulation.start();
  simulation.run_for(10ms);
  EXPECT_TRUE(messages.empty());
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_EQ(looks[0].reason, NoTransform::UnknownFrame);
}

TEST_F(SimulatedTransforms, OfTheOptionsComeToThoseOfTheFile) {
  Simulation simulation(file({placed("base_link", "mount", 1)}), {}, {.transforms = {placed("mount", "lidar", 3)}});
  simulation.start();
  simulation.run_for(10ms);
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_EQ(looks[0].x, 4);
}

TEST_F(SimulatedTransforms, NineHundredFitIntoAMessage) {
  std::vector<config::FrameTransform> many;
  for (std::size_t i = 0; i + 1 < config::kMaxTransforms; ++i)
    many.push_back(placed("base_link", "f" + std::to_string(i), 0));
  many.push_back(placed("f7", "lidar", 7));
  Simulation simulation(file(many));
  simulation.start();
  simulation.run_for(10ms);
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_EQ(looks[0].x, 7);
}

TEST_F(SimulatedTransforms, ThatAreWrongOrDoNotFitKeepItFromStarting) {
  const auto refused = [](const config::Configuration& configuration) {
    Simulation simulation(configuration);
    try {
      simulation.start();
    } catch (const Error& e) {
      return e.code();
    }
    ADD_FAILURE() << "it starts";
    return ErrorCode::System;
  };
  EXPECT_EQ(refused(file({placed("a", "a", 1)})), ErrorCode::InvalidArgument);
  config::Configuration small = file({placed("base_link", "lidar", 1), placed("base_link", "radar", 1)});
  small.topics["/tf_static"].max_bytes = sizeof(TransformStamped);
  EXPECT_EQ(refused(small), ErrorCode::Limit);
  EXPECT_TRUE(looks.empty());
}

}  // namespace
}  // namespace cardan::simulation_transforms_test
