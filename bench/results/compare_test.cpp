// SPDX-License-Identifier: Apache-2.0
#include "bench/results/compare.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/results/synthetic.hpp"

namespace cardan::bench {
namespace {

Comparison compare_one(Measurement before, Measurement after) {
  static Result a;
  static Result b;
  a = result_of({std::move(before)});
  b = result_of({std::move(after)});
  return compare(a, b, {});
}

Change verdict_of(const Comparison& c, const std::string& figure) {
  for (const FigureChange& f : c.rows.at(0).figures)
    if (f.figure == figure) return f.change;
  ADD_FAILURE() << "no figure " << figure;
  return Change::TooFew;
}

TEST(Compare, FindsAShiftOf20us) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto worse = compare_one(synthetic({.seed = seed}), synthetic({.seed = seed + 1000, .shift_us = 20}));
    const auto better = compare_one(synthetic({.seed = seed, .shift_us = 20}), synthetic({.seed = seed + 1000}));
    if (verdict_of(worse, "p50") == Change::Worse && verdict_of(better, "p50") == Change::Better) ++found;
    EXPECT_EQ(worse.count(Change::Better), 0U);
    EXPECT_EQ(better.count(Change::Worse), 0U);
  }
  EXPECT_EQ(found, 20);
}

// At most five of a hundred pairs of one distribution may get any verdict.
int wrong_verdicts(Synthetic kind) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    kind.seed = seed;
    Measurement before = synthetic(kind);
    kind.seed = seed + 5000;
    const Comparison c = compare_one(std::move(before), synthetic(kind));
    if (c.count(Change::Worse) + c.count(Change::Better) > 0) ++wrong;
  }
  return wrong;
}

TEST(Compare, OneDistributionGivesNoVerdict) {
  EXPECT_LE(wrong_verdicts({}), 5);
  EXPECT_LE(wrong_verdicts({.runs = 1, .samples = 40}), 5);
  EXPECT_LE(wrong_verdicts({.runs = 3, .samples = 150}), 5);
}

TEST(Compare, RunsThatDifferByThemselvesGiveNoVerdict) {
  EXPECT_LE(wrong_verdicts({.runs = 5, .samples = 80, .run_spread = 0.1}), 5);
  EXPECT_LE(wrong_verdicts({.runs = 3, .samples = 80, .run_spread = 0.2}), 5);
  EXPECT_LE(wrong_verdicts({.runs = 5, .samples = 1, .run_spread = 0.2}), 5) << "one figure a run";
}

TEST(Compare, MoreIsBetterWhereItIs) {
  Measurement before = synthetic({});
  Measurement after = synthetic({.seed = 2, .shift_us = 40});
  before.more_is_better = after.more_is_better = true;
  EXPECT_EQ(verdict_of(compare_one(before, after), "p50"), Change::Better);
}

TEST(Compare, ALossThatBeganIsWorse) {
  Measurement before = synthetic({});
  Measurement after = synthetic({.seed = 2});
  before.due = after.due = 400;
  before.lost = 0;
  after.lost = 40;
  const Comparison c = compare_one(before, after);
  EXPECT_EQ(verdict_of(c, "lost"), Change::Worse);
  after.lost = 1;
  EXPECT_EQ(verdict_of(compare_one(before, after), "lost"), Change::Same) << "one of 400 may be chance";
}

TEST(Compare, SaysWhatIsInOneOnlyAndWhereComputersDiffer) {
  Measurement other = synthetic({});
  other.peer = "uds";
  Result before = result_of({synthetic({})});
  Result after = result_of({other});
  after.host = {{"cpu", "Another CPU"}, {"kernel", "Linux 6.1"}};
  const Comparison c = compare(before, after, {});
  ASSERT_EQ(c.rows.size(), 2U);
  EXPECT_EQ(c.rows[0].after, nullptr);
  EXPECT_EQ(c.rows[1].before, nullptr);
  const auto json = to_json(c);
  EXPECT_EQ(json["rows"][0]["only"], "before");
  EXPECT_EQ(json["rows"][1]["only"], "after");
  EXPECT_NE(to_table(c).find("cpu: Some CPU before, Another CPU after"), std::string::npos) << to_table(c);
}

TEST(Compare, FiguresWithoutARatioGiveNoVerdict) {
  Measurement zero = synthetic({.runs = 1, .samples = 20});
  for (double& sample : zero.runs[0].samples) sample = 0;
  EXPECT_EQ(verdict_of(compare_one(zero, synthetic({})), "p50"), Change::TooFew);
  EXPECT_EQ(verdict_of(compare_one(synthetic({.runs = 1, .samples = 3}), synthetic({})), "p50"), Change::TooFew);
  EXPECT_EQ(verdict_of(compare_one(Measurement(synthetic({.runs = 0})), synthetic({})), "p50"), Change::TooFew);
}

TEST(Compare, AConstantFigureThatChangedIsFound) {
  Measurement before = synthetic({.runs = 5, .samples = 1});
  Measurement after = before;
  for (MeasuredRun& run : before.runs) run.samples = {10};
  for (MeasuredRun& run : after.runs) run.samples = {11};
  EXPECT_EQ(verdict_of(compare_one(before, after), "p50"), Change::Worse);
  EXPECT_EQ(verdict_of(compare_one(before, before), "p50"), Change::Same);
}

TEST(Compare, ManyRowsDoNotMakeManyWrongVerdicts) {
  std::vector<Measurement> before;
  std::vector<Measurement> after;
  for (std::uint64_t i = 0; i < 200; ++i) {
    before.push_back(synthetic({.seed = i + 1, .samples = 40}));
    after.push_back(synthetic({.seed = i + 7001, .samples = 40}));
    before.back().cell = after.back().cell = "cell " + std::to_string(i);
  }
  const Result a = result_of(std::move(before));
  const Result b = result_of(std::move(after));
  const Comparison c = compare(a, b, {});
  EXPECT_EQ(c.count(Change::Worse) + c.count(Change::Better), 0U) << to_table(c);
}

}  // namespace
}  // namespace cardan::bench
