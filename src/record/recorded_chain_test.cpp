// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorded_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/error.hpp"

namespace cardan::record {
namespace {

constexpr std::int64_t kStamp = 5'000'000'000;
constexpr std::uint64_t kLogTime = 1'700'000'000'000'000'000;

/// A message with publishers 1, 2, 3… of the topics.
Causes of_topics(const std::vector<std::string>& topics) {
  Causes all{.stamp_ns = kStamp};
  for (const std::string& topic : topics) {
    all.publishers.push_back(all.publishers.size() + 1);
    all.topics.push_back(topic);
  }
  return all;
}

void add(Causes& to, std::uint16_t publisher, std::uint32_t sequence, std::int32_t published_us,
         std::uint16_t cause = Causes::kNoCause, std::uint32_t cause_sequence = 0, std::uint32_t age_us = 0) {
  to.publisher.push_back(publisher);
  to.sequence.push_back(sequence);
  to.published_us.push_back(published_us);
  to.age_us.push_back(age_us);
  to.cause_publisher.push_back(cause);
  to.cause_sequence.push_back(cause_sequence);
}

RecordedChain chain_of(const Causes& causes, const std::string& from = "/camera", const std::string& to = "/command") {
  RecordedCauses all;
  EXPECT_TRUE(all.add(cdr_of(causes), kLogTime));
  return all.chain(from, to);
}

TEST(RecordedChain, FollowsTheCausesAndAddsUp) {
  Causes causes = of_topics({"/camera", "/found", "/command"});
  for (std::uint32_t i = 1; i <= 10; ++i) {
    const auto at = static_cast<std::int32_t>(i) * -1000;
    add(causes, 0, i, at);
    add(causes, 1, 100 + i, at + 10, 0, i);
    add(causes, 2, 200 + i, at + 10 + static_cast<std::int32_t>(i), 1, 100 + i);
  }
  const RecordedChain chain = chain_of(causes);
  EXPECT_EQ(chain.publications, 10U);
  ASSERT_EQ(chain.ways.size(), 1U);
  const RecordedWay& way = chain.ways[0];
  EXPECT_EQ(way.topics, (std::vector<std::string>{"/camera", "/found", "/command"}));
  ASSERT_EQ(way.frames.size(), 10U);
  EXPECT_EQ(way.frames.front().sequence, 210U) << "by time";
  EXPECT_EQ(way.times(0)[0], 10'000);
  EXPECT_EQ(way.times(0)[1], 10'000);
  EXPECT_EQ(way.times(9)[1], 1'000);
  EXPECT_EQ(way.frames.back().stamp_ns, kLogTime - 1'000'000 + 11'000);
}

TEST(RecordedChain, EachMessageHasItsOwnOffsetOfTheLogTime) {
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  RecordedCauses all;
  for (std::uint32_t i = 0; i < 3; ++i) {  // the wall clock was set, or the files of three drives were joined
    Causes causes = of_topics({"/camera", "/command"});
    causes.stamp_ns = kStamp + i * std::int64_t{1'000'000'000};
    add(causes, 0, i, -20'000);
    add(causes, 1, i, -10'000, 0, i);
    ASSERT_TRUE(all.add(cdr_of(causes), kLogTime + i * kHour));
    Causes names = of_topics({"/camera", "/command"});
    ASSERT_TRUE(all.add(cdr_of(names), 0)) << "without samples";
  }
  const RecordedChain chain = all.chain("/camera", "/command");
  ASSERT_EQ(chain.ways.size(), 1U);
  ASSERT_EQ(chain.ways[0].frames.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(chain.ways[0].frames[i].stamp_ns, kLogTime + i * kHour - 10'000'000) << i;
}

TEST(RecordedChain, OfRepeatedSamplesTheEarliestCounts) {
  Causes causes = of_topics({"/camera", "/command"});
  add(causes, 0, 1, -900);
  add(causes, 1, 1, -500, 0, 1);
  add(causes, 1, 1, -600, 0, 1);
  const RecordedChain chain = chain_of(causes);
  ASSERT_EQ(chain.ways.size(), 1U);
  ASSERT_EQ(chain.ways[0].frames.size(), 1U);
  EXPECT_EQ(chain.ways[0].times(0)[0], 300'000);
}

TEST(RecordedChain, Stops) {
  Causes causes = of_topics({"/camera", "/command"});
  add(causes, 0, 1, -900);
  add(causes, 1, 1, -500, 0, 1);
  RecordedCauses all;
  ASSERT_TRUE(all.add(cdr_of(causes), kLogTime));
  EXPECT_EQ(all.chain("/camera", "/command", []() noexcept { return true; }).publications, 0U);
  EXPECT_EQ(all.chain("/camera", "/command", []() noexcept { return false; }).publications, 1U);
}

TEST(RecordedChain, TellsWhyAWayCannotBeFollowed) {
  Causes causes = of_topics({"/camera", "/lidar", "/command", ""});
  add(causes, 0, 1, -900);
  add(causes, 1, 1, -900);
  add(causes, 2, 1, -500, 0, 1);
  add(causes, 2, 2, -500, 1, 1);
  add(causes, 2, 3, -500);
  add(causes, 2, 4, -500, 3, 7);
  add(causes, 2, 5, -500, 0, 2);
  add(causes, 2, 6, -500, 0, 1, Causes::kUnknownAge);
  add(causes, 2, 7, -901, 0, 1);
  add(causes, 2, 8, -500, Causes::kNoCause, 0, 30);
  const RecordedChain chain = chain_of(causes);
  ASSERT_EQ(chain.ways.size(), 1U);
  EXPECT_EQ(chain.ways[0].frames.size(), 1U);
  EXPECT_EQ(chain.from_others, 2U);
  EXPECT_EQ(chain.not_recorded, 2U);
  EXPECT_EQ(chain.lost, 1U);
  EXPECT_EQ(chain.other_user, 1U);
  EXPECT_EQ(chain.invalid, 1U) << "before its cause";
  EXPECT_EQ(chain.publications, 8U);
}

TEST(RecordedChain, DifferentWaysAreToldApartAndMessagesJoined) {
  Causes causes = of_topics({"/camera", "/a", "/b", "/command"});
  for (std::uint32_t i = 1; i <= 3; ++i) add(causes, 0, i, -900);
  add(causes, 1, 1, -800, 0, 1);
  add(causes, 2, 1, -800, 0, 2);
  add(causes, 2, 2, -800, 0, 3);
  RecordedCauses all;
  ASSERT_TRUE(all.add(cdr_of(causes), kLogTime));
  Causes later = of_topics({});
  later.publishers = {4, 1, 2, 3};
  later.topics = {"/command", "", "", ""};
  later.left_out = 5;
  add(later, 0, 1, -100, 2, 1);
  add(later, 0, 2, -100, 3, 1);
  add(later, 0, 3, -100, 3, 2);
  ASSERT_TRUE(all.add(cdr_of(later), kLogTime));
  EXPECT_EQ(all.left_out(), 5U);
  EXPECT_EQ(all.topics(), (std::vector<std::string>{"/a", "/b", "/camera", "/command"}));
  const RecordedChain chain = all.chain("/camera", "/command");
  ASSERT_EQ(chain.ways.size(), 2U);
  EXPECT_EQ(chain.ways[0].topics[1], "/b");
  EXPECT_EQ(chain.ways[0].frames.size(), 2U);
  EXPECT_EQ(chain.ways[1].topics[1], "/a");
}

TEST(RecordedChain, CirclesEnd) {
  Causes causes = of_topics({"/a", "/command"});
  add(causes, 0, 1, -500, 1, 1);
  add(causes, 1, 1, -500, 0, 1);
  add(causes, 1, 2, -500, 1, 2);
  EXPECT_EQ(chain_of(causes).invalid, 2U);
  EXPECT_EQ(chain_of(causes, "/command").ways.size(), 2U) << "around it once";
}

TEST(RecordedChain, AnotherUsersNumbersAreNotFollowed) {
  Causes causes = of_topics({"/camera", "/camera", "/command"});
  causes.publishers[1] = 0;
  add(causes, 1, 1, -500, Causes::kNoCause, 0, 0);
  add(causes, 2, 1, -400, 1, 1);
  const RecordedChain chain = chain_of(causes);
  EXPECT_TRUE(chain.ways.empty());
  EXPECT_EQ(chain.other_user, 1U);
}

TEST(RecordedChain, ExtremeNumbersDoNotOverflow) {
  for (const std::int64_t stamp :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    Causes causes = of_topics({"/camera", "/command"});
    causes.stamp_ns = -stamp / 2;
    add(causes, 0, 0xffff'ffff, std::numeric_limits<std::int32_t>::max());
    RecordedCauses all;
    ASSERT_TRUE(all.add(cdr_of(causes), ~std::uint64_t{0}));
    Causes later = of_topics({"/camera", "/command"});
    later.stamp_ns = stamp;
    add(later, 1, 1, std::numeric_limits<std::int32_t>::min() + 1, 0, 0xffff'ffff);
    add(later, 1, 2, std::numeric_limits<std::int32_t>::min(), 0, 0xffff'ffff);
    ASSERT_TRUE(all.add(cdr_of(later), 0));
    EXPECT_EQ(all.chain("/camera", "/command").invalid, 2U);
  }
}

TEST(RecordedChain, RefusesWhatNoRecorderWrites) {
  RecordedCauses all;
  const auto refused = [&all](const Causes& causes) { return !all.add(cdr_of(causes), kLogTime); };
  Causes good = of_topics({"/camera"});
  add(good, 0, 1, -1);
  EXPECT_FALSE(refused(good));
  Causes bad = good;
  bad.publisher[0] = 1;
  EXPECT_TRUE(refused(bad)) << "no such publisher";
  bad = good;
  bad.cause_publisher[0] = 1;
  EXPECT_TRUE(refused(bad)) << "no such publisher of a cause";
  bad = good;
  bad.age_us.push_back(1);
  EXPECT_TRUE(refused(bad)) << "lists of different lengths";
  bad = good;
  bad.topics.clear();
  EXPECT_TRUE(refused(bad)) << "a publisher without a topic";
  bad = good;
  bad.topics[0].assign(Causes::kLongestTopic + 1, 'x');
  EXPECT_TRUE(refused(bad)) << "a name without end";
  const std::vector<std::byte> whole = cdr_of(good);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(all.add(mcap::View(whole).first(bytes), kLogTime)) << bytes;
  std::vector<std::byte> huge = whole;
  std::fill(huge.begin() + 20, huge.begin() + 24, std::byte{0xff});
  EXPECT_FALSE(all.add(huge, kLogTime)) << "more publishers than bytes";
}

TEST(RecordedChain, PublishersWithoutEndAreAnError) {
  RecordedCauses all;
  std::uint64_t number = 0;
  const auto add_many = [&] {
    for (int i = 0; i < 3; ++i) {
      Causes causes{.stamp_ns = kStamp};
      for (int k = 0; k < 30'000; ++k) causes.publishers.push_back(++number), causes.topics.emplace_back("/x");
      (void)all.add(cdr_of(causes), kLogTime);
    }
  };
  EXPECT_THROW(add_many(), Error);
}

TEST(RecordedChain, WaysWithoutEndAreAnError) {
  constexpr std::uint32_t kTopics = 1'200;
  Causes causes = of_topics({"/camera", "/command"});
  add(causes, 0, 1, -900);
  for (std::uint32_t i = 0; i < kTopics; ++i) {
    causes.publishers.push_back(10 + i);
    causes.topics.push_back("/t" + std::to_string(i));
    add(causes, static_cast<std::uint16_t>(2 + i), 1, -800, 0, 1);
    add(causes, 1, i, -700, static_cast<std::uint16_t>(2 + i), 1);
  }
  EXPECT_THROW((void)chain_of(causes), Error);
}

TEST(Causes, OtherToolsReadThemByTheirSchema) {
  EXPECT_EQ(AnyType::of_definition(kCausesType, kCausesSchema).layout().name, kCausesType);
}

}  // namespace
}  // namespace cardan::record
