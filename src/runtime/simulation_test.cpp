// SPDX-License-Identifier: Apache-2.0
#include "cardan/simulation.hpp"
#include "src/runtime/runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::ErrorCode;
using cardan::ParameterValue;
using cardan::Sample;
using cardan::Simulation;

struct Number {
  std::int64_t value = 0;
};

/// An object that no shared memory can carry.
using Names = std::map<std::string, std::vector<int>>;

}  // namespace

CARDAN_MESSAGE(Number, "test_msgs/msg/Number", value);

namespace {

constexpr cardan::Topic<Number> kIn{"/in", {.depth = 8}};
constexpr cardan::Topic<Number> kOut{"/out", {.depth = 8}};
constexpr cardan::Topic<Names> kNames{"/names", {.depth = 8}};
constexpr cardan::Topic<cardan::Image> kImage{"/image", {.max_bytes = 4096}};

class Doubler : public cardan::Component {
  void on_start(Context& context) override {
    factor_ = context.parameter<std::int64_t>("factor", 2, {.min = 1, .max = 9, .description = "how often"});
    out_ = context.output(kOut);
    context.input(kIn, [this](const Sample<Number>& in) { out_.publish({in->value * *factor_}); });
  }
  cardan::Parameter<std::int64_t> factor_;
  cardan::Output<Number> out_;
};
CARDAN_COMPONENT(Doubler)

std::vector<std::int64_t> values(const std::vector<Sample<Number>>& samples) {
  std::vector<std::int64_t> all;
  for (const auto& s : samples) all.push_back(s->value);
  return all;
}

TEST(Simulation, AComponentIsTestedInAFewLines) {
  Simulation simulation;
  simulation.add<Doubler>("doubler", {{"factor", std::int64_t{3}}});
  const auto& out = simulation.collect(kOut);
  simulation.start();
  simulation.push(kIn, {14});
  simulation.run();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]->value, 42);
  EXPECT_EQ(out[0].sequence(), 1U);
}

TEST(Simulation, QueueKeepsTheFreshestAndCounts) {
  Simulation simulation;
  simulation.add<Doubler>("doubler");
  const auto& out = simulation.collect(kOut);
  simulation.start();
  for (int i = 1; i <= 20; ++i) simulation.push(kIn, {i});
  simulation.run();
  EXPECT_EQ(values(out), (std::vector<std::int64_t>{26, 28, 30, 32, 34, 36, 38, 40}));
  for (const auto& core : cardan::detail::runtime_of(simulation).components())
    for (const auto& d : core->declared())
      if (core->name() == "doubler" && d.port != nullptr) {
        EXPECT_EQ(d.port->statistics().dropped.load(), 12U);
        EXPECT_EQ(d.port->statistics().calls.load(), 8U);
      }
}

