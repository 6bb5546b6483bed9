// SPDX-License-Identifier: Apache-2.0
// The age of information through components: what a callback publishes rests on what it was given and what it read.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cardan/simulation.hpp"
#include "src/runtime/street_test.hpp"

namespace cardan::origin_test {
namespace {

using namespace std::chrono_literals;
using namespace street_test;  // NOLINT(google-build-using-namespace): its topics are those of this file

/// Hands on what comes.
struct Detector : Component {
  void on_start(Context& context) override {
    out = context.output(kFound);
    context.input(kCamera, [this](const Sample<Number>& picture) { out.publish({picture->value}); });
  }
  Output<Number> out;
};

std::chrono::nanoseconds age_of(const Sample<Number>& sample, std::int64_t now) {
  EXPECT_NE(sample.origin_time(), 0);
  return std::chrono::nanoseconds{now - sample.origin_time()};
}

class Origins : public testing::Test {
 protected:
  void at(std::chrono::milliseconds time) { simulation.run_until(1'000'000'000 + time / 1ns); }
  Simulation simulation{{.begin = 1'000'000'000}};
};

TEST_F(Origins, APublicationOfItsOwnIsAsOldAsItself) {
  const auto& seen = simulation.collect(kCamera);
  simulation.start();
  simulation.push(kCamera, {1});
  simulation.run();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].origin_time(), seen[0].publish_time());
}

TEST_F(Origins, ACallbackHandsOnTheOriginOfItsSample) {
  struct Slow : Component {
    void on_start(Context& context) override {
      out = context.output(kCommand);
      found = context.latest(kFound);
      context.timer(30ms, [this] {
        if (found.get()) out.publish({1});
      });
    }
    Output<Number> out;
    Latest<Number> found;
  };
  simulation.add<Detector>("detector");
  simulation.add<Slow>("slow");
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  at(20ms);
  simulation.push(kCamera, {1});
  at(60ms);
  ASSERT_EQ(commands.size(), 2U) << "one timer call at 30 ms, one at 60 ms";
  EXPECT_EQ(age_of(commands[0], commands[0].publish_time()), 10ms)
      << "what latest.get() returned, through the detector";
  EXPECT_EQ(age_of(commands[1], commands[1].publish_time()), 40ms);
}

TEST_F(Origins, ATimerThatReadsNothingIsItsOwnOrigin) {
  struct Clock : Component {
    void on_start(Context& context) override {
      out = context.output(kCommand);
      context.timer(10ms, [this] { out.publish({1}); });
    }
    Output<Number> out;
  };
  simulation.add<Clock>("clock");
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  simulation.push(kCamera, {1});
  at(10ms);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].origin_time(), commands[0].publish_time());
}

TEST_F(Origins, AFusedSetIsAsOldAsItsOldestSample) {
  struct Fuser : Component {
    void on_start(Context& context) override {
      out = context.output(kCommand);
      context.fuse(
          exact(), [this](const Sample<Number>& picture, const Sample<Number>&) { out.publish({picture->value}); },
          kCamera, kLidar);
    }
    Output<Number> out;
  };
  simulation.add<Fuser>("fuser");
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  simulation.push(kCamera, {1}, 100);
  at(10ms);
  simulation.push(kCamera, {2}, 200);
  at(20ms);
  simulation.push(kLidar, {2}, 200);  // makes a set with the second picture
  at(30ms);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0]->value, 2U);
  EXPECT_EQ(age_of(commands[0], 1'030'000'000), 20ms) << "the picture of the set, not the one before it";
}

TEST_F(Origins, AnObjectHandsItOnWithinTheProcess) {
  struct Namer : Component {
    void on_start(Context& context) override {
      out = context.output(kWords);
      context.input(kCamera, [this](const Sample<Number>&) { out.publish(Words{{"car", 1}}); });
    }
    Output<Words> out;
  };
  struct Reader : Component {
    void on_start(Context& context) override {
      out = context.output(kCommand);
      words = context.latest(kWords);
      context.timer(20ms, [this] {
        if (words.get()) out.publish({1});
      });
    }
    Latest<Words> words;
    Output<Number> out;
  };
  simulation.add<Namer>("namer");
  simulation.add<Reader>("reader");
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  at(5ms);
  simulation.push(kCamera, {1});
  at(20ms);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(age_of(commands[0], commands[0].publish_time()), 15ms);
}

TEST_F(Origins, AComponentNamesTheSamplesThatItKeeps) {
  struct Keeper : Component {
    void on_start(Context& context) override {
      out = context.output(kCommand);
      context.input(kCamera, [this](const Sample<Number>& picture) { kept = picture; });
      context.input(kLidar, [this](const Sample<Number>& scan) {
        Loan<Number> loan = out.loan();
        loan.rests_on(kept);
        *loan = {scan->value};
        out.publish(std::move(loan));
      });
    }
    Sample<Number> kept;
    Output<Number> out;
  };
  simulation.add<Keeper>("keeper");
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  simulation.push(kCamera, {1});
  at(40ms);
  simulation.push(kLidar, {2});
  simulation.run();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(age_of(commands[0], commands[0].publish_time()), 40ms);
}

}  // namespace
}  // namespace cardan::origin_test
