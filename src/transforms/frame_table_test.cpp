// SPDX-License-Identifier: Apache-2.0
#include "src/transforms/frame_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace cardan::detail {
namespace {

constexpr std::int64_t kKept = 10'000'000'000;
constexpr std::size_t kMost = 100;

Transform at_x(double x) { return {.translation = {x, 0, 0}, .rotation = {}}; }

class FrameTableTest : public testing::Test {
 protected:
  FrameTable::Put put(const char* parent, const char* child, std::int64_t stamp, const Transform& place,
                      bool is_static = false) {
    const FrameIndex in = table_.add(parent);
    return table_.put(table_.add(child), {.stamp = stamp, .transform = place, .parent = in}, is_static, kKept, kMost);
  }
  Located locate(const char* target, const char* source, std::int64_t stamp) const {
    return table_.locate(table_.find(target), table_.find(source), stamp);
  }
  FrameTable table_;
};

TEST_F(FrameTableTest, InterpolatesBetweenTwoStamps) {
  put("map", "car", 100, at_x(1));
  put("map", "car", 200, {.translation = {3, 0, 0}, .rotation = from_rpy(0, 0, 1)});
  const Located middle = locate("map", "car", 150);
  ASSERT_EQ(middle.reason, NoTransform::None);
  EXPECT_DOUBLE_EQ(middle.transform.translation.x, 2);
  EXPECT_NEAR(to_rpy(middle.transform.rotation).z, 0.5, 1e-12);
}

TEST_F(FrameTableTest, GoesUpAndDownTheTree) {
  put("map", "car", 100, {.translation = {10, 0, 0}, .rotation = from_rpy(0, 0, 1.5707963267948966)});
  put("car", "lidar", 0, at_x(2), true);
  put("car", "camera", 0, {.translation = {0, 1, 0}, .rotation = {}}, true);
  const Located found = locate("lidar", "camera", 12345);  // both never change: at any time
  ASSERT_EQ(found.reason, NoTransform::None);
  EXPECT_NEAR(found.transform.translation.x, -2, 1e-12);
  EXPECT_NEAR(found.transform.translation.y, 1, 1e-12);
  const Located in_map = locate("map", "lidar", 100);
  EXPECT_NEAR(in_map.transform.translation.x, 10, 1e-12);
  EXPECT_NEAR(in_map.transform.translation.y, 2, 1e-12);
  const Located back = locate("lidar", "map", 100);
  EXPECT_NEAR((back.transform * in_map.transform).translation.x, 0, 1e-12);
}

TEST_F(FrameTableTest, DoesNotExtrapolate) {
  put("map", "car", 100, at_x(1));
  put("map", "car", 200, at_x(2));
  const Located old = locate("map", "car", 40), fresh = locate("car", "map", 212);
  EXPECT_EQ(old.reason, NoTransform::TooOld);
  EXPECT_EQ(old.beyond_ns, 60);
  EXPECT_EQ(fresh.reason, NoTransform::TooNew);
  EXPECT_EQ(fresh.beyond_ns, 12);
  EXPECT_EQ(table_.at(fresh.frame).name, "car");
}

TEST_F(FrameTableTest, AnyStampMayBeAskedFor) {
  put("map", "car", 100, at_x(1));
  for (const std::int64_t stamp : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    EXPECT_GT(locate("map", "car", stamp).beyond_ns, 0);
}

TEST_F(FrameTableTest, TheNewestIsTheNewestThatAllHave) {
  put("map", "odom", 100, at_x(1));
  put("map", "odom", 300, at_x(3));
  put("odom", "car", 50, at_x(0));
  put("odom", "car", 200, at_x(0));
  const Located found = locate("map", "car", kNewest);
  EXPECT_EQ(found.stamp, 200);
  EXPECT_DOUBLE_EQ(found.transform.translation.x, 2);
  EXPECT_EQ(locate("car", "car", kNewest).reason, NoTransform::None);
}

TEST_F(FrameTableTest, TwoTreesAreNotConnected) {
  put("map", "car", 100, at_x(1));
  put("world", "drone", 100, at_x(1));
  EXPECT_EQ(locate("map", "drone", 100).reason, NoTransform::NotConnected);
  EXPECT_EQ(locate("car", "drone", kNewest).reason, NoTransform::NotConnected);
}

TEST_F(FrameTableTest, ALoopIsRefused) {
  put("a", "b", 100, at_x(1));
  put("b", "c", 100, at_x(1));
  EXPECT_EQ(put("c", "a", 100, at_x(1)), FrameTable::Put::Loop);
  EXPECT_EQ(locate("a", "c", 100).reason, NoTransform::None);
}

TEST_F(FrameTableTest, ALoopInThePastEndsTheWay) {
  put("b", "a", 10, at_x(1));
  put("c", "a", 20, at_x(1));  // a's newest parent is c
  EXPECT_EQ(put("a", "b", 5, at_x(1)), FrameTable::Put::Accepted);
  put("a", "b", 15, at_x(1));
  EXPECT_EQ(locate("b", "c", 12).reason, NoTransform::Loop);
}

TEST_F(FrameTableTest, AnotherParentCountsFromItsStampOn) {
  put("map", "box", 100, at_x(1));
  put("map", "box", 200, at_x(2));
  put("car", "box", 300, at_x(5));
  put("map", "car", 100, at_x(10));
  put("map", "car", 400, at_x(10));
  EXPECT_DOUBLE_EQ(locate("map", "box", 150).transform.translation.x, 1.5);
  EXPECT_DOUBLE_EQ(locate("map", "box", 250).transform.translation.x, 2);  // the older one, as in tf2
  EXPECT_DOUBLE_EQ(locate("map", "box", 300).transform.translation.x, 15);
  EXPECT_DOUBLE_EQ(locate("map", "box", kNewest).transform.translation.x, 15);
}

TEST_F(FrameTableTest, BeforeAFrameWasPlacedItsLaterParentClosesNoCircle) {
  put("odom", "base", 1, at_x(1));
  put("odom", "base", 10, at_x(1));
  put("map", "base", 20, at_x(5));
  put("map", "base", 30, at_x(5));
  put("base", "odom", 20, at_x(-1));
  put("base", "odom", 30, at_x(-1));
  ASSERT_EQ(locate("odom", "base", 5).reason, NoTransform::None);
  EXPECT_DOUBLE_EQ(locate("odom", "base", 5).transform.translation.x, 1);
  EXPECT_DOUBLE_EQ(locate("map", "odom", 25).transform.translation.x, 4);
}

TEST_F(FrameTableTest, TheNewestMayBeTimeZero) {
  put("map", "p1", 0, at_x(1000));
  put("map", "p2", 0, at_x(2000));
  put("p1", "x", 0, at_x(1));
  put("p2", "x", 100, at_x(1));
  EXPECT_DOUBLE_EQ(locate("map", "x", kNewest).transform.translation.x, 1001);  // where it was at 0
}

TEST_F(FrameTableTest, KeepsWhatItIsAskedToAndNoMore) {
  for (std::int64_t n = 1; n <= 1000; ++n) put("map", "car", n, at_x(static_cast<double>(n)));
  EXPECT_EQ(table_.at(table_.find("car")).places.size(), kMost);
  EXPECT_EQ(locate("map", "car", 900).reason, NoTransform::TooOld);
  EXPECT_EQ(locate("map", "car", 901).reason, NoTransform::None);
  EXPECT_EQ(put("map", "car", 5, at_x(0)), FrameTable::Put::Late);
  put("map", "car", 1000 + kKept, at_x(0));
  EXPECT_EQ(table_.at(table_.find("car")).places.size(), 2U);  // 1000, and this one
  EXPECT_EQ(put("map", "car", 1000, at_x(9)), FrameTable::Put::Known);
}

/// Against a sorted list, in any order of arrival.
TEST(History, KeepsTheOrderOfTheStamps) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t most = 2 + random() % 40;
    const std::int64_t kept = 1 + static_cast<std::int64_t>(random() % 300);
    History history;
    std::vector<std::int64_t> expected;
    for (int n = 0; n < 300; ++n) {
      const auto stamp = static_cast<std::int64_t>(static_cast<unsigned>(n) + random() % 60);
      const bool known = std::find(expected.begin(), expected.end(), stamp) != expected.end();
      const bool late = !expected.empty() &&
                        (stamp < expected.back() - kept || (expected.size() >= most && stamp < expected.front()));
      EXPECT_EQ(history.insert({.stamp = stamp, .transform = {}, .parent = 0}, kept, most), !known && !late);
      if (known || late) continue;
      expected.insert(std::upper_bound(expected.begin(), expected.end(), stamp), stamp);
      if (expected.size() > most) expected.erase(expected.begin());
      while (expected.front() < expected.back() - kept) expected.erase(expected.begin());
      ASSERT_EQ(history.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(history.at(i).stamp, expected[i]);
      const auto asked = static_cast<std::int64_t>(random() % 400);
      ASSERT_EQ(history.until(asked),
                static_cast<std::size_t>(std::upper_bound(expected.begin(), expected.end(), asked) - expected.begin()));
    }
  }
}

}  // namespace
}  // namespace cardan::detail