TEST(Simulation, TimersRunOnTheirGridAndTheClockIsTheSimulations) {
  struct Ticker : cardan::Component {
    void on_start(Context& context) override {
      context.timer(10ms, [this, &context] { ticks.push_back(context.now()); });
      context.timer(25ms, [this, &context] { slow.push_back(context.now()); }, {.delay = 5ms});
    }
    std::vector<std::int64_t> ticks, slow;
  };
  Simulation simulation({.begin = 1'000'000'000});
  const auto& ticker = simulation.add<Ticker>("ticker");
  simulation.start();
  simulation.run_for(50ms);
  const auto ms = [](std::int64_t n) { return 1'000'000'000 + n * 1'000'000; };
  EXPECT_EQ(ticker.ticks, (std::vector<std::int64_t>{ms(10), ms(20), ms(30), ms(40), ms(50)}));
  EXPECT_EQ(ticker.slow, (std::vector<std::int64_t>{ms(5), ms(30)}));
  EXPECT_EQ(simulation.now(), ms(50));
}

TEST(Simulation, OverrunsAreSkippedOrCaughtUp) {
  struct Late : cardan::Component {
    void on_start(Context& context) override {
      context.timer(10ms, [this] { ++skipping; }, {.name = "skip"});
      context.timer(10ms, [this] { ++catching_up; }, {.overrun = cardan::Overrun::CatchUp, .name = "catch"});
    }
    int skipping = 0, catching_up = 0;
  };
  Simulation simulation;
  const auto& late = simulation.add<Late>("late");
  simulation.start();
  cardan::detail::runtime_of(simulation).clock().simulate(45'000'000);  // as if everything had stood still
  simulation.run();
  EXPECT_EQ(late.skipping, 1);
  EXPECT_EQ(late.catching_up, 4);
  std::map<std::string, std::uint64_t> overruns;
  for (const auto& core : cardan::detail::runtime_of(simulation).components())
    for (const auto& c : core->callbacks()) overruns[c->name()] = c->statistics().overruns.load();
  EXPECT_EQ(overruns["skip"], 3U);
  EXPECT_EQ(overruns["catch"], 0U) << "it left none out";
  simulation.run_for(5ms);
  EXPECT_EQ(late.skipping, 2) << "the grid has not moved";
}

TEST(Simulation, ObjectsOfAnyTypePassAsOnePointer) {
  struct Maker : cardan::Component {
    void on_start(Context& context) override { out = context.output(kNames); }
    cardan::Output<Names> out;
  };
  struct Reader : cardan::Component {
    void on_start(Context& context) override {
      context.input(kNames, [this](const Sample<Names>& s) { seen = s; });
    }
    Sample<Names> seen;
  };
  Simulation simulation;
  auto& maker = simulation.add<Maker>("maker");
  auto& one = simulation.add<Reader>("one");
  auto& two = simulation.add<Reader>("two");
  simulation.start();
  auto object = std::make_shared<const Names>(Names{{"a", {1, 2}}});
  maker.out.publish(object);
  simulation.run();
  EXPECT_EQ(one.seen.get(), object.get());
  EXPECT_EQ(two.seen.get(), object.get()) << "no copy for the second one";
  object.reset();
  EXPECT_EQ(one.seen->at("a").size(), 2U);
}

TEST(Simulation, AMessageIsReadWhereItWasFilled) {
  struct Camera : cardan::Component {
    void on_start(Context& context) override { out = context.output(kImage); }
    cardan::Output<cardan::Image> out;
  };
  struct Viewer : cardan::Component {
    void on_start(Context& context) override {
      context.input(kImage, [this](const Sample<cardan::Image>& s) { pixels = s->data.data(); });
    }
    const void* pixels = nullptr;
  };
  Simulation simulation;
  auto& camera = simulation.add<Camera>("camera");
  auto& viewer = simulation.add<Viewer>("viewer");
  auto& other = simulation.add<Viewer>("other");
  const auto& kept = simulation.collect(kImage);
  simulation.start();
  std::vector<const void*> filled;
  for (int i = 0; i < 20; ++i) {
    auto loan = camera.out.loan();
    ASSERT_TRUE(loan) << i;
    loan->data.resize(4096);
    loan->data[0] = static_cast<std::uint8_t>(i);
    const void* pixels = loan->data.data();
    camera.out.publish(std::move(loan));
    simulation.run();
    EXPECT_EQ(viewer.pixels, pixels);
    EXPECT_EQ(other.pixels, pixels);
  }
  ASSERT_EQ(kept.size(), 20U) << "copies that keep no slot";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i]->data.size(), 4096U);
    EXPECT_EQ(kept[i]->data[0], i);
  }
}

TEST(Simulation, ASampleThatIsKeptIsNotRefilled) {
  struct Keeper : cardan::Component {
    void on_start(Context& context) override {
      context.input(kImage, [this](const Sample<cardan::Image>& s) {
        if (s->data[0] % 10 == 0) kept = s;
      });
    }
    Sample<cardan::Image> kept;
  };
  struct Camera : cardan::Component {
    void on_start(Context& context) override { out = context.output(kImage); }
    cardan::Output<cardan::Image> out;
  };
  Simulation simulation;
  auto& camera = simulation.add<Camera>("camera");
  auto& keeper = simulation.add<Keeper>("keeper");
  simulation.start();
  for (int i = 0; i < 200; ++i) {
    auto loan = camera.out.loan();
    ASSERT_TRUE(loan) << i;
    loan->data.resize(1000);
    std::fill(loan->data.begin(), loan->data.end(), static_cast<std::uint8_t>(i));
    camera.out.publish(std::move(loan));
    simulation.run();
    ASSERT_TRUE(keeper.kept);
    for (const std::uint8_t byte : keeper.kept->data.span()) ASSERT_EQ(byte, i / 10 * 10) << "after " << i;
  }
}

