// SPDX-License-Identifier: Apache-2.0
// A component that keeps more samples than it said costs memory, not its publisher's frames; up to a bound.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "cardan/simulation.hpp"

namespace kept {
struct Number {
  std::uint64_t value = 0;
};
}  // namespace kept
CARDAN_MESSAGE(kept::Number, "test_msgs/msg/Number", value);

namespace cardan {
namespace {

using namespace std::chrono_literals;
constexpr Topic<kept::Number> kNumbers{"/numbers"};

struct Source : Component {
  void on_start(Context& context) override {
    out = context.output(kNumbers);
    context.timer(1ms, [this] {
      ++ticks;
      if (!out.publish({ticks})) ++refused;
    });
  }
  Output<kept::Number> out;
  std::uint64_t ticks = 0, refused = 0;
};

struct Hoarder : Component {
  void on_start(Context& context) override {
    context.input(kNumbers, [this](const Sample<kept::Number>& number) { kept.push_back(number); }, {.keeps = 1});
  }
  std::vector<Sample<kept::Number>> kept;
};

TEST(Keeps, KeepingMoreThanSaidCostsMemoryNotFrames) {
  Simulation simulation;
  Source& source = simulation.add<Source>("source");
  Hoarder& hoarder = simulation.add<Hoarder>("hoarder");
  simulation.start();
  simulation.run_for(100ms);
  EXPECT_EQ(source.refused, 0U);
  ASSERT_EQ(hoarder.kept.size(), source.ticks);
  for (std::size_t i = 0; i < hoarder.kept.size(); ++i)
    EXPECT_EQ(hoarder.kept[i]->value, i + 1) << "none is overwritten";
}

TEST(Keeps, ThereIsABoundAndALifeAfterIt) {
  Simulation simulation;
  Source& source = simulation.add<Source>("source");
  Hoarder& hoarder = simulation.add<Hoarder>("hoarder");
  simulation.start();
  simulation.run_for(400ms);
  EXPECT_GT(source.refused, 200U);
  EXPECT_GE(hoarder.kept.size(), 128U);
  for (std::size_t i = 0; i < hoarder.kept.size(); ++i) EXPECT_EQ(hoarder.kept[i]->value, i + 1);
  hoarder.kept.clear();
  const std::uint64_t refused = source.refused;
  simulation.run_for(100ms);
  EXPECT_EQ(source.refused, refused) << "what was dropped is used again";
}

TEST(Keeps, LoansThatAreOutDoNotCount) {
  Simulation simulation;
  Source& source = simulation.add<Source>("source");
  simulation.add<Hoarder>("hoarder");
  simulation.start();
  const auto one = source.out.loan();
  ASSERT_TRUE(one);
  EXPECT_FALSE(source.out.loan()) << "the topic has one loan";
}

}  // namespace
}  // namespace cardan
