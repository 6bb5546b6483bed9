// SPDX-License-Identifier: Apache-2.0
// The launcher publishes the transforms of its configuration.
#include <gtest/gtest.h>

#include <future>

#include "cardan/cardan.hpp"
#include "cardan/transforms.hpp"
#include "tests/runtime/fake_host.hpp"
#include "tests/support/child.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;

config::FrameTransform placed(const std::string& child, double x) {
  return {.parent = "base_link", .child = child, .place = {.translation = {x, 0, 0}, .rotation = {}}};
}

config::Configuration file_with(std::vector<config::FrameTransform> transforms, const std::string& folder) {
  config::Configuration c = file_of({fake("p", "steady", {{"FAKE_FOLDER", folder}})});
  c.transforms = std::move(transforms);
  return c;
}

std::string frames_of(const Transforms& tf) {
  std::string all;
  for (const FrameReport& f : tf.frames())
    if (f.is_static) all += f.name + " " + std::to_string(static_cast<int>(f.place.translation.x)) + ", ";
  return all;
}

class PlaceFrames : public LauncherTest {
 protected:
  /// Runs the file and does the steps, one after the other, each once it is running.
  void run(Launch& run, std::vector<std::function<bool()>> steps) {
    run.options.duration = 120s;
    run.options.tick = 10ms;
    bool up = false;
    std::size_t step = 0;
    run.on_line = [&](const Launch::Line& line) { up = up || has(line.text, "→ running"); };
    run.options.on_tick = [&] {
      if (up && step < steps.size() && steps[step]() && ++step == steps.size()) run.stop_once();
    };
    EXPECT_EQ(run.run(), 0) << run.all();
    EXPECT_EQ(step, steps.size()) << run.all();
  }
  std::future<OrderAnswer> apply(Launch& run, std::vector<config::FrameTransform> transforms) {
    PlanChange change{.from = run.supervisor->plan()};
    change.to =
        std::make_shared<const plan::Plan>(plan::Plan{.configuration = file_with(std::move(transforms), folder_)});
    change.difference = plan::difference(*change.from, *change.to);
    why_ = change.difference.others.empty() ? "" : change.difference.others.front();
    EXPECT_TRUE(change.difference.restart.empty());
    return run.supervisor->order(
        {.what = Order::What::Apply, .change = std::make_shared<const PlanChange>(std::move(change))});
  }
  static bool done(std::future<OrderAnswer>& order) {
    if (order.wait_for(0s) != std::future_status::ready) return false;
    const OrderAnswer answer = order.get();
    EXPECT_FALSE(answer.error) << answer.error->what();
    return true;
  }
  std::string why_;
};

TEST_F(PlaceFrames, ReadersThatComeLaterKnowThem) {
  Launch launch(file_with({placed("lidar", 1), placed("radar", 2)}, folder_), folder_);
  std::string found;
  run(launch, {[&] {
        const Transforms tf{TransformsOptions{}};
        found = frames_of(tf);
        const FoundTransform between = tf.lookup("lidar", "radar");
        EXPECT_TRUE(between) << between.text();
        EXPECT_EQ(between->translation.x, 1);
        return true;
      }});
  EXPECT_EQ(found, "lidar 1, radar 2, ");
  launch.supervisor.reset();
  EXPECT_EQ(frames_of(Transforms(TransformsOptions{})), "") << "they end with the system";
}

TEST_F(PlaceFrames, AnotherPlanMovesThem) {
  Launch launch(file_with({placed("lidar", 1)}, folder_), folder_);
  std::optional<Transforms> tf;
  std::future<OrderAnswer> order;
  std::vector<config::FrameTransform> many{placed("lidar", 4)};
  for (int i = 0; i < 300; ++i) many.push_back(placed("f" + std::to_string(i), i));
  run(launch, {[&] {
                 tf.emplace(TransformsOptions{});
                 order = apply(launch, {placed("lidar", 3), placed("radar", 2)});
                 return true;
               },
               [&] { return done(order); }, [&] { return frames_of(*tf) == "lidar 3, radar 2, "; },
               [&] {
                 EXPECT_EQ(why_, "the transforms: 'lidar' is moved, 'radar' is new");
                 order = apply(launch, many);
                 return true;
               },
               [&] { return done(order); }, [&] { return tf->lookup("base_link", "f299")->translation.x == 299; },
               [&] {
                 EXPECT_EQ(tf->lookup("base_link", "lidar")->translation.x, 4);
                 EXPECT_NE(frames_of(Transforms(TransformsOptions{})).find("lidar 4, "), std::string::npos)
                     << "and those who come now know them too";
                 order = apply(launch, {});
                 return true;
               },
               [&] { return done(order); },
               [&] {
                 EXPECT_EQ(frames_of(Transforms(TransformsOptions{})), "");
                 return true;
               }});
}

TEST_F(PlaceFrames, APlanMayBringTheFirstOnes) {
  Launch launch(file_with({}, folder_), folder_);
  std::optional<Transforms> tf;
  std::future<OrderAnswer> order;
  run(launch, {[&] {
                 tf.emplace(TransformsOptions{});
                 EXPECT_EQ(frames_of(*tf), "");
                 order = apply(launch, {placed("lidar", 1)});
                 return true;
               },
               [&] { return done(order); }, [&] { return frames_of(*tf) == "lidar 1, "; }});
}

TEST_F(PlaceFrames, TheFileMayChangeTheTopic) {
  config::Configuration file = file_with({placed("lidar", 1)}, folder_);
  file.topics["/tf_static"] = {.depth = 2, .reliable = true, .process_private = true, .writers = 1, .max_bytes = 8};
  Launch launch(std::move(file), folder_);
  run(launch, {[&] {
        EXPECT_EQ(frames_of(Transforms(TransformsOptions{})), "lidar 1, ");
        return true;
      }});
}

}  // namespace
}  // namespace cardan::launcher
