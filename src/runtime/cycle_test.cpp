// SPDX-License-Identifier: Apache-2.0
#include "cardan/cycle.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <map>
#include <string>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/subscriber.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Cycle;
using cardan::CycleHint;

class Cycles : public cardan::test::OwnRunDirectory {};

TEST_F(Cycles, EachBeginAndEndIsAHint) {
  cardan::Subscriber in{cardan::kCycles};
  Cycle cycle{"control", 20ms, {.weight = 2.5}};
  EXPECT_EQ(cycle.name(), "control");
  EXPECT_FALSE(in.take()) << "nothing has begun";
  const std::int64_t before = cardan::steady_now();
  cycle.begin();
  auto hint = in.wait(10s);
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->name, "control");
  EXPECT_EQ(hint->period_ns, 20'000'000);
  EXPECT_EQ(hint->weight, 2.5);
  EXPECT_EQ(hint->count, 1U);
  EXPECT_TRUE(hint->busy);
  EXPECT_GE(hint->begin_ns, before);
  EXPECT_LE(hint->begin_ns, hint.publish_time());
  EXPECT_EQ(hint->end_ns, 0);
  const std::int64_t begun = hint->begin_ns;
  const std::uint64_t instance = hint->instance;

  cycle.end();
  hint = in.wait(10s);
  ASSERT_TRUE(hint);
  EXPECT_FALSE(hint->busy);
  EXPECT_EQ(hint->count, 1U);
  EXPECT_EQ(hint->begin_ns, begun);
  EXPECT_GE(hint->end_ns, begun);
  EXPECT_EQ(hint->worked_ns, hint->end_ns - begun);
  EXPECT_EQ(hint->instance, instance);

  cycle.end();
  EXPECT_FALSE(in.take()) << "it was over";
  {
    const auto run = cycle.run();
    hint = in.wait(10s);
    ASSERT_TRUE(hint && hint->busy);
    EXPECT_EQ(hint->count, 2U);
    EXPECT_GT(hint->end_ns, 0) << "of the one before";
  }
  hint = in.wait(10s);
  ASSERT_TRUE(hint);
  EXPECT_FALSE(hint->busy);
  cycle.begin();
  cycle.begin();
  hint = in.wait(10s);
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->count, 4U);
  EXPECT_TRUE(hint->busy);
  EXPECT_EQ(hint->end_ns, hint->begin_ns) << "one ended where the next began";
}

TEST_F(Cycles, ItsEndIsTold) {
  cardan::Subscriber in{cardan::kCycles};
  {
    Cycle cycle{"control"};
    cycle.begin();
  }
  auto hint = in.wait(10s);
  ASSERT_TRUE(hint);
  EXPECT_FALSE(hint->busy);
}

TEST_F(Cycles, SeveralAreStreamsOfTheirOwn) {
  cardan::Subscriber in{cardan::kCycles};
  Cycle one{"one"};
  Cycle two{"two"};
  one.begin();
  two.begin();
  two.end();
  std::map<std::string, CycleHint> seen;
  while (seen.size() < 2) {
    const auto hint = in.wait(10s);
    ASSERT_TRUE(hint);
    seen[std::string(hint->name.view())] = *hint;
  }
  EXPECT_TRUE(seen["one"].busy);
  EXPECT_FALSE(seen["two"].busy);
  EXPECT_NE(seen["one"].instance, seen["two"].instance);
}

TEST_F(Cycles, ADomainCanBeChosen) {
  cardan::Subscriber here{cardan::kCycles};
  cardan::Subscriber there{cardan::kCycles, {.domain = domain_ + "-other"}};
  Cycle cycle{"control", 0ns, {.domain = domain_ + "-other"}};
  cycle.begin();
  EXPECT_TRUE(there.wait(10s));
  EXPECT_FALSE(here.take());
}

