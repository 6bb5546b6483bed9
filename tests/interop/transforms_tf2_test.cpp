// SPDX-License-Identifier: Apache-2.0
// The same transforms in tf2 and in Cardan: random ones, and those of a recording.
//
//   transforms_tf2_tests [FILE]   FILE: lines of tf_lines.py, "stamp parent child static x y z qx qy qz qw"
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/transforms/tf2_tree.hpp"
#include "cardan/local_message.hpp"
#include "src/transforms/transform_store.hpp"

namespace cardan {
namespace {

std::string recording;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): of the command line

struct Line {
  std::int64_t stamp = 0;
  std::string parent, child;
  bool is_static = false;
  Tf2Tree::Numbers numbers{};
};

struct Counts {
  std::uint64_t both = 0, neither = 0, one = 0;
  double largest = 0;
};

class BothTrees {
 public:
  void put(const Line& line) {
    LocalMessage<TransformMessage> message(4096);
    TransformStamped one;
    one.header.stamp = line.stamp;
    one.header.frame_id = FrameId(line.parent);
    one.child_frame_id = FrameId(line.child);
    const auto& n = line.numbers;
    one.transform = {.translation = {n[0], n[1], n[2]}, .rotation = {n[3], n[4], n[5], n[6]}};
    message->transforms.push_back(one);
    ours_.take(*message, line.is_static, {.stream = 1, .program = "test", .pid = 1});
    theirs_.put(line.parent, line.child, line.stamp, line.numbers, line.is_static);
  }
  void compare(const std::string& target, const std::string& source, std::int64_t stamp) {
    Tf2Tree::Numbers expected{};
    const bool known = theirs_.lookup(target, source, stamp, expected);
    const FoundTransform found = ours_.lookup(target, source, stamp);
    if (known != static_cast<bool>(found)) {
      if (++counts.one < 5)
        ADD_FAILURE() << source << " in " << target << " at " << stamp << ": " << found.text()
                      << (known ? " — tf2 knows it" : " — tf2 does not know it");
      return;
    }
    ++(known ? counts.both : counts.neither);
    if (!known) return;
    const auto& [v, q] = *found;
    const Tf2Tree::Numbers ours{v.x, v.y, v.z, q.x, q.y, q.z, q.w};
    const double sign =
        ours[3] * expected[3] + ours[4] * expected[4] + ours[5] * expected[5] + ours[6] * expected[6] < 0 ? -1 : 1;
    for (std::size_t i = 0; i < ours.size(); ++i)
      counts.largest = std::max(counts.largest, std::abs(ours[i] - (i < 3 ? 1 : sign) * expected[i]));
  }
  Counts counts;

 private:
  detail::TransformStore ours_{{.log_problems = false}};
  Tf2Tree theirs_{10};
};

TEST(Tf2, AnswersTheSameOfRandomTransforms) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> metres(-50, 50), radians(-3, 3);
  constexpr std::int64_t kFrames = 24, kMillisecond = 1'000'000;
  const auto any = [&](std::int64_t below) { return static_cast<std::int64_t>(random()) % below; };
  const auto name = [](std::int64_t i) { return i == 0 ? std::string("map") : "frame" + std::to_string(i); };
  BothTrees trees;
  for (std::int64_t n = 0; n < 20'000; ++n) {
    const std::int64_t i = 1 + any(kFrames - 1);
    const bool is_static = i % 3 == 0;
    const std::int64_t parent = any(200) == 0 ? any(i) : (i - 1) / 2;
    const Quaternion q = from_rpy(radians(random), radians(random) / 2, radians(random));
    // Out of order by up to 30 ms; 20 s in all, so that some are too old for both.
    const std::int64_t stamp = (1000 + n - any(30)) * kMillisecond;
    trees.put({.stamp = is_static ? 0 : stamp,
               .parent = name(parent),
               .child = name(i),
               .is_static = is_static,
               .numbers = {metres(random), metres(random), metres(random), q.x, q.y, q.z, q.w}});
    if (n < 100) continue;
    for (const std::int64_t span : {12'000, 50}) {
      const std::int64_t ago = any(span) * kMillisecond + any(kMillisecond);
      const std::string target = name(any(kFrames));
      trees.compare(target, name(any(kFrames)), std::max(stamp - ago, kMillisecond));
    }
  }
  EXPECT_EQ(trees.counts.one, 0U);
  EXPECT_GT(trees.counts.both, 5000U);
  EXPECT_GT(trees.counts.neither, 1000U);
  EXPECT_LE(trees.counts.largest, 1e-9);
}

TEST(Tf2, AnswersTheSameOfARecording) {
  if (recording.empty()) GTEST_SKIP() << "no file of lines was given";
  std::ifstream in(recording);
  BothTrees trees;
  std::set<std::string> names;
  std::vector<std::int64_t> stamps;
  std::uint64_t lines = 0;
  for (Line line; in >> line.stamp >> line.parent >> line.child >> line.is_static;) {
    for (double& number : line.numbers) in >> number;
    trees.put(line);
    names.insert({line.parent, line.child});
    ++lines;
    if (line.is_static) continue;
    stamps.push_back(line.stamp);
    if (lines % 50 != 0) continue;
    // Every pair, at this time and between it and one before.
    const std::int64_t between = line.stamp - (line.stamp - stamps[stamps.size() / 2]) / 3;
    for (const std::string& target : names)
      for (const std::string& source : names) {
        trees.compare(target, source, line.stamp);
        trees.compare(target, source, between);
      }
  }
  const Counts& c = trees.counts;
  fmt::print("{} frames, {} places, {} lookups, {} without an answer in both, largest difference {:.2g}\n",
             names.size(), lines, c.both + c.neither, c.neither, c.largest);
  EXPECT_GT(c.both, 0U);
  EXPECT_EQ(c.one, 0U);
  EXPECT_LE(c.largest, 1e-9);
}

}  // namespace
}  // namespace cardan

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) cardan::recording = argv[1];
  return RUN_ALL_TESTS();
}
