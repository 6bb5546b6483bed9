// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/split_rule.hpp"

#include <gtest/gtest.h>

namespace cardan::record {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kStart = 1'000'000;
constexpr std::uint64_t kHuge = ~std::uint64_t{0};
constexpr std::int64_t kLate = std::int64_t{1} << 60;

TEST(SplitRule, WithoutALimitOnlyARequestSplits) {
  SplitRule rule(0, 0s);
  rule.begin_file(kStart);
  EXPECT_FALSE(rule.should_split(kHuge, kLate));
  rule.request();
  EXPECT_TRUE(rule.requested());
  EXPECT_TRUE(rule.should_split(0, kStart)) << "also of a file without a sample";
}

TEST(SplitRule, BySize) {
  SplitRule rule(1000, 0s);
  rule.begin_file(kStart);
  EXPECT_FALSE(rule.should_split(999, kLate));
  EXPECT_TRUE(rule.should_split(1000, kStart));
}

TEST(SplitRule, ByTimeSinceTheFileBegan) {
  SplitRule rule(0, 2s);
  rule.begin_file(kStart);
  EXPECT_FALSE(rule.should_split(kHuge, kStart + 1'999'999'999));
  EXPECT_TRUE(rule.should_split(0, kStart + 2'000'000'000));
  rule.begin_file(kStart + 2'000'000'000);
  EXPECT_FALSE(rule.should_split(kHuge, kStart + 2'000'000'001));
}

TEST(SplitRule, TheNextFileAnswersARequest) {
  SplitRule rule(1000, 2s);
  rule.begin_file(kStart);
  rule.request();
  EXPECT_TRUE(rule.should_split(0, kStart)) << "until there is one, it stays";
  rule.begin_file(kStart);
  EXPECT_FALSE(rule.requested());
  EXPECT_FALSE(rule.should_split(0, kStart));
}

}  // namespace
}  // namespace cardan::record