TEST(Simulation, AComponentFuses) {
  struct Joiner : cardan::Component {
    void on_start(Context& context) override {
      context.fuse(
          cardan::approximate({.tolerance = 5ms}),
          [this](const Sample<Number>& a, const Sample<cardan::Image>& b) { pairs.emplace_back(a->value, b->data[0]); },
          kIn, kImage);
    }
    std::vector<std::pair<std::int64_t, int>> pairs;
  };
  Simulation simulation;
  const auto& joiner = simulation.add<Joiner>("joiner");
  simulation.start();
  for (int i = 1; i <= 10; ++i) {
    const std::int64_t at = i * 20'000'000;
    simulation.at(at, [&simulation, i] { simulation.push(kIn, {i}); });
    simulation.at(at + 3'000'000, [&simulation, i] {
      simulation.push(kImage, [i](cardan::Image& image) { image.data.resize(1, static_cast<std::uint8_t>(i)); });
    });
  }
  simulation.run_for(1s);
  ASSERT_GE(joiner.pairs.size(), 9U) << "the last one may wait for what comes after it";
  for (std::size_t i = 0; i < joiner.pairs.size(); ++i)
    EXPECT_EQ(joiner.pairs[i], (std::pair<std::int64_t, int>(i + 1, i + 1)));
  const auto& core = *cardan::detail::runtime_of(simulation).components().back();
  ASSERT_EQ(core.fusions().size(), 1U);
  EXPECT_EQ(core.fusions()[0].statistics().fired, joiner.pairs.size());
}

TEST(Simulation, PrioritiesThenOrder) {
  std::vector<std::string> order;
  struct Logger : cardan::Component {
    explicit Logger(std::vector<std::string>& o) : order(o) {}
    void on_start(Context& context) override {
      context.input(kIn, [this, &context](const Sample<Number>& s) {
        order.push_back(context.name() + std::to_string(s->value));
      });
    }
    std::vector<std::string>& order;
  };
  Simulation simulation;
  simulation.add({.name = "low", .priority = 1}, std::make_shared<Logger>(order));
  simulation.add({.name = "high", .priority = 9}, std::make_shared<Logger>(order));
  simulation.add({.name = "low_too", .priority = 1}, std::make_shared<Logger>(order));
  simulation.start();
  simulation.push(kIn, {1});
  simulation.push(kIn, {2});
  simulation.run();
  EXPECT_EQ(order, (std::vector<std::string>{"high1", "high2", "low1", "low_too1", "low2", "low_too2"}));
}

TEST(Simulation, TheSameTwiceBitForBit) {
  const auto run = [] {
    Simulation simulation;
    struct Mixer : cardan::Component {
      void on_start(Context& context) override {
        out = context.output(kOut);
        newest = context.latest(kIn);
        context.timer(7ms, [this, &context] {
          const auto in = newest.get();
          state = (state * 31 + (in ? in->value + in.publish_time() : -1) + context.now()) % 1'000'000'007;
          out.publish({state});
        });
      }
      cardan::Output<Number> out;
      cardan::Latest<Number> newest;
      std::int64_t state = 1;
    };
    simulation.add<Mixer>("mixer");
    simulation.add({.name = "second", .topics = {{"/in", "/out"}, {"/out", "/last"}}}, std::make_shared<Mixer>());
    const auto& out = simulation.collect(cardan::Topic<Number>{"/last", {.depth = 8}});
    simulation.start();
    for (int i = 0; i < 100; ++i) simulation.at(i * 3'000'000, [&simulation, i] { simulation.push(kIn, {i * i}); });
    simulation.run_for(1s);
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const auto& s : out) all.emplace_back(s->value, s.publish_time());
    return all;
  };
  const auto first = run();
  EXPECT_EQ(first.size(), 142U);
  EXPECT_EQ(first, run());
}

