// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/fusion_bench.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/results/statements.hpp"
#include "bench/results/statistics.hpp"
#include "bench/transport/host.hpp"

namespace cardan::bench {
namespace {

FusionOptions small() {
  const auto cpus = allowed_cpus();
  return {.runs = 1, .seconds = 1, .bytes = 64, .publisher_cpu = cpus.front(), .reader_cpu = cpus.back()};
}

double p50_of(const FusionSamples& run, std::size_t channel) { return median(run.channels[channel].latency_us); }

// The figures follow from the rates and phases alone; a busy computer makes them larger by less than what is compared.
TEST(FusionBench, PrimaryUsesWhatIsThereWhenItsInputComes) {
  const FusionSamples run = run_fusion(FusionSetup::PrimarySlowest, small());
  ASSERT_GE(run.sets, 5U);
  EXPECT_LT(p50_of(run, 0), p50_of(run, 1)) << "it fires; the 20 Hz channel was sent 49 ms before";
  EXPECT_GT(p50_of(run, 1), 30'000);
  EXPECT_GT(run.channels[3].unused, 5 * run.sets) << "of ten samples of the fastest one is used";
}

TEST(FusionBench, TheFastestAsPrimaryUsesTheSlowestAgainAndAgain) {
  const FusionSamples run = run_fusion(FusionSetup::PrimaryFastest, small());
  ASSERT_GE(run.sets, 40U);
  EXPECT_GT(p50_of(run, 0), 5 * p50_of(run, 3));
  EXPECT_LE(run.channels[0].unused, 2U);
  EXPECT_EQ(run.channels[0].latency_us.size(), run.sets);
}

TEST(FusionBench, ExactAndApproximateJoinWhatWasMeasuredTogether) {
  for (const FusionSetup setup : {FusionSetup::Exact, FusionSetup::Approximate}) {
    const FusionSamples run = run_fusion(setup, small());
    ASSERT_GE(run.sets, 5U) << name_of(setup);
    EXPECT_LE(run.sets, run.channels[0].sent + 2) << name_of(setup);
    EXPECT_LT(p50_of(run, 1), 30'000) << name_of(setup) << ": its partner of the same beat, and no older one";
  }
}

// It waits for the next sample of each channel, which could be closer.
TEST(FusionBench, ApproximateWithoutPeriodsWaits) {
  const FusionSamples run = run_fusion(FusionSetup::UnknownPeriods, small());
  ASSERT_GE(run.sets, 4U);
  EXPECT_GT(p50_of(run, 0), 50'000);
}

TEST(FusionBench, ItsMeasurementsJudgeTheFinding) {
  FusionOptions options = small();
  options.seconds = 0.5;
  const FusionReport report = measure_fusion(options, [] { return false; });
  const std::vector<Measurement> all = report.measurements(options);
  ASSERT_EQ(all.size(), kFusionSetups.size() * (1 + kChannels));
  EXPECT_EQ(report.rows().size(), kFusionSetups.size() * kChannels);
  EXPECT_NE(report.text().find("exact"), std::string::npos);
  std::vector<const Measurement*> pointers;
  for (const Measurement& m : all) pointers.push_back(&m);
  int judged = 0;
  for (const Statement& s : all_statements())
    if (s.text.starts_with("Finding 4")) {
      const Finding finding = s.judge(Evidence(pointers));
      EXPECT_EQ(finding.judgement, Judgement::Holds) << finding.figures;
      ++judged;
    }
  EXPECT_EQ(judged, 1);
}

TEST(FusionBench, StopsWhenItIsAskedTo) {
  EXPECT_TRUE(measure_fusion(small(), [] { return true; }).rows().empty());
}

}  // namespace
}  // namespace cardan::bench
