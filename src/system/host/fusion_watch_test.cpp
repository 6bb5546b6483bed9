// SPDX-License-Identifier: Apache-2.0
// Fusions of components: their names and depths, the time that they use, what is counted, and what is reported when
// none of their samples come together.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/simulation.hpp"
#include "src/runtime/executor/log_test.hpp"
#include "src/runtime/runtime.hpp"
#include "src/system/host/component_report.hpp"

namespace fused {
/// A stamp where no header is.
struct Tick {
  std::int64_t at = 0;
};
struct Plain {
  std::int64_t value = 0;
};
}  // namespace fused
CARDAN_MESSAGE(fused::Tick, "test_msgs/msg/Tick", at);
CARDAN_MESSAGE(fused::Plain, "test_msgs/msg/Plain", value);

namespace cardan {
template <>
struct fusion_stamp<fused::Tick> {
  static std::int64_t of(const fused::Tick& tick) noexcept { return tick.at; }
};
}  // namespace cardan

namespace cardan::fusion_watch_test {
namespace {

using namespace std::chrono_literals;
using test::Heard;

constexpr Topic<Imu> kLeft{"/left", {.depth = 8}};
constexpr Topic<Imu> kRight{"/right", {.depth = 8}};
constexpr Topic<fused::Tick> kTick{"/tick", {.depth = 8}};

template <class Declare>
struct Joiner : Component {
  explicit Joiner(Declare d) : declare(std::move(d)) {}
  void on_start(Context& context) override { declare(context); }
  Declare declare;
};
template <class Declare>
void add(Simulation& simulation, Declare declare) {
  simulation.add({.name = "joiner"}, std::make_shared<Joiner<Declare>>(std::move(declare)));
}

host::ComponentReport report_of_joiner(Simulation& simulation) {
  for (auto& c : host::report_of(cardan::detail::runtime_of(simulation)))
    if (c.name == "joiner") return c;
  ADD_FAILURE();
  return {};
}

TEST(ComponentFusion, ATopicCanBeFusedTwiceUnderTwoNames) {
  Simulation simulation;
  int both = 0, late = 0;
  add(simulation, [&](Context& context) {
    context.fuse(exact(), [&](const Sample<Imu>&, const Sample<Imu>&) { ++both; }, kLeft, kRight);
    context.fuse(
        primary({.input = 1}), [&](const Sample<Imu>&, const Sample<fused::Tick>&) { ++late; },
        {.name = "ticked", .inputs = {{.name = "left again", .depth = 3}, {}}}, kLeft, kTick);
  });
  simulation.start();
  for (int i = 1; i <= 5; ++i) {
    simulation.push(kLeft, Imu{}, i);
    simulation.push(kRight, Imu{}, i);
    simulation.push(kTick, fused::Tick{}, i);
    simulation.run();
  }
  EXPECT_EQ(both, 5);
  EXPECT_EQ(late, 5);
  const host::ComponentReport report = report_of_joiner(simulation);
  const auto capacity = [&](const std::string& callback) {
    for (const auto& c : report.callbacks)
      if (c.name == callback) return c.capacity;
    return 0U;
  };
  EXPECT_EQ(capacity("/left"), 8U) << "the topic's";
  EXPECT_EQ(capacity("left again"), 3U);
  ASSERT_EQ(report.fusions.size(), 2U);
  EXPECT_EQ(report.fusions[0].name, "fusion");
  EXPECT_EQ(report.fusions[0].policy, "exact");
  EXPECT_EQ(report.fusions[0].time, "source");
  EXPECT_EQ(report.fusions[0].fired, 5U);
  EXPECT_EQ(report.fusions[1].name, "ticked");
  EXPECT_EQ(report.fusions[1].fired, 5U);
  ASSERT_EQ(report.fusions[1].inputs.size(), 2U);
  EXPECT_EQ(report.fusions[1].inputs[0].name, "left again");
  EXPECT_EQ(report.fusions[1].inputs[0].topic, "/left");
  EXPECT_EQ(report.fusions[1].inputs[0].offered, 5U);
  EXPECT_FALSE(report.fusions[1].silent);
  const std::vector<host::ComponentReport> all{report};
  EXPECT_EQ(host::components_from_json(host::to_json(all)), all);
}

TEST(ComponentFusion, WithoutNamesTheMessageSaysHowToGiveThem) {
  Simulation simulation;
  add(simulation, [&](Context& context) {
    context.fuse(exact(), [](const Sample<Imu>&, const Sample<Imu>&) {}, kLeft, kRight);
    context.fuse(exact(), [](const Sample<Imu>&, const Sample<fused::Tick>&) {}, kLeft, kTick);
  });
  try {
    simulation.start();
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::NameTaken);
    EXPECT_NE(std::string(e.what()).find("FuseOptions::inputs"), std::string::npos) << e.what();
  }
}

TEST(ComponentFusion, ALatestMayAccompanyAnInput) {
  Simulation simulation;
  Latest<Imu> latest;
  int calls = 0;
  add(simulation, [&](Context& context) {
    context.input(kLeft, [&](const Sample<Imu>&) { ++calls; });
    latest = context.latest(kLeft, {.name = "newest"});
  });
  simulation.start();
  simulation.push(kLeft, Imu{}, 7);
  simulation.run();
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(latest.get());
  EXPECT_EQ(latest.get().source_time(), 7);
}

TEST(ComponentFusion, GoesByTheHeadersStampWhereItIsToldTo) {
  Simulation simulation;
  int header = 0, source = 0;
  add(simulation, [&](Context& context) {
    context.fuse(
        exact({.time = FusionTime::HeaderStamp}), [&](const Sample<Imu>&, const Sample<fused::Tick>&) { ++header; },
        kLeft, kTick);
    context.fuse(
        exact(), [&](const Sample<Imu>&, const Sample<fused::Tick>&) { ++source; },
        {.inputs = {{.name = "a"}, {.name = "b"}}}, kLeft, kTick);
  });
  simulation.start();
  for (int i = 1; i <= 5; ++i) {
    simulation.push(kLeft, [i](Imu& imu) { imu.header.stamp = 1000 + i; }, i);
    simulation.push(kTick, [i](fused::Tick& tick) { tick.at = 1000 + i; }, 100 + i);
    simulation.run();
  }
  EXPECT_EQ(header, 5);
  EXPECT_EQ(source, 0);
}

TEST(ComponentFusion, RefusesToGoByAStampThatAMessageHasNot) {
  const FusionPolicy policy = exact({.time = FusionTime::HeaderStamp});
  try {
    const Fusion<Imu, fused::Plain> fusion{policy};
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(e.what()).find("input 1"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("header.stamp"), std::string::npos) << e.what();
  }
}

// ---------------------------------------------------------------- silence

/// Seconds of samples at 10 Hz of the simulated clock.
void play(Simulation& simulation, int seconds, const std::function<void(int)>& one) {
  for (int i = 1; i <= 10 * seconds; ++i) {
    simulation.run_for(100ms);
    one(i);
    simulation.run();
  }
}

TEST(SilentFusion, SaysThatOneInputIsNotStamped) {
  const Heard heard;
  Simulation simulation;
  int sets = 0;
  add(simulation, [&](Context& context) {
    context.fuse(exact(), [&](const Sample<Imu>&, const Sample<Imu>&) { ++sets; }, {.name = "pair"}, kLeft, kRight);
  });
  simulation.start();
  play(simulation, 3, [&](int i) {
    simulation.push(kLeft, Imu{}, i);
    simulation.push(kRight, Imu{});
  });
  EXPECT_EQ(heard.lines_with({"pair"}), 0U) << "not yet";
  EXPECT_FALSE(report_of_joiner(simulation).fusions.at(0).silent);
  play(simulation, 8, [&](int i) {
    simulation.push(kLeft, Imu{}, i);
    simulation.push(kRight, Imu{});
  });
  EXPECT_EQ(heard.lines_with(
                {"joiner: fusion 'pair' (exact by source) of /left, /right", "samples of /right have no source stamp"}),
            1U)
      << heard.text();
  const host::FusionReport report = report_of_joiner(simulation).fusions.at(0);
  EXPECT_TRUE(report.silent);
  EXPECT_EQ(report.fired, 0U);
  EXPECT_EQ(report.inputs.at(1).unstamped, report.inputs.at(1).offered);
  EXPECT_NE(report.why.find("/right"), std::string::npos);
  for (int round = 0; round < 2; ++round) {
    play(simulation, 1, [&](int i) {
      simulation.push(kLeft, Imu{}, 1'000'000'000'000 + i);
      simulation.push(kRight, Imu{}, 1'000'000'000'000 + i);
    });
    EXPECT_EQ(heard.lines_with({"'pair' makes sets again"}), 1U) << heard.text();
  }
  EXPECT_GT(sets, 0);
  EXPECT_FALSE(report_of_joiner(simulation).fusions.at(0).silent);
}

TEST(SilentFusion, SaysWhatIsMissingAndWhatIsTooFar) {
  const Heard heard;
  Simulation simulation;
  add(simulation, [&](Context& context) {
    context.fuse(
        approximate({.tolerance = 20ms}), [](const Sample<Imu>&, const Sample<Imu>&) {}, {.name = "pair"}, kLeft,
        kRight);
  });
  simulation.start();
  play(simulation, 7, [&](int i) { simulation.push(kLeft, Imu{}, i); });
  EXPECT_EQ(heard.lines_with({"'pair'", "no samples of /right arrived"}), 1U) << heard.text();

  Simulation other;
  add(other, [&](Context& context) {
    context.fuse(
        approximate({.tolerance = 20ms}), [](const Sample<Imu>&, const Sample<Imu>&) {}, {.name = "apart"}, kLeft,
        kRight);
  });
  other.start();
  play(other, 7, [&](int i) {
    other.push(kLeft, Imu{}, i * std::int64_t{100'000'000});
    other.push(kRight, Imu{}, i * std::int64_t{100'000'000} + 3'600'000'000'000);
  });
  EXPECT_EQ(heard.lines_with({"'apart'", "within the tolerance of 20.000 ms", "the newest of /left is 3"}), 1U)
      << heard.text();
}

}  // namespace
}  // namespace cardan::fusion_watch_test
