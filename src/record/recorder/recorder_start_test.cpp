// SPDX-License-Identifier: Apache-2.0
// Components that publish as soon as they can, while a recorder runs: it has their first samples.
#include "cardan/component.hpp"
#include "src/record/recorder/recording_test.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::record::test {
namespace {

constexpr int kTopics = 8;

/// With depth 1, and long before anybody can attach by accident.
class Eager : public Component {
  void on_start(Context& context) override {
    for (int i = 0; i < kTopics; ++i)
      out_.push_back(context.output(Topic<Imu>{names_[static_cast<std::size_t>(i)].c_str(), {.depth = 1}}));
    context.timer(100us, [this] {
      for (auto& out : out_) out.publish(Imu{});
    });
  }
  std::vector<std::string> names_ = [] {
    std::vector<std::string> names;
    for (int i = 0; i < kTopics; ++i) names.push_back("/eager/" + std::to_string(i));
    return names;
  }();
  std::vector<Output<Imu>> out_;
};

/// Publishes in on_start() already, more than the depth.
class Hasty : public Component {
  void on_start(Context& context) override {
    first_ = context.output(Topic<Imu>{"/hasty/first", {.depth = 1}});
    left_out_ = context.output(Topic<Imu>{"/hasty/left_out", {.depth = 1}});
    for (int i = 0; i < 5; ++i) {
      first_.publish(Imu{});
      left_out_.publish(Imu{});
    }
  }
  Output<Imu> first_, left_out_;
};

using RecorderStart = RecorderTest;

std::uint64_t too_late(const RecorderReport& report) {
  std::uint64_t all = 0;
  for (const TopicReport& topic : report.topics) all += topic.lost[static_cast<std::size_t>(LossCause::TooLate)];
  return all;
}

TEST_F(RecorderStart, ComponentsWaitForTheirRecorder) {
  RecorderOptions o = options();
  o.exclude = {"/eager/3"};  // not waited for: the time limit is longer than that of the test
  Recorder recorder(o);
  for (int start = 1; start <= 2; ++start) {  // the second time the recorder knows the topics
    Runtime runtime({.domain = domain_, .await_recorders = 1h});
    runtime.add({.name = "eager", .class_name = "Eager"}, std::make_shared<Eager>());
    runtime.start();
    const std::uint64_t before = recorder.report().recorded;
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded > before + 100; }));
    runtime.stop();
  }
  recorder.stop();
  EXPECT_EQ(recorder.report().topics.size(), kTopics - 1U);
  EXPECT_EQ(too_late(recorder.report()), 0U);
}

TEST_F(RecorderStart, SamplesFromOnStartAreThereFromTheFirstOneToo) {
  RecorderOptions o = options();
  o.exclude = {"/hasty/left_out"};
  Recorder recorder(o);
  for (int start = 1; start <= 3; ++start) {
    Runtime runtime({.domain = domain_, .await_recorders = 1h});
    for (const char* name : {"one", "two"}) runtime.add({.name = name}, std::make_shared<Hasty>());
    runtime.start();
    const std::uint64_t all = 10U * static_cast<unsigned>(start);
    ASSERT_TRUE(reaches([&] { return recorder.report().recorded + recorder.report().lost >= all; }));
    runtime.stop();
  }
  recorder.stop();
  EXPECT_EQ(recorder.report().recorded + recorder.report().lost, 30U) << "of depth 1 some may be overwritten";
  EXPECT_EQ(too_late(recorder.report()), 0U);
}

TEST_F(RecorderStart, NobodyWaitsWhereNobodyRecords) {
  Runtime runtime({.domain = domain_, .await_recorders = 1h});
  runtime.add({.name = "eager", .class_name = "Eager"}, std::make_shared<Eager>());
  runtime.start();
  runtime.stop();
  RecorderOptions o = options();
  o.topics = {"/another"};
  Recorder recorder(o);
  Runtime again({.domain = domain_, .await_recorders = 1h});
  again.add({.name = "eager", .class_name = "Eager"}, std::make_shared<Eager>());
  again.start();
  again.stop();
}

}  // namespace
}  // namespace cardan::record::test