TEST(Simulation, AnExceptionIsCountedAndTheRestContinues) {
  struct Thrower : cardan::Component {
    void on_start(Context& context) override {
      context.input(kIn, [this](const Sample<Number>& s) {
        ++calls;
        if (s->value == 1) throw std::runtime_error("bad number");
      });
    }
    int calls = 0;
  };
  Simulation simulation;
  const auto& thrower = simulation.add<Thrower>("thrower");
  simulation.start();
  simulation.push(kIn, {1});
  simulation.push(kIn, {2});
  simulation.run();
  EXPECT_EQ(thrower.calls, 2);
  EXPECT_EQ(
      cardan::detail::runtime_of(simulation).components().back()->declared().back().port->statistics().failures.load(),
      1U);
}

TEST(Parameters, AreCheckedSetAndRefused) {
  struct Picky : cardan::Component {
    void on_start(Context& context) override {
      level =
          context.parameter<double>("level", 0.5, {.min = 0.0, .max = 1.0, .accept = [](double v) {
                                                     return v == 0.25 ? std::string("not a quarter") : std::string();
                                                   }});
      name = context.parameter<std::string>("name", "anna");
      size = context.parameter<std::int64_t>("size", 4, {.fixed = true});
    }
    cardan::Parameter<double> level;
    cardan::Parameter<std::string> name;
    cardan::Parameter<std::int64_t> size;
  };
  Simulation simulation;
  const auto& picky = simulation.add<Picky>("picky", {{"level", std::int64_t{1}}});
  simulation.start();
  EXPECT_EQ(*picky.level, 1.0) << "a whole number is a double where one is wanted";
  auto& runtime = cardan::detail::runtime_of(simulation);
  const auto code_of = [&](const char* parameter, ParameterValue value) {
    try {
      runtime.set_parameter("picky", parameter, std::move(value));
    } catch (const cardan::Error& e) {
      return std::optional(e.code());
    }
    return std::optional<ErrorCode>();
  };
  EXPECT_EQ(code_of("level", 0.75), std::nullopt);
  EXPECT_EQ(*picky.level, 0.75);
  EXPECT_EQ(code_of("level", 1.5), ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of("level", 0.25), ErrorCode::Refused);
  EXPECT_EQ(code_of("level", std::string("high")), ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of("size", std::int64_t{5}), ErrorCode::Refused);
  EXPECT_EQ(code_of("width", std::int64_t{5}), ErrorCode::InvalidArgument);
  EXPECT_EQ(*picky.level, 0.75);
  EXPECT_EQ(code_of("name", std::string("berta")), std::nullopt);
  EXPECT_EQ(*picky.name, "berta");
}

