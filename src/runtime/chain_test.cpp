// SPDX-License-Identifier: Apache-2.0
// Chains through components: the age of what began on one topic, apart from all else that a publication rests on.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cardan/simulation.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/executor/chain_end.hpp"
#include "src/runtime/runtime.hpp"
#include "src/runtime/street_test.hpp"

namespace cardan::chain_test {
namespace {

using namespace std::chrono_literals;
using namespace street_test;  // NOLINT(google-build-using-namespace): its topics are those of this file

/// Publishes at each multiple of its period what it has read last.
template <class In, class Out, int kPeriodMs>
struct Stage : Component {
  Stage(Topic<In> from, Topic<Out> to, bool rests_on = true) : from_(from), to_(to), rests_on_(rests_on) {}
  void on_start(Context& context) override {
    out_ = context.output(to_);
    latest_ = context.latest(from_, {.rests_on = rests_on_});
    context.timer(std::chrono::milliseconds(kPeriodMs), [this] {
      if (latest_.get()) out_.publish(Out{});
    });
  }

 private:
  Topic<In> from_;
  Topic<Out> to_;
  bool rests_on_;
  Latest<In> latest_;
  Output<Out> out_;
};
template <int kPeriodMs, class In, class Out>
std::shared_ptr<Component> stage(Topic<In> from, Topic<Out> to, bool rests_on = true) {
  return std::make_shared<Stage<In, Out, kPeriodMs>>(from, to, rests_on);
}

/// Publishes a command for each pair of a picture and a scan.
struct Fuser : Component {
  void on_start(Context& context) override {
    out = context.output(kCommand);
    context.fuse(exact(), [this](const Sample<Number>&, const Sample<Number>&) { out.publish({1}); }, kCamera, kLidar);
  }
  Output<Number> out;
};

class Chains : public testing::Test {
 protected:
  void at(std::chrono::milliseconds time) { simulation.run_until(1'000'000'000 + time / 1ns); }
  /// The end of a chain in the component that publishes there.
  const detail::ChainEnd& end_of(std::string_view chain) {
    for (const auto& core : detail::runtime_of(simulation).components())
      for (const auto& declared : core->declared())
        if (declared.output && declared.out->chain_ends() != nullptr)
          for (const detail::ChainEnd& end : declared.out->chain_ends()->all())
            if (end.chain().name == chain) return end;
    throw std::runtime_error("no component publishes at the end of the chain");
  }
  static std::uint64_t publications(const detail::ChainEnd& end) { return end.in_time() + end.late() + end.unknown(); }
  static const detail::ChainEnd::Hop& hop(const detail::ChainEnd& end, std::string_view component) {
    for (const auto& hop : end.hops())
      if (hop.component == component) return hop;
    throw std::runtime_error("the chain does not know the component");
  }
  Simulation simulation{{.begin = 1'000'000'000,
                         .chains = {{.name = "brake", .from = "/camera", .to = "/command", .budget = 50ms},
                                    {.name = "avoid", .from = "/lidar", .to = "/command", .budget = 50ms}}}};
};

TEST_F(Chains, TheComponentThatTookLongestIsReported) {
  simulation.add({.name = "detector"}, stage<40>(kCamera, kFound));
  simulation.add({.name = "decision"}, stage<60>(kFound, kCommand));
  simulation.start();
  at(5ms);
  simulation.push(kCamera, {1});
  at(60ms);  // found at 40 ms, decided at 60 ms
  const detail::ChainEnd& end = end_of("brake");
  EXPECT_EQ(publications(end), 1U);
  EXPECT_EQ(end.age().longest(), 55'000'000);
  EXPECT_EQ(end.late(), 1U);
  EXPECT_EQ(end.last_late_age(), 55'000'000);
  ASSERT_NE(end.last_late_hop(), nullptr);
  EXPECT_EQ(end.last_late_hop()->component, "detector");
  EXPECT_EQ(hop(end, "detector").longest_ns.load(), 35'000'000);
  EXPECT_EQ(hop(end, "decision").longest.load(), 0U);
  EXPECT_EQ(publications(end_of("avoid")), 0U) << "no scan is among its grounds";
}

TEST_F(Chains, EachBeginningOfAFusedSetHasItsOwnAge) {
  simulation.add<Fuser>("fuser");
  simulation.start();
  simulation.push(kCamera, {1}, 100);
  at(20ms);
  simulation.push(kLidar, {1}, 100);
  at(30ms);
  EXPECT_EQ(end_of("brake").age().longest(), 20'000'000);
  EXPECT_EQ(end_of("avoid").age().longest(), 0);
  EXPECT_EQ(publications(end_of("avoid")), 1U);
}

TEST_F(Chains, ObjectsOfTheProcessHandThemOn) {
  simulation.add({.name = "namer"}, stage<10>(kCamera, kWords));
  simulation.add({.name = "decision"}, stage<30>(kWords, kCommand));
  simulation.start();
  simulation.push(kCamera, {1});
  at(30ms);  // named at 10, 20 and 30 ms; the later stage of 30 ms reads what there is then
  EXPECT_EQ(publications(end_of("brake")), 1U);
  EXPECT_EQ(end_of("brake").age().longest(), 30'000'000);
  EXPECT_EQ(end_of("brake").late(), 0U);
}

TEST_F(Chains, AnInputThatIsNotAGroundMakesNothingOld) {
  simulation.add({.name = "decision"}, stage<30>(kCamera, kCommand, false));
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  simulation.push(kCamera, {1});
  at(30ms);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].origin_time(), commands[0].publish_time());
  EXPECT_EQ(publications(end_of("brake")), 0U);
}

TEST_F(Chains, AChainBeginsAgainOnItsTopic) {
  simulation.add({.name = "driver"}, stage<20>(kMap, kCamera));
  simulation.add({.name = "loop"}, stage<50>(kCamera, kMap));
  simulation.add({.name = "decision"}, stage<70>(kCamera, kCommand));
  simulation.start();
  simulation.push(kMap, {1});
  at(140ms);  // the picture of 60 ms and that of 140 ms, or of 120 ms
  EXPECT_EQ(publications(end_of("brake")), 2U);
  EXPECT_LE(end_of("brake").age().longest(), 20'000'000) << "the picture counts, and not the one that it rests on";
}

TEST_F(Chains, ALoanNamesTheSamplesThatAComponentKeeps) {
  struct Keeper : Component {
    void on_start(Context& context) override {
      out = context.output(kCommand);
      context.input(kCamera, [this](const Sample<Number>& picture) { kept = picture; });
      context.input(kLidar, [this](const Sample<Number>&) {
        for (const bool rests : {true, false}) {
          Loan<Number> loan = out.loan();
          if (rests) loan.rests_on(kept);
          out.publish(std::move(loan));
        }
      });
    }
    Sample<Number> kept;
    Output<Number> out;
  };
  simulation.add<Keeper>("keeper");
  simulation.start();
  simulation.push(kCamera, {1});
  at(40ms);
  simulation.push(kLidar, {2});
  simulation.run();
  EXPECT_EQ(publications(end_of("brake")), 1U) << "only one of the two loans names the picture";
  EXPECT_EQ(end_of("brake").age().longest(), 40'000'000);
  EXPECT_EQ(publications(end_of("avoid")), 2U);
}

}  // namespace
}  // namespace cardan::chain_test
