// SPDX-License-Identifier: Apache-2.0
// Each policy of a fusion by hand-made sequences: what fires, what does not and why, and what is held meanwhile. All
// times are the samples' own, so nothing here depends on the computer's speed.
#include "cardan/fusion.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "cardan/error.hpp"
#include "src/runtime/fusion/fusion_samples_test.hpp"

namespace cardan {
namespace {

using namespace std::chrono_literals;
using test::at, test::Cloud, test::Image, test::kMs;

using Two = Fusion<Image, Cloud>;
using Pair = std::pair<std::int64_t, std::int64_t>;

/// Stamps of the sets that are there now, −1 for a missing sample.
std::vector<Pair> take(Two& fusion) {
  std::vector<Pair> sets;
  while (auto set = fusion.next()) {
    const auto& [image, cloud] = *set;
    sets.emplace_back(image ? image->time : -1, cloud ? cloud->time : -1);
  }
  return sets;
}

std::vector<Pair> image(Two& fusion, std::int64_t ms, std::int64_t publish_ms = -1) {
  fusion.offer<0>(at<Image>(ms, publish_ms));
  return take(fusion);
}
std::vector<Pair> cloud(Two& fusion, std::int64_t ms, std::int64_t publish_ms = -1) {
  fusion.offer<1>(at<Cloud>(ms, publish_ms));
  return take(fusion);
}

using Sets = std::vector<Pair>;
const Sets kNone;

void expect_accounted(const Two& fusion) {
  const FusionStatistics s = fusion.statistics();
  EXPECT_EQ(s.inputs[0].offered, s.inputs[0].accounted());
  EXPECT_EQ(s.inputs[1].offered, s.inputs[1].accounted());
}

// ---- primary

TEST(PrimaryFusion, FiresAtTheFirstInputWithTheNewestOfTheOthers) {
  Two fusion{primary()};
  EXPECT_EQ(cloud(fusion, 1), kNone);
  EXPECT_EQ(cloud(fusion, 2), kNone);
  EXPECT_EQ(image(fusion, 3), (Sets{{3, 2}}));
  EXPECT_EQ(image(fusion, 4), (Sets{{4, 2}})) << "others may serve again";
  EXPECT_EQ(cloud(fusion, 5), kNone);
  EXPECT_EQ(image(fusion, 6), (Sets{{6, 5}}));
  const auto s = fusion.statistics();
  EXPECT_EQ(s.fired, 3U);
  EXPECT_EQ(s.inputs[0].used, 3U);
  EXPECT_EQ(s.inputs[1].used, 2U);
  EXPECT_EQ(s.inputs[1].replaced, 1U);
  EXPECT_EQ(s.inputs[1].waiting, 0U);
  expect_accounted(fusion);
}

TEST(PrimaryFusion, FiresAtTheInputThatWasChosen) {
  Two fusion{primary({.input = 1})};
  EXPECT_EQ(image(fusion, 1), kNone);
  EXPECT_EQ(cloud(fusion, 2), (Sets{{1, 2}}));
}

TEST(PrimaryFusion, SaysWhichInputNeverArrived) {
  Fusion<Image, Cloud, Cloud> fusion{primary()};
  fusion.offer<1>(at<Cloud>(1));
  fusion.offer<0>(at<Image>(2));
  EXPECT_FALSE(fusion.next());
  fusion.offer<2>(at<Cloud>(3));
  EXPECT_FALSE(fusion.next()) << "what did not fire when it came does not fire later";
  const auto s = fusion.statistics();
  EXPECT_EQ(s.fired, 0U);
  EXPECT_EQ(s.inputs[0].unfired, 1U);
  EXPECT_EQ(s.inputs[1].never_arrived, 0U);
  EXPECT_EQ(s.inputs[2].never_arrived, 1U);
}

TEST(PrimaryFusion, SaysWhichInputIsTooOld) {
  Two fusion{primary({.max_age = 10ms})};
  cloud(fusion, 100);
  EXPECT_EQ(image(fusion, 110), (Sets{{110, 100}})) << "exactly max_age is young enough";
  EXPECT_EQ(image(fusion, 111), kNone);
  EXPECT_EQ(cloud(fusion, 112), kNone);
  EXPECT_EQ(image(fusion, 113), (Sets{{113, 112}}));
  const auto s = fusion.statistics();
  EXPECT_EQ(s.inputs[1].too_old, 1U);
  EXPECT_EQ(s.inputs[0].unfired, 1U);
  expect_accounted(fusion);
}

TEST(PrimaryFusion, HasAnAgeOfItsOwnForEachInput) {
  Fusion<Image, Cloud, Cloud> fusion{primary({.max_age = 10ms, .inputs = {{}, {.max_age = 0ms}, {.max_age = 50ms}}})};
  fusion.offer<1>(at<Cloud>(1));
  fusion.offer<2>(at<Cloud>(1000));
  fusion.offer<0>(at<Image>(1050));
  EXPECT_TRUE(fusion.next());
  fusion.offer<0>(at<Image>(1051));
  EXPECT_FALSE(fusion.next());
  EXPECT_EQ(fusion.statistics().inputs[2].too_old, 1U);
}

TEST(PrimaryFusion, FiresWithoutWhatIsNotRequired) {
  Two fusion{primary({.max_age = 10ms, .inputs = {{}, {.required = false}}})};
  EXPECT_EQ(image(fusion, 1), (Sets{{1, -1}}));
  cloud(fusion, 2);
  EXPECT_EQ(image(fusion, 3), (Sets{{3, 2}}));
  EXPECT_EQ(image(fusion, 20), (Sets{{20, -1}})) << "too old is as good as missing";
  const auto s = fusion.statistics();
  EXPECT_EQ(s.fired, 3U);
  EXPECT_EQ(s.inputs[1].absent, 2U);
  EXPECT_EQ(s.inputs[1].never_arrived + s.inputs[1].too_old, 0U);
  expect_accounted(fusion);
}

TEST(PrimaryFusion, GoesByTheTimeThatItIsTold) {
  // Computed late: old by its stamp, young by its publication.
  Two by_stamp{primary({.max_age = 10ms})};
  cloud(by_stamp, 100, 195);
  EXPECT_EQ(image(by_stamp, 200), kNone);
  Two by_publication{primary({.max_age = 10ms, .time = FusionTime::Publish})};
  cloud(by_publication, 100, 195);
  EXPECT_EQ(image(by_publication, 200), (Sets{{200, 100}}));
  cloud(by_publication, 300, 300);
  EXPECT_EQ(image(by_publication, 250), (Sets{{250, 300}})) << "younger than what fires";
}

TEST(PrimaryFusion, AStampFromTheFutureDoesNotKeepADeadInputAlive) {
  Two fusion{primary({.max_age = 10ms})};
  cloud(fusion, 5000, 100);
  EXPECT_EQ(image(fusion, 50, 110), (Sets{{50, 5000}})) << "the clock was set back in between: young all the same";
  EXPECT_EQ(image(fusion, 60, 120), kNone) << "20 ms after its publication";
  EXPECT_EQ(fusion.statistics().inputs[1].too_old, 1U);
}

TEST(PrimaryFusion, ALateTakeGetsTheFreshest) {
  Two fusion{primary()};
  fusion.offer<0>(at<Image>(1));
  fusion.offer<0>(at<Image>(2));
  fusion.offer<1>(at<Cloud>(3));
  EXPECT_EQ(take(fusion), (Sets{{2, 3}}));
  EXPECT_EQ(fusion.statistics().inputs[0].replaced, 1U);
  expect_accounted(fusion);
}

// ---- approximate

TEST(ApproximateFusion, ChoosesTheClosestOnceItIsCertain) {
  Two fusion{approximate({.tolerance = 30ms})};
  EXPECT_EQ(image(fusion, 100), kNone);
  EXPECT_EQ(cloud(fusion, 120), kNone) << "the next image may be closer";
  EXPECT_EQ(image(fusion, 133), (Sets{{133, 120}}));
  EXPECT_EQ(image(fusion, 166), kNone);
  EXPECT_EQ(image(fusion, 200), kNone);
  EXPECT_EQ(cloud(fusion, 220), kNone);
  EXPECT_EQ(image(fusion, 260), (Sets{{200, 220}}));
  const auto s = fusion.statistics();
  EXPECT_EQ(s.fired, 2U);
  EXPECT_EQ(s.inputs[0].overtaken, 2U) << "100 and 166";
  EXPECT_EQ(s.inputs[0].waiting, 1U);
  expect_accounted(fusion);
}

TEST(ApproximateFusion, DoesNotMatchBeyondTheTolerance) {
  Two fusion{approximate({.tolerance = 10ms})};
  image(fusion, 100);
  EXPECT_EQ(cloud(fusion, 111), kNone);
  EXPECT_EQ(fusion.statistics().inputs[0].overtaken, 1U);
  EXPECT_EQ(image(fusion, 121), kNone) << "the next cloud may be closer";
  EXPECT_EQ(cloud(fusion, 132), (Sets{{121, 111}})) << "exactly the tolerance is close enough";
  EXPECT_EQ(image(fusion, 143), kNone);
  EXPECT_EQ(fusion.statistics().inputs[1].overtaken, 1U);
  expect_accounted(fusion);
}

TEST(ApproximateFusion, FiresAtOnceWhenNothingCanBeCloser) {
  Two fusion{approximate({.tolerance = 30ms})};
  image(fusion, 100);
  EXPECT_EQ(cloud(fusion, 100), (Sets{{100, 100}}));
  Two periodic{approximate({.tolerance = 30ms, .inputs = {{.min_period = 20ms}, {}}})};
  image(periodic, 100);
  EXPECT_EQ(cloud(periodic, 110), (Sets{{100, 110}})) << "the next image cannot come before 120";
  EXPECT_EQ(image(periodic, 133), kNone);
  EXPECT_EQ(cloud(periodic, 144), kNone) << "the next image may come at 153, which is closer";
  EXPECT_EQ(image(periodic, 160), (Sets{{133, 144}}));
}

TEST(ApproximateFusion, PatienceBoundsTheWaitForACloserOne) {
  // The slow input comes first, its next only in a second: it might, as far as stamps tell, be closer to 110.
  for (const bool patient : {true, false}) {
    Two fusion{approximate({.tolerance = 15ms, .queue = 20, .patience = patient ? 0ms : 40ms})};
    cloud(fusion, 100);
    EXPECT_EQ(image(fusion, 110), kNone);
    EXPECT_EQ(image(fusion, 140), kNone);
    EXPECT_EQ(image(fusion, 150), patient ? kNone : (Sets{{110, 100}}));
    EXPECT_EQ(image(fusion, 180), kNone);
    EXPECT_EQ(cloud(fusion, 1100), patient ? (Sets{{110, 100}}) : kNone);
  }
}

TEST(ApproximateFusion, AFullQueueDecidesWithWhatIsKnown) {
  Two fusion{approximate({.tolerance = 15ms, .queue = 3})};
  cloud(fusion, 100);
  EXPECT_EQ(image(fusion, 110), kNone);
  EXPECT_EQ(image(fusion, 140), kNone);
  EXPECT_EQ(image(fusion, 170), (Sets{{110, 100}})) << "rather than to lose a set";
  EXPECT_EQ(fusion.statistics().inputs[0].pushed_out, 0U);
}

TEST(ApproximateFusion, BoundsItsQueuesAndNamesTheInputThatNeverCame) {
  Two fusion{approximate({.tolerance = 10ms, .queue = 4})};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(image(fusion, 100 + i * 33), kNone);
  auto s = fusion.statistics();
  EXPECT_EQ(s.inputs[0].waiting, 4U);
  EXPECT_EQ(s.inputs[0].pushed_out, 6U);
  EXPECT_EQ(s.inputs[1].never_arrived, 6U);
  EXPECT_EQ(cloud(fusion, 397), (Sets{{397, 397}})) << "the newest were kept";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(image(fusion, 430 + i * 33), kNone);
  s = fusion.statistics();
  EXPECT_EQ(s.inputs[0].waiting, 4U);
  EXPECT_EQ(s.inputs[0].pushed_out, 7U);
  EXPECT_EQ(s.inputs[1].never_arrived, 6U) << "it has come now";
  expect_accounted(fusion);
}

TEST(ApproximateFusion, AFullQueueKeepsTheNewestStamps) {
  Two fusion{approximate({.tolerance = 10ms, .queue = 2})};
  for (const std::int64_t stamp : {200, 300, 100}) image(fusion, stamp);
  EXPECT_EQ(cloud(fusion, 200), (Sets{{200, 200}}));
  EXPECT_EQ(fusion.statistics().inputs[0].pushed_out, 1U);
  expect_accounted(fusion);
}

TEST(ApproximateFusion, EqualStampsAreTwoSamples) {
  Two fusion{approximate({.tolerance = 10ms})};
  image(fusion, 100);
  image(fusion, 100);
  EXPECT_EQ(cloud(fusion, 100), (Sets{{100, 100}}));
  EXPECT_EQ(cloud(fusion, 100), (Sets{{100, 100}}));
  EXPECT_EQ(fusion.statistics().fired, 2U);
}

TEST(ApproximateFusion, SortsDisorderInAndLeavesOutWhatComesTooLate) {
  Two fusion{approximate({.tolerance = 10ms})};
  image(fusion, 200);
  image(fusion, 100);
  EXPECT_EQ(cloud(fusion, 100), (Sets{{100, 100}}));
  EXPECT_EQ(cloud(fusion, 200), (Sets{{200, 200}}));
  EXPECT_EQ(image(fusion, 150), kNone);
  EXPECT_EQ(cloud(fusion, 150), kNone);
  EXPECT_EQ(fusion.statistics().inputs[0].late, 1U);
  EXPECT_EQ(fusion.statistics().inputs[1].late, 1U);
  expect_accounted(fusion);
}

TEST(ApproximateFusion, ContinuesAfterAClockWasSetBack) {
  Two fusion{approximate({.tolerance = 10ms})};
  image(fusion, 100'000);
  cloud(fusion, 100'000);
  image(fusion, 100'100);
  EXPECT_EQ(image(fusion, 50'000), kNone) << "the images' clock is set back";
  EXPECT_EQ(fusion.statistics().inputs[0].cleared, 1U);
  EXPECT_EQ(cloud(fusion, 50'000), (Sets{{50'000, 50'000}})) << "the clouds' too";
  EXPECT_EQ(image(fusion, 50'100), kNone);
  EXPECT_EQ(cloud(fusion, 50'100), (Sets{{50'100, 50'100}}));
  EXPECT_EQ(image(fusion, 49'500), kNone) << "by less than clock_step: disorder, too late";
  EXPECT_EQ(image(fusion, 49'050), kNone) << "by more than it in all";
  EXPECT_EQ(cloud(fusion, 49'050), (Sets{{49'050, 49'050}}));
  EXPECT_EQ(fusion.statistics().inputs[0].late, 1U);
  expect_accounted(fusion);
}

TEST(ApproximateFusion, OneWildStampCostsOneSample) {
  Two fusion{approximate({.tolerance = 10ms})};
  image(fusion, 900'000);
  EXPECT_EQ(cloud(fusion, 100), kNone);
  image(fusion, 200);
  EXPECT_EQ(cloud(fusion, 200), (Sets{{200, 200}}));
}

TEST(ApproximateFusion, TakesThePublishTimeWhereThereIsNoStamp) {
  Two fusion{approximate({.tolerance = 10ms})};
  fusion.offer<0>(make_sample(std::make_shared<const Image>(Image{1}), {.publish_time = 100 * kMs}));
  fusion.offer<1>(make_sample(std::make_shared<const Cloud>(Cloud{2}), {.publish_time = 100 * kMs}));
  EXPECT_EQ(take(fusion), (Sets{{1, 2}}));
  Two by_publication{approximate({.tolerance = 10ms, .time = FusionTime::Publish})};
  image(by_publication, 7, 100);
  EXPECT_EQ(cloud(by_publication, 9000, 100), (Sets{{7, 9000}}));
}

TEST(ApproximateFusion, SurvivesTheEndsOfTime) {
  constexpr auto kFirst = std::numeric_limits<std::int64_t>::min();
  constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
  Two fusion{approximate({.tolerance = 10ms, .inputs = {{.min_period = 1s}, {.min_period = 1s}}})};
  const auto stamped = [](std::int64_t ns) {
    return make_sample(std::make_shared<const Image>(Image{0}), {.source_time = ns});
  };
  const auto cloud_stamped = [](std::int64_t ns) {
    return make_sample(std::make_shared<const Cloud>(Cloud{0}), {.source_time = ns});
  };
  fusion.offer<0>(stamped(kFirst));
  fusion.offer<1>(cloud_stamped(kLast));
  EXPECT_FALSE(fusion.next());
  fusion.offer<0>(stamped(kLast - 5));
  EXPECT_FALSE(fusion.next());
  fusion.offer<0>(stamped(kLast));
  EXPECT_TRUE(fusion.next());
  fusion.offer<0>(stamped(kFirst));
  fusion.offer<1>(cloud_stamped(kFirst));
  EXPECT_TRUE(fusion.next());
  expect_accounted(fusion);
}

// ---- exact

TEST(ExactFusion, JoinsEqualStampsOnly) {
  Two fusion{exact()};
  image(fusion, 100);
  image(fusion, 133);
  EXPECT_EQ(cloud(fusion, 101), kNone);
  EXPECT_EQ(cloud(fusion, 133), (Sets{{133, 133}}));
  const auto s = fusion.statistics();
  EXPECT_EQ(s.inputs[0].overtaken, 1U);
  EXPECT_EQ(s.inputs[1].overtaken, 1U);
  expect_accounted(fusion);
}

TEST(ExactFusion, WaitsForResultsThatLagBehind) {
  Two fusion{exact({.queue = 3})};
  for (int i = 0; i < 3; ++i) image(fusion, 100 + i);
  EXPECT_EQ(cloud(fusion, 100), (Sets{{100, 100}}));
  EXPECT_EQ(cloud(fusion, 102), (Sets{{102, 102}}));
  EXPECT_EQ(image(fusion, 103), kNone);
  EXPECT_EQ(image(fusion, 104), kNone);
  EXPECT_EQ(image(fusion, 105), kNone);
  EXPECT_EQ(image(fusion, 106), kNone);
  EXPECT_EQ(cloud(fusion, 103), kNone);
  EXPECT_EQ(fusion.statistics().inputs[0].pushed_out, 1U) << "lags by more than the queue holds";
  EXPECT_EQ(fusion.statistics().inputs[1].overtaken, 1U);
  expect_accounted(fusion);
}

// ---- all

template <class Make>
void expect_refused(Make make) {
  try {
    make();
    FAIL() << "was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
    EXPECT_FALSE(e.remedy().empty());
  }
}

TEST(Fusion, RefusesOptionsThatCannotWork) {
  expect_refused([] { Two fusion{primary({.input = 2})}; });
  expect_refused([] { Two fusion{primary({.max_age = -1ns})}; });
  expect_refused([] { Two fusion{primary({.inputs = {{.required = false}}})}; });
  expect_refused([] { Two fusion{primary({.inputs = {{}, {}, {.max_age = 1ms}}})}; });
  expect_refused([] { Two fusion{approximate({.tolerance = -1ns})}; });
  expect_refused([] { Two fusion{approximate({.queue = 0})}; });
  expect_refused([] { Two fusion{approximate({.inputs = {{}, {}, {.min_period = 1ms}}})}; });
  expect_refused([] { Two fusion{exact({.queue = 1025})}; });
}

TEST(Fusion, HoldsWhatItSaysAndGivesAllBack) {
  const FusionPolicy policies[] = {primary(), approximate({.tolerance = 5ms, .queue = 4}), exact({.queue = 4})};
  for (const FusionPolicy& policy : policies) {
    std::vector<std::shared_ptr<const Image>> images;
    std::vector<std::shared_ptr<const Cloud>> clouds;
    std::vector<Two::Set> kept;
    {
      Two fusion{policy};
      const auto held = [](const auto& all) {
        std::size_t count = 0;
        for (const auto& one : all) count += one.use_count() > 1 ? 1U : 0U;
        return count;
      };
      for (int i = 1; i <= 100; ++i) {
        const SampleInfo info{.publish_time = i * kMs, .source_time = i * kMs};
        images.push_back(std::make_shared<const Image>(Image{i}));
        fusion.offer<0>(make_sample(images.back(), info));
        if (i % 7 == 0) {
          clouds.push_back(std::make_shared<const Cloud>(Cloud{i}));
          fusion.offer<1>(make_sample(clouds.back(), info));
        }
        kept.clear();
        if (i < 50)
          if (auto set = fusion.next()) kept.push_back(*std::move(set));
        if (i == 30) fusion.clear();
        EXPECT_LT(held(images), fusion.holds());
        EXPECT_LT(held(clouds), fusion.holds());
        expect_accounted(fusion);
      }
      auto set = fusion.next();
      ASSERT_TRUE(set);
      kept.push_back(*std::move(set));
      fusion.offer<0>(Sample<Image>{});
    }
    const Sample<Image>& last = std::get<0>(kept.back());
    EXPECT_EQ(last->time, last.source_time() / kMs) << "a set outlives its fusion";
    kept.clear();
    for (const auto& one : images) EXPECT_EQ(one.use_count(), 1);
    for (const auto& one : clouds) EXPECT_EQ(one.use_count(), 1);
  }
}

TEST(Fusion, ItsCountsMayBeReadByAnyThread) {
  Two fusion{approximate({.tolerance = 5ms})};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::uint64_t fired = 0;
    while (!done.load()) {
      const std::uint64_t now = fusion.statistics().fired;
      EXPECT_GE(now, fired);
      fired = now;
    }
  });
  for (int i = 1; i < 2000; ++i) {
    image(fusion, i * 10);
    cloud(fusion, i * 10 + i % 3);
  }
  done = true;
  reader.join();
  EXPECT_GT(fusion.statistics().fired, 1900U);
}

}  // namespace
}  // namespace cardan
