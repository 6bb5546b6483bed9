// SPDX-License-Identifier: Apache-2.0
// Guarantees of the policies of a fusion: random sequences against references that try everything, and the frequencies
// and orders of the ComP benchmark's data fusion (Fig. 6) in simulated time.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "cardan/fusion.hpp"

namespace cardan {
namespace {

using namespace std::chrono_literals;
using detail::FusionCore;

struct Item {
  std::size_t input;
  std::size_t place;  ///< among its input's
};
using Stamps = std::vector<std::vector<std::int64_t>>;  ///< of each input's samples, in nanoseconds
using Set = std::vector<std::size_t>;                   ///< a place of each input
constexpr std::size_t kMissing = static_cast<std::size_t>(-1);

/// A fusion whose number of inputs is known at run time only.
class Bench {
 public:
  Bench(const FusionPolicy& policy, std::size_t inputs) : core_(policy, inputs), inputs_(inputs) {}

  void offer(std::size_t input, std::int64_t stamp, std::size_t place) {
    objects_.push_back(std::make_shared<const Item>(Item{input, place}));
    const Sample<Item> sample = make_sample(objects_.back(), {.publish_time = 1, .source_time = stamp});
    core_.offer(input, detail::block_of(sample));
  }
  bool next(Set& set) {
    std::array<detail::SampleBlock*, kMaxFusionInputs> blocks{};
    if (!core_.next(blocks.data())) return false;
    set.assign(inputs_, kMissing);
    for (std::size_t i = 0; i < inputs_; ++i) {
      const Sample<Item> sample = detail::sample_of<Item>(blocks[i]);
      if (!sample) continue;
      EXPECT_EQ(sample->input, i);
      set[i] = sample->place;
    }
    return true;
  }
  void clear() { core_.clear(); }
  [[nodiscard]] FusionStatistics statistics() const { return core_.statistics(); }
  /// Objects that somebody holds besides this list.
  [[nodiscard]] std::uint64_t held() const {
    return static_cast<std::uint64_t>(
        std::count_if(objects_.begin(), objects_.end(), [](const auto& one) { return one.use_count() > 1; }));
  }
  void expect_accounted() const {
    const FusionStatistics s = statistics();
    std::uint64_t waiting = 0;
    for (std::size_t i = 0; i < inputs_; ++i) {
      EXPECT_EQ(s.inputs[i].offered, s.inputs[i].accounted());
      waiting += s.inputs[i].waiting;
    }
    EXPECT_LE(waiting, held()) << "what waits is held";
  }

 private:
  std::vector<std::shared_ptr<const Item>> objects_;
  FusionCore core_;
  std::size_t inputs_;
};

std::uint64_t spread_of(const Stamps& stamps, const Set& set) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < set.size(); ++i) {
    first = std::min(first, stamps[i][set[i]]);
    last = std::max(last, stamps[i][set[i]]);
  }
  return static_cast<std::uint64_t>(last - first);
}

/// Calls `use` with every set of samples from `begin` on and before `end`.
template <class Use>
void for_each_set(const Set& begin, const Set& end, Use use) {
  for (std::size_t i = 0; i < begin.size(); ++i)
    if (begin[i] >= end[i]) return;
  Set set = begin;
  for (;;) {
    use(set);
    std::size_t i = 0;
    while (i < set.size() && ++set[i] == end[i]) {
      set[i] = begin[i];
      ++i;
    }
    if (i == set.size()) return;
  }
}

struct Expected {
  Set set;
  std::int64_t pivot;
};