TEST_F(Cycles, NonsenseIsRefused) {
  const auto refused = [](const std::string& name, std::chrono::nanoseconds period = {}, double weight = 1) {
    try {
      const Cycle cycle{name, period, {.weight = weight}};
      return false;
    } catch (const cardan::Error& e) {
      return e.code() == cardan::ErrorCode::InvalidArgument && !e.remedy().empty();
    }
  };
  EXPECT_FALSE(refused("x"));
  EXPECT_FALSE(refused(std::string(64, 'x'), 1h, 1000));
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused(std::string(65, 'x')));
  EXPECT_TRUE(refused("a\nb"));
  EXPECT_TRUE(refused("x", -1ns));
  EXPECT_TRUE(refused("x", 2h));
  for (const double weight :
       {0.0, -1.0, 1001.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(refused("x", 0ns, weight)) << weight;
}

// ---------------------------------------------------------------- components

struct Sampled {
  std::int64_t value = 0;
};

}  // namespace
CARDAN_MESSAGE(Sampled, "cardan_test_msgs/msg/Sampled", value);
namespace {

constexpr cardan::Topic<Sampled> kRare{"/rare", {.depth = 8}};
constexpr cardan::Topic<Sampled> kOften{"/often", {.depth = 8}};

struct Timed : cardan::Component {
  void on_start(cardan::Context& context) override {
    rare = context.output(kRare);
    often = context.output(kOften);
    context.input(kOften, [](const cardan::Sample<Sampled>&) {});
    context.timer(5ms, [this] {
      std::this_thread::sleep_for(1ms);
      often.publish({1});
    });
  }
  cardan::Output<Sampled> rare, often;
};
struct Driven : cardan::Component {
  void on_start(cardan::Context& context) override {
    newest = context.latest(kRare);
    context.input(kOften, [](const cardan::Sample<Sampled>&) {});
    context.input(kRare, [](const cardan::Sample<Sampled>&) {}, {.name = "rare"});
  }
  cardan::Latest<Sampled> newest;
};

/// The hints of components' cycles, until `done(hints by name)`; "" after 10 s.
template <class F>
std::map<std::string, CycleHint> hints_until(cardan::Subscriber<CycleHint>& in, F done) {
  std::map<std::string, CycleHint> seen;
  const std::int64_t until = cardan::steady_now() + 10'000'000'000;
  while (!done(seen) && cardan::steady_now() < until)
    if (const auto hint = in.wait(100ms)) seen[std::string(hint->name.view())] = *hint;
  return seen;
}

TEST_F(Cycles, ComponentsMarkThemWithoutCode) {
  cardan::Subscriber in{cardan::kCycles};
  cardan::Runtime runtime({.cycles = true});
  using Settings = cardan::config::Cycle;
  runtime.add({.name = "long"}, std::make_shared<Timed>());
  runtime.add({.name = "heavy", .cycle = Settings{.weight = 3}}, std::make_shared<Timed>());
  runtime.add({.name = "short"}, std::make_shared<Driven>());
  runtime.add({.name = "driven", .cycle = Settings{}}, std::make_shared<Driven>());
  runtime.add({.name = "none", .cycle = Settings{.weight = 0}}, std::make_shared<Timed>());
  runtime.add({.name = "named", .cycle = Settings{.callback = "rare"}}, std::make_shared<Driven>());
  runtime.start();
  const auto seen = hints_until(in, [](const auto& s) {
    const auto enough = [&](const char* name) { return s.contains(name) && s.at(name).count > 10; };
    return enough("long") && enough("heavy") && enough("driven");
  });
  ASSERT_TRUE(seen.contains("long") && seen.contains("heavy") && seen.contains("driven"));
  EXPECT_EQ(seen.at("long").period_ns, 5'000'000) << "of the timer, not of its input";
  EXPECT_EQ(seen.at("long").weight, 1);
  EXPECT_GE(seen.at("long").worked_ns, 1'000'000);
  EXPECT_EQ(seen.at("heavy").weight, 3);
  EXPECT_EQ(seen.at("driven").period_ns, 0);
  EXPECT_FALSE(seen.contains("short")) << "too short to matter, and nobody asked for it";
  EXPECT_FALSE(seen.contains("none"));
  EXPECT_FALSE(seen.contains("named")) << "nothing came on /rare";
  runtime.stop();
}

TEST_F(Cycles, WithoutBeingAskedThereAreNone) {
  cardan::Subscriber in{cardan::kCycles};
  cardan::Runtime runtime;
  auto timed = std::make_shared<Timed>();
  runtime.add({.name = "timed"}, timed);
  runtime.start();
  for (int i = 0; i < 10'000 && timed->often.published() < 5; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_GE(timed->often.published(), 5U);
  EXPECT_FALSE(in.take());
  EXPECT_EQ(in.publishers(), 0U);
}

TEST_F(Cycles, AnUnknownCallbackIsRefused) {
  cardan::Runtime runtime({.cycles = true});
  runtime.add({.name = "timed", .cycle = cardan::config::Cycle{.callback = "tiner"}}, std::make_shared<Timed>());
  try {
    runtime.start();
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_EQ(e.code(), cardan::ErrorCode::InvalidArgument);
    EXPECT_NE(e.cause().find("'timed' did not start: it has no callback 'tiner'"), std::string::npos) << e.what();
  }
}

}  // namespace
