// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/failure_log.hpp"

#include <gtest/gtest.h>

namespace cardan::detail {
namespace {

constexpr std::int64_t kMs = 1'000'000;
using Lines = std::vector<std::string>;

TEST(FailureLog, TheSameAgainIsCountedAndSaidOncePerWindow) {
  FailureLog log;
  EXPECT_EQ(log.failed("a", "/x", "broken", 0), (Lines{"a: callback '/x' threw: broken"}));
  for (int ms = 1; ms < 10'000; ++ms) ASSERT_TRUE(log.failed("a", "/x", "broken", ms * kMs).empty()) << ms;
  EXPECT_EQ(log.failed("a", "/x", "broken", 10'000 * kMs),
            (Lines{"a: callback '/x' threw the same 9999 more times: broken"}));
  EXPECT_EQ(log.rest(), (Lines{"a: callback '/x' threw the same 1 more time: broken"})) << "the last one is not lost";
  EXPECT_TRUE(log.rest().empty());
}

TEST(FailureLog, CountsAreReportedWhenTheTimeIsOverAlsoWithoutAnotherException) {
  FailureLog log;
  EXPECT_EQ(log.next(), 0);
  EXPECT_EQ(log.failed("a", "/x", "broken", 0).size(), 1U);
  EXPECT_EQ(log.next(), 0) << "it has been said";
  for (int ms = 1; ms <= 500; ++ms) ASSERT_TRUE(log.failed("a", "/x", "broken", ms * kMs).empty());
  EXPECT_EQ(log.next(), FailureLog::kWindow);
  EXPECT_TRUE(log.over(9'999 * kMs).empty());
  EXPECT_EQ(log.over(10'000 * kMs), (Lines{"a: callback '/x' threw the same 500 more times: broken"}));
  EXPECT_EQ(log.next(), 0);
  EXPECT_TRUE(log.failed("a", "/x", "broken", 10'001 * kMs).empty()) << "it is still counted";
  EXPECT_EQ(log.next(), 20'000 * kMs);
  EXPECT_EQ(log.over(20'000 * kMs), (Lines{"a: callback '/x' threw the same 1 more time: broken"}));
  EXPECT_TRUE(log.over(90'000 * kMs).empty());
  EXPECT_TRUE(log.rest().empty());
}

TEST(FailureLog, AnotherExceptionAndAnotherCallbackAreReportedAtOnce) {
  FailureLog log;
  EXPECT_EQ(log.failed("a", "/x", "one", 0).size(), 1U);
  EXPECT_EQ(log.failed("a", "/x", "two", 1).size(), 1U);
  EXPECT_EQ(log.failed("a", "/y", "one", 2).size(), 1U);
  EXPECT_EQ(log.failed("b", "/x", "one", 3).size(), 1U);
  EXPECT_TRUE(log.failed("a", "/x", "one", 4).empty());
  EXPECT_EQ(log.rest(), (Lines{"a: callback '/x' threw 1 more time, the last: one"}));
}

TEST(FailureLog, ADifferentTextEachTimeIsFewLines) {
  FailureLog log;
  std::size_t lines = 0;
  for (int i = 0; i < 10'000; ++i) lines += log.failed("a", "/x", "sample " + std::to_string(i), i * kMs).size();
  EXPECT_EQ(lines, FailureLog::kLines);
  EXPECT_EQ(log.rest(), (Lines{"a: callback '/x' threw 9995 more times, the last: sample 9999"}));
}

TEST(FailureLog, AfterAQuietTimeTheSameIsNewsAgain) {
  FailureLog log;
  EXPECT_EQ(log.failed("a", "/x", "broken", 0).size(), 1U);
  EXPECT_EQ(log.failed("a", "/x", "broken", 3'600'000 * kMs), (Lines{"a: callback '/x' threw: broken"}));
}

TEST(FailureLog, TextsOfExceptionsTakeBoundedMemory) {
  FailureLog log;
  const std::string long_text(1 << 20, 'x');
  EXPECT_LT(log.failed("a", "/x", long_text, 0).at(0).size(), FailureLog::kText + 64);
  std::size_t lines = 0;
  for (int i = 0; i < 10'000; ++i) lines += log.failed("a", "timer" + std::to_string(i), "broken", i).size();
  EXPECT_LE(lines, FailureLog::kCallbacks + FailureLog::kLines);
}

}  // namespace
}  // namespace cardan::detail