/// The sets of approximate() by its definition, all stamps known: of all sets that contain a head the closest, of those
/// the one that begins first, of those the one of the earliest samples.
std::vector<Expected> reference(const Stamps& stamps, std::int64_t tolerance) {
  const std::size_t inputs = stamps.size();
  std::vector<Expected> sets;
  Set heads(inputs, 0);
  const auto head = [&](std::size_t i) { return stamps[i][heads[i]]; };
  for (;;) {
    std::int64_t pivot = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < inputs; ++i) {
      if (heads[i] == stamps[i].size()) return sets;
      pivot = std::max(pivot, head(i));
    }
    bool complete = true;
    for (std::size_t i = 0; i < inputs; ++i) {
      if (pivot - head(i) <= tolerance) continue;
      ++heads[i];
      complete = false;
    }
    if (!complete) continue;
    Set end = heads;  // what is later than this is further from any head than the heads are from each other
    const auto limit = pivot + static_cast<std::int64_t>(spread_of(stamps, heads));
    for (std::size_t i = 0; i < inputs; ++i)
      while (end[i] < stamps[i].size() && stamps[i][end[i]] <= limit) ++end[i];
    const auto key = [&](const Set& set) {
      std::int64_t first = std::numeric_limits<std::int64_t>::max();
      for (std::size_t i = 0; i < inputs; ++i) first = std::min(first, stamps[i][set[i]]);
      return std::tuple{spread_of(stamps, set), first, set};
    };
    Set best = heads;
    for_each_set(heads, end, [&](const Set& set) {
      bool shares = false;
      for (std::size_t i = 0; i < inputs; ++i) shares = shares || set[i] == heads[i];
      if (shares && key(set) < key(best)) best = set;
    });
    sets.push_back({best, pivot});
    for (std::size_t i = 0; i < inputs; ++i) heads[i] = best[i] + 1;
  }
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// From `least` to `most`.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  std::size_t index(std::size_t end) { return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(end) - 1)); }
  bool one_in(std::int64_t n) { return number(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

/// Some periodic, some irregular, some with many equal stamps; the last ones, far from each other, end all waiting.
Stamps random_stamps(Random& random, std::size_t inputs, std::size_t most, std::vector<std::int64_t>& periods) {
  Stamps stamps(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    const std::int64_t period = random.number(5, 40);
    const std::int64_t least = random.one_in(3) ? 0 : period / 2;
    periods.push_back(least);
    std::int64_t time = 1000 + random.number(0, 40);
    for (std::size_t n = 0; n < most && time < 1900; ++n) {
      stamps[i].push_back(time);
      time += random.number(least, period + period - least);
    }
    stamps[i].push_back(100'000 + static_cast<std::int64_t>(i) * 10'000);
  }
  return stamps;
}

std::vector<Set> sets_of(const std::vector<Expected>& expected) {
  std::vector<Set> sets;
  for (const Expected& one : expected) sets.push_back(one.set);
  return sets;
}

TEST(FusionGuarantees, ApproximateMatchesTheReferenceWheneverSamplesArrive) {
  std::uint64_t fired = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t inputs = 2 + random.index(3);
    const std::int64_t tolerance = seed % 5 == 0 ? 0 : random.number(1, 30);
    std::vector<std::int64_t> periods;
    const Stamps stamps = random_stamps(random, inputs, 60, periods);
    const std::vector<Expected> expected = reference(stamps, tolerance);

    ApproximateOptions options{.tolerance = std::chrono::nanoseconds{tolerance}, .queue = 64};
    const bool periodic = seed % 2 == 0;
    for (std::size_t i = 0; periodic && i < inputs; ++i)
      options.inputs[i].min_period = std::chrono::nanoseconds{periods[i]};
    Bench bench(tolerance == 0 ? exact({.queue = 64}) : approximate(options), inputs);
    std::vector<Set> got;
    Set done(inputs, 0);
    const std::size_t favourite = random.index(inputs);  // comes before the others
    for (;;) {
      std::size_t i = random.one_in(3) ? favourite : random.index(inputs);
      for (std::size_t tried = 0; tried < inputs && done[i] == stamps[i].size(); ++tried) i = (i + 1) % inputs;
      if (done[i] == stamps[i].size()) break;
      bench.offer(i, stamps[i][done[i]], done[i]);
      ++done[i];
      Set set;
      while (bench.next(set)) got.push_back(set);
      bench.expect_accounted();
      // Not before its time, which the comparison at the end tells; and not after: all have come to the pivot.
      std::size_t due = 0;
      while (due < expected.size() && std::all_of(
                                          stamps.begin(), stamps.end(),
                                          [&, input = std::size_t{0}](const auto& one) mutable {
                                            const std::size_t come = done[input++];
                                            return come > 0 && one[come - 1] >= expected[due].pivot;
                                          }))
        ++due;
      ASSERT_GE(got.size(), due);
    }
    ASSERT_EQ(got, sets_of(expected));
    fired += got.size();

    // Nothing that could have been a set was passed over between two.
    Set begin(inputs, 0);
    for (const Set& set : got) {
      ASSERT_LE(spread_of(stamps, set), static_cast<std::uint64_t>(tolerance));
      for_each_set(begin, set, [&](const Set& other) {
        ASSERT_GT(spread_of(stamps, other), static_cast<std::uint64_t>(tolerance));
      });
      for (std::size_t i = 0; i < inputs; ++i) {
        ASSERT_GE(set[i], begin[i]) << "used twice, or crossed";
        begin[i] = set[i] + 1;
      }
    }
    // And the counts follow from the stamps as well; only the last sample of an input may still wait.
    const FusionStatistics s = bench.statistics();
    EXPECT_EQ(s.fired, got.size());
    for (std::size_t i = 0; i < inputs; ++i) {
      EXPECT_EQ(s.inputs[i].used, got.size());
      EXPECT_EQ(s.inputs[i].waiting, i + 1 == inputs ? 1U : 0U);
      EXPECT_EQ(s.inputs[i].overtaken, s.inputs[i].offered - got.size() - s.inputs[i].waiting);
    }
  }
  EXPECT_GT(fired, 8000U) << "the sequences are worth something";
}

TEST(FusionGuarantees, TheOrderOfTheInputsDoesNotMatterToApproximate) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    std::vector<std::int64_t> periods;
    const Stamps stamps = random_stamps(random, 3, 60, periods);
    std::vector<Set> first;
    std::vector<std::size_t> order{0, 1, 2};
    do {
      Bench bench(approximate({.tolerance = 15ns, .queue = 64}), 3);
      std::vector<Set> got;
      for (std::size_t n = 0; n < 62; ++n)
        for (std::size_t i = 0; i < 3; ++i)
          if (n < stamps[order[i]].size()) bench.offer(i, stamps[order[i]][n], n);
      Set set;
      while (bench.next(set)) {
        Set back(3);
        for (std::size_t i = 0; i < 3; ++i) back[order[i]] = set[i];
        got.push_back(back);
      }
      if (first.empty()) first = got;
      ASSERT_EQ(got, first) << seed;
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(FusionGuarantees, EverySampleIsAccountedForWhateverHappens) {
  std::uint64_t fired = 0, pushed_out = 0, late = 0, cleared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t inputs = 2 + random.index(7);
    const std::size_t queue = 1 + random.index(6);
    const std::int64_t tolerance = random.number(0, 40);
    Bench bench(approximate({.tolerance = std::chrono::nanoseconds{tolerance},
                             .queue = queue,
                             .patience = std::chrono::nanoseconds{random.one_in(2) ? 0 : random.number(1, 50)},
                             .clock_step = 100ns}),
                inputs);
    Stamps stamps(inputs);
    std::vector<std::size_t> uses;
    std::vector<std::int64_t> newest(inputs, 0), last_used(inputs, 0);
    const auto forget = [&] {
      newest.assign(inputs, 0);
      last_used.assign(inputs, 0);
    };
    std::int64_t now = 1'000'000;
    for (int step = 0; step < 300; ++step) {
      now += random.one_in(60) ? random.number(-900, 500) : random.number(0, 8);
      const std::size_t i = random.index(inputs);
      const std::int64_t stamp = now - (random.one_in(5) ? random.number(0, 60) : 0);
      stamps[i].push_back(stamp);
      if (stamp < newest[i] - 100) forget();
      newest[i] = std::max(newest[i], stamp);
      bench.offer(i, stamp, stamps[i].size() - 1);
      if (random.one_in(100)) {
        bench.clear();
        forget();
      }
      Set set;
      for (bool more = !random.one_in(4); more && bench.next(set);) {
        ASSERT_LE(spread_of(stamps, set), static_cast<std::uint64_t>(tolerance));
        for (std::size_t k = 0; k < inputs; ++k) {
          const std::size_t sample = k * 1000 + set[k];
          ASSERT_TRUE(std::find(uses.begin(), uses.end(), sample) == uses.end()) << "used twice";
          uses.push_back(sample);
          ASSERT_GE(stamps[k][set[k]], last_used[k]) << "sets crossed";
          last_used[k] = stamps[k][set[k]];
        }
      }
      bench.expect_accounted();
      const FusionStatistics s = bench.statistics();
      std::uint64_t waiting = 0;
      for (std::size_t k = 0; k < inputs; ++k) {
        ASSERT_LE(s.inputs[k].waiting, queue);
        waiting += s.inputs[k].waiting;
      }
      ASSERT_EQ(waiting, bench.held()) << "and nothing else is held";
    }
    const FusionStatistics s = bench.statistics();
    fired += s.fired;
    for (const FusionInputStatistics& one : s.inputs) {
      pushed_out += one.pushed_out;
      late += one.late;
      cleared += one.cleared;
    }
    bench.clear();
    EXPECT_EQ(bench.held(), 0U);
  }
  EXPECT_GT(fired, 1000U);
  EXPECT_GT(pushed_out, 1000U);
  EXPECT_GT(late, 1000U);
  EXPECT_GT(cleared, 1000U);
}

TEST(FusionGuarantees, PrimaryMatchesAPlainModel) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t inputs = 2 + random.index(7);
    PrimaryOptions options{.input = random.index(inputs), .max_age = std::chrono::nanoseconds{random.number(0, 60)}};
    for (std::size_t i = 0; i < inputs; ++i)
      if (i != options.input) options.inputs[i].required = !random.one_in(3);
    Bench bench(primary(options), inputs);
    Stamps stamps(inputs);
    std::vector<std::vector<bool>> used(inputs);
    std::uint64_t fired = 0, unfired = 0;
    std::int64_t now = 1000;
    for (int step = 0; step < 300; ++step) {
      now += random.number(0, 10);
      const std::size_t i = random.one_in(3) ? options.input : random.index(inputs);
      stamps[i].push_back(now);
      used[i].push_back(false);
      bench.offer(i, now, stamps[i].size() - 1);
      Set expected(inputs, kMissing);
      bool fires = i == options.input;
      for (std::size_t k = 0; k < inputs; ++k) {
        const bool there = !stamps[k].empty() && (k == options.input || options.max_age == 0ns ||
                                                  now - stamps[k].back() <= options.max_age.count());
        if (there) expected[k] = stamps[k].size() - 1;
        fires = fires && (there || !options.inputs[k].required);
      }
      unfired += i == options.input && !fires ? 1U : 0U;
      Set set;
      ASSERT_EQ(bench.next(set), fires);
      if (fires) {
        ASSERT_EQ(set, expected);
        ++fired;
        for (std::size_t k = 0; k < inputs; ++k)
          if (set[k] != kMissing) used[k][set[k]] = true;
      }
      bench.expect_accounted();
      ASSERT_LE(bench.held(), inputs);
    }
    const FusionStatistics s = bench.statistics();
    EXPECT_EQ(s.fired, fired);
    EXPECT_EQ(s.inputs[options.input].unfired, unfired);
    std::uint64_t reasons = 0;
    for (std::size_t k = 0; k < inputs; ++k) {
      EXPECT_EQ(s.inputs[k].used, static_cast<std::uint64_t>(std::count(used[k].begin(), used[k].end(), true)));
      reasons += s.inputs[k].never_arrived + s.inputs[k].too_old;
    }
    EXPECT_EQ(reasons, unfired);
  }
}

