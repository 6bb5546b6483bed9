// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/timeline.hpp"

#include <gtest/gtest.h>

#include "cardan/clock.hpp"

namespace cardan::street {
namespace {

constexpr std::int64_t kBegin = 1'317'042'145'000'000'000;
using Times = std::vector<std::int64_t>;

TEST(Timeline, GoesRoundByItsTimes) {
  Timeline line(Times{kBegin, kBegin + 100, kBegin + 300}, {}, 1000);
  EXPECT_EQ(line.length(), 450) << "with the mean distance at its end";
  const Times due{1000, 1100, 1300, 1450, 1550, 1750, 1900};
  for (std::size_t i = 0; i < due.size(); ++i) {
    const auto next = line.next(900);
    EXPECT_EQ(next.frame, i % 3);
    EXPECT_EQ(next.time, due[i]);
  }
}

TEST(Timeline, ALateReaderContinuesWithTheNewest) {
  Timeline line(Times{0, 100, 200, 300}, {}, 1000);
  EXPECT_EQ(line.next(0).frame, 0U);
  EXPECT_EQ(line.next(1250).frame, 2U) << "1100 and 1200 are due";
  EXPECT_EQ(line.next(1250).frame, 3U);
  EXPECT_EQ(line.next(1000 + 400 * 7 + 150).frame, 1U) << "rounds later";
}

TEST(Timeline, TwoOfADriveKeepStepAlsoAfterARestart) {
  const Times pictures{kBegin, kBegin + 100, kBegin + 200};
  const Times scans{kBegin + 30, kBegin + 130, kBegin + 230, kBegin + 330};
  Timeline camera(pictures, scans, 1000);
  Timeline lidar(scans, pictures, 1000);
  EXPECT_TRUE(camera.paired() && lidar.paired());
  EXPECT_EQ(camera.length(), lidar.length());
  for (int round = 0; round < 3; ++round) {
    const std::int64_t begin = 1000 + round * camera.length();
    for (const std::int64_t at : {0, 100, 200}) {
      EXPECT_EQ(camera.next(begin + at - 1).time, begin + at);
      EXPECT_EQ(lidar.next(begin + at - 1).time, begin + at + 30);
    }
    EXPECT_EQ(lidar.next(begin + 300).time, begin + 330) << "without a picture";
  }
  Timeline again(pictures, scans, 1000);
  const auto joined = again.next(1000 + 2 * camera.length() + 110);
  EXPECT_EQ(joined.frame, 2U);
  EXPECT_EQ(joined.time, 1000 + 2 * camera.length() + 200);
}

TEST(Timeline, WithoutAnOriginTwoMeetAllTheSame) {
  const Times pictures{kBegin, kBegin + 100'000'000};
  const Times scans{kBegin + 30'000'000, kBegin + 130'000'000};
  Timeline camera(pictures, scans, 0);
  Timeline lidar(scans, pictures, 0);
  const std::int64_t now = steady_now();
  const std::int64_t apart = lidar.next(now).time - camera.next(now).time;
  EXPECT_TRUE(apart == 30'000'000 || apart == -70'000'000 || apart == -100'000'000) << apart;
}

TEST(Timeline, OtherTimesAreNotAPair) {
  const Times own{kBegin, kBegin + 100};
  EXPECT_FALSE(Timeline(own, Times{kBegin + 1000, kBegin + 1100}, 1).paired());
  EXPECT_EQ(Timeline(own, Times{kBegin + 1000, kBegin + 1100}, 1).length(), 200);
  EXPECT_GT(Timeline(Times{kBegin}, {}, 1).length(), 0) << "one picture";
  EXPECT_NEAR(static_cast<double>(Timeline::wall_time(steady_now())), static_cast<double>(wall_now()), 1e9);
  EXPECT_FALSE(Timeline::sleep_until(steady_now() + 3'600'000'000'000, [] { return true; }));
}

}  // namespace
}  // namespace cardan::street
