// SPDX-License-Identifier: Apache-2.0
// A policy of fusion has one place. This one is known to nothing but this file, and works in components, in their
// reports and in messages like those of the library.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "cardan/component.hpp"
#include "cardan/detail/fusion_rule.hpp"
#include "cardan/fusion.hpp"
#include "cardan/messages.hpp"
#include "cardan/simulation.hpp"
#include "src/system/host/component_report.hpp"

namespace cardan {
namespace {

using namespace std::chrono_literals;

/// The first of each input, then the second of each, and so on, if none of a set is later than `limit`.
struct InTurnOptions {
  std::size_t queue = 4;
  std::int64_t limit = 0;
};

class InTurnMatcher final : public detail::FusionMatcher {
 public:
  InTurnMatcher(const InTurnOptions& options, std::span<detail::FusionInput> inputs)
      : options_(options), inputs_(inputs) {}
  void offer(std::size_t input, detail::FusionEntry entry) noexcept override {
    if (inputs_[input].size == inputs_[input].capacity) inputs_[input].let_go(detail::FusionCount::PushedOut);
    inputs_[input].insert(entry);
  }
  bool next(detail::SampleBlock** set) noexcept override {
    for (const detail::FusionInput& in : inputs_)
      if (in.size == 0 || in.at(0).time > options_.limit) return false;
    for (detail::FusionInput& in : inputs_) {
      *set++ = in.pop().block;
      in.count(detail::FusionCount::Used);
    }
    return true;
  }

 private:
  InTurnOptions options_;
  std::span<detail::FusionInput> inputs_;
};

class InTurnRule final : public detail::FusionRule {
 public:
  explicit InTurnRule(const InTurnOptions& options) : options_(options) {}
  [[nodiscard]] const char* name() const noexcept override { return "in turn"; }
  [[nodiscard]] FusionTime time() const noexcept override { return FusionTime::Source; }
  [[nodiscard]] std::size_t queue() const noexcept override { return options_.queue; }
  [[nodiscard]] std::unique_ptr<detail::FusionMatcher> start(std::span<detail::FusionInput> inputs) const override {
    if (inputs.size() != 2) detail::refuse_fusion("it takes turns", "give two inputs");
    return std::make_unique<InTurnMatcher>(options_, inputs);
  }
  [[nodiscard]] std::string why_silent(const FusionStatistics&, std::span<const std::string> names) const override {
    return "the limit is over for " + names[0];
  }

 private:
  InTurnOptions options_;
};

FusionPolicy in_turn(const InTurnOptions& options) { return FusionPolicy(std::make_shared<InTurnRule>(options)); }

constexpr Topic<Imu> kFirst{"/first", {.depth = 8}};
constexpr Topic<Imu> kSecond{"/second", {.depth = 8}};

struct Joiner : Component {
  explicit Joiner(FusionPolicy p) : policy(std::move(p)) {}
  void on_start(Context& context) override {
    context.fuse(
        policy,
        [this](const Sample<Imu>& a, const Sample<Imu>& b) { sets.push_back({a.source_time(), b.source_time()}); },
        {.name = "turns"}, kFirst, kSecond);
  }
  FusionPolicy policy;
  std::vector<std::array<std::int64_t, 2>> sets;
};

TEST(FusionPolicy, OfOnePlaceJoinsAndIsReported) {
  Simulation simulation;
  const auto joiner = std::make_shared<Joiner>(in_turn({.queue = 4, .limit = 100}));
  simulation.add({.name = "joiner"}, joiner);
  simulation.start();
  const auto push = [&](std::int64_t first, std::int64_t second) {
    simulation.push(kFirst, Imu{}, first);
    simulation.push(kSecond, Imu{}, second);
    simulation.run();
  };
  push(1, 50);
  push(2, 60);
  EXPECT_EQ(joiner->sets, (std::vector<std::array<std::int64_t, 2>>{{1, 50}, {2, 60}}));
  const auto report = [&] {
    for (const host::ComponentReport& c : host::report_of(detail::runtime_of(simulation)))
      if (c.name == "joiner") return c.fusions.at(0);
    ADD_FAILURE() << "no component";
    return host::FusionReport{};
  };
  EXPECT_EQ(report().policy, "in turn");
  EXPECT_EQ(report().time, "source");
  EXPECT_EQ(report().fired, 2U);
  for (int i = 0; i < 60; ++i) {  // past FusionWatch::kPatience
    simulation.run_for(100ms);
    push(200 + i, 300 + i);
  }
  EXPECT_TRUE(report().silent);
  EXPECT_EQ(report().why, "the limit is over for /first");
  EXPECT_EQ(report().inputs.at(0).offered, 62U);
  EXPECT_EQ(report().inputs.at(0).pushed_out, 56U);
  EXPECT_EQ(joiner->sets.size(), 2U);
}

TEST(FusionPolicy, OfOnePlaceChecksItsOptions) {
  using Three = Fusion<Imu, Imu, Imu>;
  try {
    const Three fusion{in_turn({})};
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.cause(), "fusion: it takes turns");
    EXPECT_EQ(e.remedy(), "give two inputs");
  }
}

}  // namespace
}  // namespace cardan
