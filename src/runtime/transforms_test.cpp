// SPDX-License-Identifier: Apache-2.0
// Transforms of components: over the transport, in one process, and in a simulation.
#include "cardan/transforms.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/simulation.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::transforms_test {

struct Cloud {
  std::int64_t stamp;
};

}  // namespace cardan::transforms_test

CARDAN_MESSAGE(cardan::transforms_test::Cloud, "test_msgs/msg/Cloud", stamp);

namespace cardan::transforms_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;
constexpr Topic<Cloud> kCloud{"/cloud", {.depth = 4}};

Transform at_x(double x) { return {.translation = {x, 0, 0}, .rotation = {}}; }

/// Says where the car was at each cloud's stamp.
struct Asker : Component {
  explicit Asker(std::chrono::nanoseconds patience = 0ns) : wait(patience) {}
  void on_start(Context& context) override {
    tf = context.transforms();
    context.input(kCloud, [this](const Sample<Cloud>& cloud) {
      const FoundTransform found = tf.wait("map", "lidar", cloud->stamp, wait);
      reasons.push_back(found.reason());
      places.push_back(found->translation.x);
      ++done;
    });
  }
  std::chrono::nanoseconds wait;
  Transforms tf;
  std::vector<NoTransform> reasons;
  std::vector<double> places;
  std::atomic<int> done{0};
};

/// Publishes where the car is, and then a cloud.
struct Localizer : Component {
  void on_start(Context& context) override {
    context.static_transform("base_link", "camera", at_x(5));
    context.static_transform("base_link", "lidar", at_x(0.5));
    out = context.transform_output();
    clouds = context.output(kCloud);
    context.timer(1ms, [this] {
      ++n;
      EXPECT_TRUE(out.publish("map", "base_link", n, at_x(static_cast<double>(n))));
      clouds.publish({n});
    });
  }
  std::int64_t n = 0;
  TransformOutput out;
  Output<Cloud> clouds;
};

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 60000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

class ComponentTransforms : public test::OwnRunDirectory {};

TEST_F(ComponentTransforms, PublicationsOfTheSameProcessAreKnownAtOnce) {
  const auto asker = std::make_shared<Asker>();
  Runtime runtime({.domain = domain_, .groups = {{.name = "first", .workers = 1}}});
  runtime.add({.name = "asker", .group = "first"}, asker);
  runtime.add({.name = "localizer"}, std::make_shared<Localizer>());
  runtime.start();
  EXPECT_TRUE(soon([&] { return asker->done >= 100; }));
  runtime.stop();
  for (std::size_t i = 0; i < asker->places.size(); ++i) ASSERT_EQ(asker->reasons[i], NoTransform::None) << i;
  EXPECT_EQ(asker->tf.problems().size(), 0U);
}

TEST_F(ComponentTransforms, ACallbackMayWaitForOneFromOutside) {
  const auto asker = std::make_shared<Asker>(kLong);
  Runtime runtime({.domain = domain_});  // one worker, which waits
  runtime.add({.name = "asker"}, asker);
  runtime.start();
  Publisher clouds{kCloud};
  clouds.publish({150});
  const StaticTransform lidar("base_link", "lidar", at_x(1));
  TransformOutput out{PublisherOptions{}};
  out.publish("map", "base_link", 100, at_x(10));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(asker->done, 0);
  out.publish("map", "base_link", 200, at_x(20));
  EXPECT_TRUE(soon([&] { return asker->done == 1; }));
  runtime.stop();
  EXPECT_DOUBLE_EQ(asker->places.at(0), 16);
}

TEST_F(ComponentTransforms, KnowsTheStaticOnesThatWereThereBefore) {
  const StaticTransform lidar("base_link", "lidar", at_x(1));
  Runtime runtime({.domain = domain_});
  std::shared_ptr<Asker> asker = std::make_shared<Asker>();
  runtime.add({.name = "asker"}, asker);
  runtime.start();
  EXPECT_TRUE(soon([&] { return static_cast<bool>(asker->tf.lookup("base_link", "lidar")); }));
  runtime.stop();
}

TEST_F(ComponentTransforms, ManyComponentsHaveOneEach) {
  Runtime runtime({.domain = domain_});
  for (int i = 0; i < 20; ++i) runtime.add({.name = "asker" + std::to_string(i)}, std::make_shared<Asker>());
  runtime.add({.name = "localizer"}, std::make_shared<Localizer>());
  const StaticTransform lidar("base_link", "radar", at_x(1));
  EXPECT_NO_THROW(runtime.start());
  runtime.stop();
}

TEST_F(ComponentTransforms, EachCallReturnsTheSameTree) {
  struct Twice : Component {
    void on_start(Context& context) override {
      first = context.transforms({.history = 3s});
      second = context.transforms();
    }
    Transforms first, second;
  };
  const auto twice = std::make_shared<Twice>();
  const StaticTransform lidar("base_link", "lidar", at_x(1));
  Runtime runtime({.domain = domain_});
  runtime.add({.name = "twice"}, twice);
  runtime.start();
  EXPECT_TRUE(twice->first.wait("base_link", "lidar", kNewest, kLong));
  EXPECT_TRUE(twice->second.lookup("base_link", "lidar"));
  runtime.stop();
}

struct Outcome {
  std::vector<NoTransform> reasons;
  std::vector<double> places;
  bool operator==(const Outcome&) const = default;
};

Outcome simulated() {
  Simulation simulation;
  Asker& asker = simulation.add<Asker>("asker");
  simulation.add<Localizer>("localizer");
  simulation.start();
  simulation.push(kTransforms, [](TransformMessage& message) {
    TransformStamped one;
    one.header = {.stamp = 1, .sequence = 0, .frame_id = "base_link"};
    one.child_frame_id = "mast";
    message.transforms.push_back(one);
  });
  simulation.push(kCloud, {0});  // before all places: not known, and not waited for
  simulation.run_for(50ms);
  return {asker.reasons, asker.places};
}

TEST(SimulatedTransforms, AreTheSameEachTime) {
  const Outcome first = simulated();
  ASSERT_EQ(first.places.size(), 51U);
  EXPECT_NE(first.reasons[0], NoTransform::None);
  for (std::size_t i = 1; i <= 50; ++i) {
    ASSERT_EQ(first.reasons[i], NoTransform::None);
    EXPECT_DOUBLE_EQ(first.places[i], static_cast<double>(i) + 0.5);
  }
  EXPECT_EQ(simulated(), first);
}

}  // namespace
}  // namespace cardan::transforms_test
