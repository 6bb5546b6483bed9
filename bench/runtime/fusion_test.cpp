// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/fusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "bench/results/host.hpp"
#include "bench/results/measurement.hpp"
#include "bench/results/statistics.hpp"
#include "bench/runtime/fusion_report.hpp"

namespace cardan::bench {
namespace {

constexpr std::uint32_t kCycles = 10;
// 40, 12.5, 23.3 and 2.5 ms after the beat: no other channel publishes within 4 ms of a primary one.
constexpr FusionPhases kPhases{0.4, 0.25, 0.7, 0.1};

RuntimeBenchOptions short_runs() {
  RuntimeBenchOptions options;
  options.fusion_cycles = kCycles;
  options.publisher_cpu = options.reader_cpu = allowed_cpus().front();  // there may be no other
  return options;
}

double period_us(std::size_t channel) { return 1e6 / kFusionRates[channel]; }
double phase_us(std::size_t channel) { return kPhases[channel] * period_us(channel); }

/// The effect of the schedule alone on each channel's median, if publishing and fusing took no time.
std::array<double, kFusionChannels> scheduled_medians(FusionWay way) {
  std::array<double, kFusionChannels> medians{};
  double last = 0;
  for (std::size_t c = 0; c < kFusionChannels; ++c) last = std::max(last, phase_us(c));
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    if (way == FusionWay::Exact) {  // a set is complete with the message that needs longest from the common beat
      medians[c] = last - phase_us(c);
      continue;
    }
    const std::size_t primary = way == FusionWay::PrimarySlowest ? 0 : kFusionChannels - 1;
    std::vector<double> ages;
    for (std::uint32_t n = 0; n < kCycles * kFusionRates[primary] / 10; ++n) {
      const double fires = phase_us(primary) + n * period_us(primary);
      const double newest = std::min(std::floor((fires - phase_us(c) + 1e-3) / period_us(c)),
                                     kCycles * kFusionRates[c] / 10.0 - 1);  // its number
      // Those of the first cycle are discarded, and before them nothing fires.
      if (newest >= kFusionRates[c] / 10.0) ages.push_back(fires - phase_us(c) - newest * period_us(c));
    }
    medians[c] = median(ages);
  }
  return medians;
}

/// Empty: the run is as the schedule and the policy say. Times within a fifth of the shortest period.
std::string what_differs(const FusionRun& run, FusionWay way, std::uint64_t sets) {
  std::string text;
  const auto note = [&](const std::string& what, std::size_t channel, double is, double wanted) {
    text += what + " of channel " + std::to_string(channel) + ": " + std::to_string(is) + ", not " +
            std::to_string(wanted) + "\n";
  };
  const auto wanted = scheduled_medians(way);
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    const FusionChannelRun& channel = run.channels[c];
    const double p50 = median(channel.latency_us);
    if (!(p50 > 0) || std::fabs(p50 - wanted[c]) > 5'000) note("median", c, p50, wanted[c]);
    const std::uint64_t due = std::uint64_t{kCycles} * kFusionRates[c] / 10;
    if (channel.sent != due) note("sent", c, static_cast<double>(channel.sent), static_cast<double>(due));
    if (channel.lost() != 0) note("lost", c, static_cast<double>(channel.lost()), 0);
    const std::uint64_t sum = channel.counts.used + channel.dropped() + channel.counts.waiting;
    if (sum != due) note("accounted", c, static_cast<double>(sum), static_cast<double>(due));
  }
  if (run.sets != sets) text += "sets: " + std::to_string(run.sets) + ", not " + std::to_string(sets) + "\n";
  return text;
}

/// A run that is as the schedule and the policy say; std::nullopt if the computer never kept the schedule, for then
/// nothing can be said. The reader may be late although the publishers were not: hence several chances.
std::optional<FusionRun> measured(FusionWay way, std::uint64_t sets) {
  constexpr int kPunctualRuns = 6;
  constexpr int kRuns = 15;
  std::string differs;
  for (int runs = 0, punctual = 0; runs < kRuns && punctual < kPunctualRuns; ++runs) {
    FusionRun run = run_fusion(way, kPhases, short_runs(), [] { return false; });
    const std::string now = what_differs(run, way, sets);
    if (now.empty()) return run;
    if (run.late_us > 2'000) continue;
    differs = now;
    ++punctual;
  }
  EXPECT_EQ(differs, "") << name_of(way);
  return std::nullopt;
}

constexpr const char* kBusy = "this computer is too busy to publish at the due times";

TEST(BenchFusion, AChannelThatIsPrimaryIsFreshAndTheOthersAreAsOldAsTheirPeriodsMakeThem) {
  const std::optional<FusionRun> measured_slowest = measured(FusionWay::PrimarySlowest, 10);
  if (!measured_slowest) GTEST_SKIP() << kBusy;
  const FusionRun& slowest = *measured_slowest;
  for (std::size_t c = 0; c < kFusionChannels; ++c) EXPECT_EQ(slowest.channels[c].counts.used, 10U) << c;
  EXPECT_LT(median(slowest.channels[0].latency_us), period_us(0) / 10);
  EXPECT_GT(median(slowest.channels[1].latency_us), median(slowest.channels[0].latency_us));

  // The first two of 40 Hz come before anything of 10 Hz.
  const std::optional<FusionRun> measured_fastest = measured(FusionWay::PrimaryFastest, 38);
  if (!measured_fastest) GTEST_SKIP() << kBusy;
  const FusionRun& fastest = *measured_fastest;
  EXPECT_EQ(fastest.channels[3].counts.unfired, 2U);
  EXPECT_EQ(fastest.channels[3].dropped(), 2U);
  EXPECT_EQ(fastest.channels[0].counts.used, 10U);
  EXPECT_LT(median(fastest.channels[3].latency_us), period_us(3) / 4);
  EXPECT_GT(median(fastest.channels[0].latency_us), period_us(0) / 4);
  EXPECT_GT(fastest.channels[0].latency_us.size(), 3 * slowest.channels[0].latency_us.size());
}

TEST(BenchFusion, ExactJoinsTheBeatsThatAllChannelsShare) {
  const std::optional<FusionRun> exact = measured(FusionWay::Exact, kCycles);
  if (!exact) GTEST_SKIP() << kBusy;
  const FusionRun& run = *exact;
  for (std::size_t c = 0; c < kFusionChannels; ++c) {
    EXPECT_EQ(run.channels[c].counts.used, kCycles) << c;
    EXPECT_EQ(run.channels[c].latency_us.size(), kCycles - 1) << c;  // the first cycle's is discarded
  }
  EXPECT_EQ(run.channels[0].dropped(), 0U);
  EXPECT_GE(run.channels[3].dropped(), 3U * (kCycles - 1));
}

TEST(BenchFusion, PhasesOfManyRoundsAreSpreadOverThePeriod) {
  std::array<std::set<int>, kFusionChannels> tenths;
  std::set<std::pair<int, int>> pairs;
  for (std::uint32_t round = 0; round < 100; ++round) {
    const FusionPhases phases = fusion_phases(round);
    EXPECT_EQ(phases, fusion_phases(round));
    for (std::size_t c = 0; c < kFusionChannels; ++c) {
      ASSERT_GE(phases[c], 0);
      ASSERT_LT(phases[c], 1);
      tenths[c].insert(static_cast<int>(10 * phases[c]));
    }
    pairs.emplace(static_cast<int>(5 * phases[0]), static_cast<int>(5 * phases[3]));
  }
  for (const auto& t : tenths) EXPECT_EQ(t.size(), 10U);
  EXPECT_EQ(pairs.size(), 25U);  // one channel does not say where another is
}

TEST(BenchFusion, SamplesThatAPolicyDropsAreNotLost) {
  FusionRun run;
  run.sets = 4;
  run.channels[1].sent = 10;
  run.channels[1].counts = {.offered = 10, .used = 4, .unfired = 1, .replaced = 4, .waiting = 1};
  FusionRow row;
  row.add(run);
  EXPECT_EQ(row.channels[1].dropped, 5U);
  EXPECT_EQ(row.channels[1].waiting, 1U);
  EXPECT_EQ(row.channels[1].used_percent, std::vector<double>{40});
  EXPECT_EQ(row.lost(), 0U);
  run.channels[1].sent = 13;
  row.add(run);
  EXPECT_EQ(row.lost(), 3U);
  EXPECT_EQ(row.sent(), 23U);
}

TEST(BenchFusion, ItsReportHasAllWaysAndWhatTheFindingIsJudgedBy) {
  const RuntimeBenchOptions options = short_runs();
  FusionReport report(options);
  std::vector<std::string> told;
  report.run_round(1, [] { return false; }, [&](const std::string& what) { told.push_back(what); });
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NE(told.front().find("primary fastest"), std::string::npos);  // the order rotates

  const std::vector<nlohmann::ordered_json> rows = report.rows();
  const std::vector<Measurement> measurements = report.measurements();
  ASSERT_EQ(rows.size(), 4U);
  const auto find = [&](const std::string& setup, const std::string& quantity) -> const Measurement* {
    const auto found = std::find_if(measurements.begin(), measurements.end(), [&](const Measurement& m) {
      return m.part == "runtime" && m.peer == "cardan" && m.setup == setup && m.cell == "fusion" &&
             m.quantity == quantity;
    });
    return found == measurements.end() ? nullptr : &*found;
  };
  for (std::size_t w = 0; w < kFusionWays.size(); ++w) {
    const std::string setup(name_of(kFusionWays[w]));
    EXPECT_EQ(rows[w]["policy"], setup);
    EXPECT_EQ(rows[w]["sent"], 100);
    EXPECT_GT(rows[w]["sets"], 0) << setup;
    EXPECT_NE(report.text().find("  " + setup), std::string::npos);
    const Measurement* const all = find(setup, "transport");
    ASSERT_NE(all, nullptr) << setup;
    EXPECT_EQ(all->due, 100U);
    EXPECT_EQ(all->rate_hz, 0);  // several
    std::size_t samples = 0;
    for (const std::uint32_t rate : kFusionRates) {
      const std::string hz = std::to_string(rate) + " Hz";
      const Measurement* const channel = find(setup, "transport of " + hz);
      ASSERT_NE(channel, nullptr) << setup << hz;
      EXPECT_EQ(channel->rate_hz, rate);
      samples += channel->kept();
      const Measurement* const used = find(setup, "used of " + hz);
      ASSERT_NE(used, nullptr) << setup << hz;
      EXPECT_TRUE(used->more_is_better);
      EXPECT_GT(used->pooled().at(0), 0);
      EXPECT_LE(used->pooled().at(0), 100);
    }
    EXPECT_EQ(all->kept(), samples) << setup;
  }
}

}  // namespace
}  // namespace cardan::bench