TEST(Parameters, MayBeLists) {
  struct Listing : cardan::Component {
    void on_start(Context& context) override {
      gains = context.parameter("gains", std::vector<double>{1.0, 2.0}, {.min = 0.0, .max = 10.0});
      names = context.parameter("names", std::vector<std::string>{"a"});
      bits = context.parameter("bits", std::vector<bool>{true, false});
      sizes = context.parameter("sizes", std::vector<std::int64_t>{});
    }
    cardan::Parameter<std::vector<double>> gains;
    cardan::Parameter<std::vector<std::string>> names;
    cardan::Parameter<std::vector<bool>> bits;
    cardan::Parameter<std::vector<std::int64_t>> sizes;
  };
  Simulation simulation;
  const auto& listing = simulation.add<Listing>("listing", {{"gains", std::vector<std::int64_t>{3, 4}}});
  simulation.start();
  EXPECT_EQ(*listing.gains, (std::vector<double>{3.0, 4.0})) << "whole numbers are doubles where such are wanted";
  EXPECT_EQ(*listing.bits, (std::vector<bool>{true, false}));
  EXPECT_TRUE((*listing.sizes).empty());
  auto& runtime = cardan::detail::runtime_of(simulation);
  const auto why = [&](const char* parameter, ParameterValue value) {
    try {
      runtime.set_parameter("listing", parameter, std::move(value));
    } catch (const cardan::Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(why("names", std::vector<double>{}), "") << "an empty list is one of any type";
  EXPECT_TRUE((*listing.names).empty());
  EXPECT_EQ(why("bits", std::vector<bool>{false}), "");
  EXPECT_EQ(*listing.bits, std::vector<bool>{false});
  EXPECT_NE(why("gains", std::vector<double>{1, 11}).find("11.0 is above its maximum 10.0"), std::string::npos);
  EXPECT_NE(why("gains", 1.0).find("a list of numbers"), std::string::npos);
  EXPECT_NE(why("sizes", std::vector<double>{0.5}).find("a list of integers"), std::string::npos);
  EXPECT_NE(why("sizes", std::vector<std::int64_t>(70'000)).find("more than 65536"), std::string::npos);
  EXPECT_EQ(*listing.gains, (std::vector<double>{3.0, 4.0}));
}

TEST(Topics, AnInputOfNoDepthIsRefused) {
  struct Shallow : cardan::Component {
    void on_start(Context& context) override {
      context.input(cardan::Topic<Names>{"/x", {.depth = 0}}, [](const Sample<Names>&) {});
    }
  };
  Simulation simulation;
  simulation.add<Shallow>("shallow");
  EXPECT_THROW(simulation.start(), cardan::Error);
}

TEST(Parameters, OneThatDoesNotExistKeepsAComponentFromStarting) {
  Simulation simulation;
  simulation.add<Doubler>("doubler", {{"faktor", std::int64_t{3}}});
  try {
    simulation.start();
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_NE(e.cause().find("doubler"), std::string::npos) << e.what();
    EXPECT_NE(e.cause().find("faktor"), std::string::npos) << e.what();
  }
}

TEST(Topics, OfTwoTypesAreAnErrorWithBothNames) {
  struct Wrong : cardan::Component {
    void on_start(Context& context) override {
      context.input(cardan::Topic<cardan::Image>{"/in", {}}, [](const Sample<cardan::Image>&) {});
    }
  };
  Simulation simulation;
  simulation.add<Doubler>("doubler");
  simulation.add<Wrong>("wrong");
  try {
    simulation.start();
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Incompatible);
    for (const char* word : {"/in", "wrong", "test_msgs/msg/Number", "sensor_msgs/msg/Image"})
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(Components, AreMadeByName) {
  Simulation simulation;
  simulation.add({.name = "by_name", .class_name = "Doubler"});
  const auto& out = simulation.collect(kOut);
  simulation.start();
  simulation.push(kIn, {4});
  simulation.run();
  EXPECT_EQ(values(out), (std::vector<std::int64_t>{8}));
  try {
    simulation.add({.name = "other", .class_name = "Tripler"});
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Unavailable);
    EXPECT_NE(e.remedy().find("Doubler"), std::string::npos) << e.what();
  }
}

TEST(Components, OfALibraryThatIsNotThere) {
  try {
    cardan::load_component_library("libnothing_of_the_kind.so");
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Unavailable);
    EXPECT_NE(e.cause().find("libnothing_of_the_kind.so"), std::string::npos);
  }
}

TEST(Components, StopInTheReverseOrder) {
  std::vector<std::string> log;
  struct Stopper : cardan::Component {
    Stopper(std::vector<std::string>& l, std::string n) : log(l), name(std::move(n)) {}
    void on_start(Context&) override { log.push_back("start " + name); }
    void on_stop() override { log.push_back("stop " + name); }
    std::vector<std::string>& log;
    std::string name;
  };
  {
    Simulation simulation;
    simulation.add({.name = "a"}, std::make_shared<Stopper>(log, "a"));
    simulation.add({.name = "b"}, std::make_shared<Stopper>(log, "b"));
    simulation.start();
  }
  EXPECT_EQ(log, (std::vector<std::string>{"start a", "start b", "stop b", "stop a"}));
}

}  // namespace
