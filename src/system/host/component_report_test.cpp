// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/component_report.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/simulation.hpp"
#include "src/runtime/runtime.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::Sample;
using cardan::host::CallbackReport;
using cardan::host::ComponentReport;

struct Item {
  std::int64_t value = 0;
};

}  // namespace

CARDAN_MESSAGE(Item, "test_msgs/msg/Item", value);

namespace {

constexpr cardan::Topic<Item> kIn{"/in", {.depth = 4}};
constexpr cardan::Topic<Item> kOut{"/out", {.depth = 4}};

struct Worker : cardan::Component {
  void on_start(Context& context) override {
    limit = context.parameter<double>("limit", 2.0, {.min = 0, .description = "\"most\", in m"});
    name = context.parameter<std::string>("name", "ü\n", {.fixed = true});
    out = context.output(kOut);
    newest = context.latest(cardan::Topic<Item>{"/other", {}});
    context.input(kIn, [this](const Sample<Item>& item) {
      if (item->value < 0) throw std::runtime_error("below zero");
      out.publish({item->value});
    });
    context.timer(10ms, [] {}, {.name = "tick"});
  }
  cardan::Parameter<double> limit;
  cardan::Parameter<std::string> name;
  cardan::Output<Item> out;
  cardan::Latest<Item> newest;
};

std::vector<ComponentReport> worked() {
  cardan::Simulation simulation;
  simulation.add<Worker>("worker");
  simulation.start();
  for (int i = 1; i <= 6; ++i) simulation.push(kIn, {i == 6 ? -1 : i});
  simulation.run_for(25ms);
  auto all = cardan::host::report_of(cardan::detail::runtime_of(simulation));
  std::erase_if(all, [](const auto& c) { return c.name != "worker"; });
  return all;
}

TEST(ComponentReport, CountsWhatACallbackDidAndLost) {
  const auto all = worked();
  ASSERT_EQ(all.size(), 1U);
  const ComponentReport& c = all[0];
  ASSERT_EQ(c.callbacks.size(), 3U) << "the runtime's own errands are not shown";
  EXPECT_EQ(c.callbacks[0].kind, CallbackReport::Kind::Latest);
  EXPECT_EQ(c.callbacks[0].topic, "/other");
  const CallbackReport& in = c.callbacks[1];
  EXPECT_EQ(in.kind, CallbackReport::Kind::Input);
  EXPECT_EQ(in.calls, 4U);
  EXPECT_EQ(in.queue_full, 2U);
  EXPECT_EQ(in.kept, 0U);
  EXPECT_EQ(in.failures, 1U);
  EXPECT_EQ(in.capacity, 4U);
  EXPECT_EQ(in.queued, 0U);
  EXPECT_FALSE(in.running.empty());
  EXPECT_EQ(c.callbacks[2].kind, CallbackReport::Kind::Timer);
  EXPECT_EQ(c.callbacks[2].calls, 2U);
  ASSERT_EQ(c.outputs.size(), 1U);
  EXPECT_EQ(c.outputs[0].published, 3U);
  EXPECT_EQ(c.outputs[0].type, "test_msgs/msg/Item");
  ASSERT_EQ(c.parameters.size(), 2U);
  EXPECT_EQ(c.parameters[0].min, cardan::config::Value(0.0));
  EXPECT_TRUE(c.parameters[1].fixed);
}

/// Publishes at each multiple of 10 ms what it has read last.
struct Slow : cardan::Component {
  void on_start(Context& context) override {
    out = context.output(kOut);
    newest = context.latest(kIn);
    context.timer(10ms, [this] {
      if (newest.get()) out.publish({1});
    });
  }
  cardan::Output<Item> out;
  cardan::Latest<Item> newest;
};

TEST(ComponentReport, ShowsTheChainsThatEndWithAnOutput) {
  cardan::Simulation simulation(
      cardan::SimulationOptions{.chains = {{.name = "brake", .from = "/in", .to = "/out", .budget = 5ms},
                                           {.name = "other", .from = "/in", .to = "/x"}}});
  simulation.add<Slow>("slow");
  simulation.add<Worker>("unused");
  simulation.start();
  simulation.run_for(2ms);
  simulation.push(kIn, {1});
  simulation.run_for(10ms);
  auto all = cardan::host::report_of(cardan::detail::runtime_of(simulation));
  std::erase_if(all, [](const auto& c) { return c.name != "slow"; });
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].chains.size(), 1U);
  const cardan::host::ChainReport& chain = all[0].chains[0];
  EXPECT_EQ(chain.chain, "brake");
  EXPECT_EQ(chain.from, "/in");
  EXPECT_EQ(chain.to, "/out");
  EXPECT_EQ(chain.budget_ns, 5'000'000);
  EXPECT_EQ(chain.publications, 1U);
  EXPECT_EQ(chain.late, 1U);
  EXPECT_EQ(chain.greatest_age, 8'000'000);
  EXPECT_EQ(chain.late_ago_ns, 2'000'000);
  ASSERT_EQ(chain.hops.size(), 1U) << "the others never took longest";
  EXPECT_EQ(chain.hops[0],
            (cardan::host::ChainHopReport{.component = "slow", .longest = 1, .late = 1, .longest_ns = 8'000'000}));
  EXPECT_EQ(cardan::host::components_from_json(cardan::host::to_json(all)), all);
}

TEST(ComponentReport, TravelsAsText) {
  auto all = worked();
  all[0].process = "p";
  all[0].pid = 7;
  all[0].restarts = 3;
  all[0].callbacks[1].longest_running = 1'000'000'000'000;
  all[0].callbacks[1].late = 2;
  EXPECT_EQ(cardan::host::components_from_json(cardan::host::to_json(all)), all);
  for (const char* bad : {"", "[", "[{}]", "[1]", R"([{"name": 1}])"})
    EXPECT_THROW((void)cardan::host::components_from_json(bad), cardan::Error) << bad;
}

}  // namespace