// ---- ComP's Fig. 6: one subscriber, four publishers of different frequencies

constexpr std::int64_t kMs = 1'000'000;
using Periods = std::array<std::int64_t, 4>;

struct Outcome {
  double seconds = 0;
  std::uint64_t fired = 0, lapped = 0;
  std::array<double, 4> age_ms{};                 ///< mean, from publication to firing
  std::vector<std::array<std::int64_t, 4>> sets;  ///< publish times, by period
};

/// Publishers of these periods, each a little out of step, whose samples arrive at once.
Outcome simulate(const FusionPolicy& policy, const Periods& periods_ms) {
  constexpr std::int64_t kEnd = 20'000;
  Fusion<int, int, int, int> fusion{policy};
  Outcome outcome;
  outcome.seconds = static_cast<double>(kEnd) / 1000;
  const auto object = std::make_shared<const int>(0);
  for (std::int64_t ms = 1; ms <= kEnd; ++ms) {
    const auto publish = [&]<std::size_t I>() {
      if (ms % periods_ms[I] == periods_ms[I] / 3)
        fusion.offer<I>(make_sample(object, {.publish_time = ms * kMs, .source_time = ms * kMs}));
      while (const auto set = fusion.next()) {
        const std::array<std::int64_t, 4> times{std::get<0>(*set).publish_time(), std::get<1>(*set).publish_time(),
                                                std::get<2>(*set).publish_time(), std::get<3>(*set).publish_time()};
        for (std::size_t i = 0; i < 4; ++i)
          outcome.age_ms[i] += static_cast<double>(ms * kMs - times[i]) / static_cast<double>(kMs);
        outcome.sets.push_back(times);
      }
    };
    publish.operator()<0>();
    publish.operator()<1>();
    publish.operator()<2>();
    publish.operator()<3>();
  }
  const FusionStatistics s = fusion.statistics();
  outcome.fired = s.fired;
  for (std::size_t i = 0; i < 4; ++i) {
    outcome.age_ms[i] /= static_cast<double>(std::max<std::uint64_t>(1, s.fired));
    outcome.lapped += s.inputs[i].lapped();
  }
  return outcome;
}

