// SPDX-License-Identifier: Apache-2.0
// Parts that nobody made are reported when they are used, and late declarations are refused.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/simulation.hpp"
#include "src/runtime/executor/log_test.hpp"

namespace cardan::unset_test {
namespace {

using namespace std::chrono_literals;
using test::Heard;
using Names = std::vector<std::string>;
constexpr Topic<CanFrame> kFrames{"/frames", {.depth = 4}};
constexpr Topic<Names> kNames{"/names"};

/// Does something in its timer, once.
struct Once : Component {
  explicit Once(std::function<void(Context&)> w) : what(std::move(w)) {}
  void on_start(Context& context) override {
    context.timer(1ms,
                  [this, &context] {
                    if (!std::exchange(done, true)) what(context);
                  },
                  {.name = "tick"});
  }
  std::function<void(Context&)> what;
  bool done = false;
};

std::size_t lines_of(const std::function<void(Context&)>& what, const std::vector<std::string>& parts,
                     std::string* all = nullptr) {
  const Heard heard;
  Simulation simulation;
  simulation.add({.name = "brake"}, std::make_shared<Once>(what));
  simulation.start();
  simulation.run_for(5ms);
  if (all != nullptr) *all = heard.text();
  return heard.lines_with(parts);
}

TEST(Unset, IsAnExceptionWithItsName) {
  struct Case {
    std::function<void(Context&)> use;
    std::string what;
  };
  const std::vector<Case> cases{
      {[](Context&) { (void)Output<CanFrame>().loan(); }, "Output<can_msgs/msg/Frame>"},
      {[](Context&) { (void)Output<CanFrame>().publish(CanFrame{}); }, "Output<can_msgs/msg/Frame>"},
      {[](Context&) { (void)Output<CanFrame>().publish(Loan<CanFrame>()); }, "Output<can_msgs/msg/Frame>"},
      {[](Context&) { (void)Output<Names>().publish(Names{}); }, "Output<std::vector<std::"},
      {[](Context&) { (void)Latest<CanFrame>().get(); }, "Latest<can_msgs/msg/Frame>"},
      {[](Context&) { (void)*Parameter<double>(); }, "Parameter<double>"},
      {[](Context&) { (void)*Parameter<std::string>(); }, "Parameter<std::"},
  };
  for (const Case& c : cases) {
    std::string all;
    EXPECT_EQ(lines_of(c.use, {"component 'brake', callback 'tick'", c.what, "never set", "on_start()"}, &all), 1U)
        << c.what << "\n"
        << all;
  }
}

TEST(Unset, AnEmptySampleHasNoNumbers) {
  const Sample<CanFrame> empty;
  EXPECT_EQ(empty.sequence(), 0U);
  EXPECT_EQ(empty.missed(), 0U);
  EXPECT_EQ(empty.publish_time(), 0);
  EXPECT_EQ(empty.source_time(), 0);
  EXPECT_EQ(empty.age(), 0ns);
}

TEST(Unset, ASimulationWithoutAFreeSlotSaysSo) {
  struct Hoarder : Component {
    void on_start(Context& context) override {
      context.input(kFrames, [this](const Sample<CanFrame>& s) { kept.push_back(s); });
    }
    std::vector<Sample<CanFrame>> kept;
  };
  Simulation simulation;
  simulation.add<Hoarder>("hoarder");
  simulation.start();
  bool refused = false;
  for (int i = 0; i < 1000 && !refused; ++i) {
    try {
      simulation.push(kFrames, CanFrame{});
      simulation.run();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::Limit);
      EXPECT_NE(std::string(e.what()).find("/frames"), std::string::npos);
      refused = true;
    }
  }
  EXPECT_TRUE(refused);
}

TEST(Declaring, IsForOnStartAlone) {
  struct Case {
    std::function<void(Context&)> declare;
    std::string what;
  };
  const std::vector<Case> cases{
      {[](Context& c) { c.input(kFrames, [](const Sample<CanFrame>&) {}); }, "the input '/frames'"},
      {[](Context& c) { (void)c.latest(kFrames); }, "the input '/frames'"},
      {[](Context& c) { (void)c.output(kFrames); }, "the output '/frames'"},
      {[](Context& c) { c.timer(1ms, [] {}, {.name = "late"}); }, "the timer 'late'"},
      {[](Context& c) { (void)c.parameter<bool>("late", true); }, "the parameter 'late'"},
      {[](Context& c) {
         c.fuse(exact(), [](const Sample<CanFrame>&, const Sample<Names>&) {}, {.name = "late"}, kFrames, kNames);
       },
       "the fusion 'late'"},
  };
  for (const Case& c : cases) {
    std::string all;
    EXPECT_EQ(
        lines_of(c.declare, {"component 'brake' declares " + c.what, "in its callback 'tick'", "on_start()"}, &all), 1U)
        << all;
  }
}

TEST(Declaring, TheRuntimeContinuesAfterARefusal) {
  const Heard heard;
  Simulation simulation;
  int calls = 0;
  struct Reader : Component {
    explicit Reader(int& c) : calls(c) {}
    void on_start(Context& context) override {
      context.input(kFrames, [this, &context](const Sample<CanFrame>&) {
        ++calls;
        context.input(kNames, [](const Sample<Names>&) {});
      });
    }
    int& calls;
  };
  simulation.add({.name = "reader"}, std::make_shared<Reader>(calls));
  simulation.start();
  for (int i = 0; i < 3; ++i) {
    simulation.push(kFrames, CanFrame{});
    simulation.run();
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(heard.lines_with({"the input '/names'"}), 1U) << "the same exception is counted, not repeated";
}

TEST(SampleAge, IsByTheSimulationsClock) {
  struct Reader : Component {
    void on_start(Context& context) override {
      latest = context.latest(kFrames);
      context.input(kFrames, [this](const Sample<CanFrame>& s) { at_once = s.age(); }, {.name = "in"});
      context.timer(10ms, [this] {
        if (const auto s = latest.get()) later = s.age();
      });
    }
    Latest<CanFrame> latest;
    std::chrono::nanoseconds at_once{-1}, later{-1};
  };
  Simulation simulation({.begin = 1'700'000'000'000'000'000});
  Reader& reader = simulation.add<Reader>("reader");
  simulation.start();
  simulation.run_for(5ms);
  simulation.push(kFrames, CanFrame{});
  simulation.run();
  EXPECT_EQ(reader.at_once, 0ns);
  simulation.run_for(5ms);
  EXPECT_EQ(reader.later, 5ms) << "the timer at 10 ms, the sample of 5 ms";
}

}  // namespace
}  // namespace cardan::unset_test
