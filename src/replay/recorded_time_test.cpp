// SPDX-License-Identifier: Apache-2.0
#include "src/replay/recorded_time.hpp"

#include <gtest/gtest.h>

namespace cardan::replay {
namespace {

constexpr std::uint64_t kWholeSecond = 1'000'000'000;

TEST(RecordedTime, IsSecondsOrADate) {
  const std::uint64_t first = 1'700'000'000 * kWholeSecond;
  const auto at = [&](const char* text) { return recorded_time(text).value().log_time(first); };
  EXPECT_EQ(at("0"), first);
  EXPECT_EQ(at("12.5"), first + 12'500'000'000);
  EXPECT_EQ(at("2023-11-14T22:13:20Z"), first);
  EXPECT_EQ(at("2023-11-14T22:13:20.25Z"), first + kWholeSecond / 4);
  EXPECT_EQ(at("2023-11-14 23:13:20+01:00"), first);
  EXPECT_EQ(at("2023-11-14t20:43:20-01:30"), first);
  EXPECT_EQ(at("1970-01-01T00:00:01z"), kWholeSecond);
}

TEST(RecordedTime, NothingElseIs) {
  for (const char* text :
       {"", "x", "1s", "nan", "inf", "2023-11-14", "2023-11-14T22:13Z", "2023-11-14T22:13:20", "2023-02-30T00:00:00Z",
        "2023-11-14T24:00:00Z", "2023-11-14T22:13:20+1:00", "2023-11-14T22:13:20Zx", "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+01:00", "99999-01-01T00:00:00Z"})
    EXPECT_FALSE(recorded_time(text)) << text;
  EXPECT_EQ(problem_of_recorded_time("5"), "");
  EXPECT_NE(problem_of_recorded_time("-5"), "");
  EXPECT_NE(problem_of_recorded_time("later"), "");
}

}  // namespace
}  // namespace cardan::replay