constexpr Periods kFig6{10, 20, 50, 100};

double unfairness(const Outcome& outcome) {
  const auto [least, most] = std::minmax_element(outcome.age_ms.begin(), outcome.age_ms.end());
  return *most - *least;
}

TEST(ComPFig6, PrimaryFiresAtTheRateOfItsInput) {
  for (std::size_t input = 0; input < 4; ++input) {
    const Outcome outcome = simulate(primary({.input = input}), kFig6);
    EXPECT_NEAR(static_cast<double>(outcome.fired) / outcome.seconds, 1000.0 / static_cast<double>(kFig6[input]), 0.5);
    EXPECT_EQ(outcome.age_ms[input], 0.0) << "what fires does not wait";
  }
}

TEST(ComPFig6, WithPrimaryAgesAreInverselyProportionalToTheFrequency) {
  const Outcome outcome = simulate(primary(), kFig6);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_NEAR(outcome.age_ms[i], static_cast<double>(kFig6[i]) / 2, static_cast<double>(kFig6[0]) / 2 + 0.1);
}

TEST(ComPFig6, TheFastestAsPrimaryReplacesLeast) {
  std::vector<std::uint64_t> lapped;
  for (std::size_t input = 0; input < 4; ++input) lapped.push_back(simulate(primary({.input = input}), kFig6).lapped);
  EXPECT_TRUE(std::is_sorted(lapped.begin(), lapped.end()));
  EXPECT_LE(lapped[0], 20U) << "before the slowest has come for the first time";
  EXPECT_GT(lapped[3], 2000U);
}

