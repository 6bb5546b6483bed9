// SPDX-License-Identifier: Apache-2.0
#include "bench/record/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/record/work.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench::recording {
namespace {

TEST(Scenes, HaveThePapersLengthsAndKeepTheirOrder) {
  EXPECT_DOUBLE_EQ(kScenes[0].seconds + kScenes[1].seconds + kScenes[2].seconds, 106 + 48 + 66);
  for (const Scene& scene : kScenes) {
    double sum = 0;
    const auto frames = static_cast<std::uint64_t>(scene.period_s * 36);
    for (std::uint64_t n = 0; n < frames; ++n) {
      const std::uint32_t objects = objects_at(scene, n, 36);
      EXPECT_EQ(objects, objects_at(scene, n, 36)) << "the same in each run";
      EXPECT_LE(objects, scene.objects + scene.swing + 1);
      sum += objects;
    }
    EXPECT_NEAR(sum / static_cast<double>(frames), scene.objects, 0.2);
  }
}

TEST(Work, AUnitTakesAboutWhatItIsCalledAfter) {
  const std::uint64_t steps = calibrate_unit();
  std::int64_t least = 1'000'000'000;
  std::uint64_t seed = 1;
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t before = now_ns();
    seed = do_unit(steps, seed);
    least = std::min(least, now_ns() - before);
  }
  EXPECT_NE(seed, 0U);
  // The best of many trials: others may take the CPU in the rest of them.
  EXPECT_GT(least, kUnitNs / 2);
  EXPECT_LT(least, kUnitNs * 2);
}

}  // namespace
}  // namespace cardan::bench::recording