TEST(ComPFig6, WithApproximateTheAgesAreFair) {
  const Outcome approximately = simulate(approximate({.tolerance = 50ms}), kFig6);
  EXPECT_NEAR(static_cast<double>(approximately.fired) / approximately.seconds, 10.0, 0.2) << "as often as the slowest";
  EXPECT_LT(unfairness(approximately), 25.0) << "within half a period of the slowest's best partner";
  EXPECT_GT(unfairness(simulate(primary(), kFig6)), 50.0);
}

TEST(ComPFig6, TheOrderOfTheInputsMattersToPrimaryOnly) {
  const Outcome approximately = simulate(approximate({.tolerance = 50ms}), kFig6);
  const Outcome primarily = simulate(primary(), kFig6);
  Periods periods = kFig6;
  while (std::next_permutation(periods.begin(), periods.end())) {
    Outcome other = simulate(approximate({.tolerance = 50ms}), periods);
    for (auto& set : other.sets) {
      const auto given = set;
      for (std::size_t i = 0; i < 4; ++i)
        set[static_cast<std::size_t>(std::find(kFig6.begin(), kFig6.end(), periods[i]) - kFig6.begin())] = given[i];
    }
    EXPECT_EQ(other.sets, approximately.sets);
    EXPECT_EQ(simulate(primary(), periods).fired == primarily.fired, periods[0] == kFig6[0]);
  }
}

}  // namespace
}  // namespace cardan
