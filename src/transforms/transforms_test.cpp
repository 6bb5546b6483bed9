// SPDX-License-Identifier: Apache-2.0
#include "cardan/transforms.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/local_message.hpp"
#include "cardan/log.hpp"
#include "cardan/wait_any.hpp"
#include "src/transforms/transform_store.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan {
namespace {

using namespace std::chrono_literals;
using Kind = TransformProblem::Kind;
constexpr auto kLong = 60s;  // against hangs alone

Transform at_x(double x) { return {.translation = {x, 0, 0}, .rotation = {}}; }

TransformStamped placed(const char* parent, const char* child, std::int64_t stamp, const Transform& place) {
  TransformStamped one;
  one.header.stamp = stamp;
  one.header.frame_id = FrameId(std::string_view(parent));
  one.child_frame_id = FrameId(std::string_view(child));
  one.transform = place;
  return one;
}

/// A store that is given places without topics.
class Store : public testing::Test {
 protected:
  void put(std::initializer_list<TransformStamped> all, bool is_static = false, std::uint64_t stream = 1) {
    LocalMessage<TransformMessage> message(1 << 16);
    for (const TransformStamped& one : all) message->transforms.push_back(one);
    store_.take(*message, is_static,
                {.stream = stream, .program = stream == 1 ? "first" : "second", .pid = static_cast<int>(stream)});
  }
  [[nodiscard]] std::string problems() const {
    std::string all;
    for (const TransformProblem& p : store_.problems()) all += std::string(to_string(p.kind)) + ": " + p.text + "\n";
    return all;
  }
  detail::TransformStore store_{{.log_problems = false}};
};

TEST_F(Store, AnswersAndSaysWhyNot) {
  put({placed("map", "base_link", 100, at_x(1)), placed("map", "base_link", 200, at_x(2))});
  put({placed("base_link", "lidar_top", 0, at_x(1))}, true);
  const FoundTransform found = store_.lookup("map", "lidar_top", 150);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->translation.x, 2.5);
  EXPECT_EQ(found.stamp(), 150);
  EXPECT_EQ(found.text(), "");

  const FoundTransform wrong = store_.lookup("map", "lidar_tpo", 150);
  EXPECT_EQ(wrong.reason(), NoTransform::UnknownFrame);
  EXPECT_EQ(wrong.text(), "no frame 'lidar_tpo' — did you mean 'lidar_top'?");
  const FoundTransform early = store_.lookup("map", "lidar_top", 12'000'200);
  EXPECT_EQ(early.reason(), NoTransform::TooNew);
  EXPECT_EQ(early.beyond(), 12ms);
  EXPECT_EQ(early.frame(), "base_link");
  EXPECT_EQ(early.text(), "the newest place of 'base_link' is 12 ms before the stamp — wait() waits for it");
  EXPECT_NE(store_.lookup("map", "lidar_top", 99).text().find("TransformsOptions::history"), std::string::npos);
  put({placed("world", "drone", 100, at_x(1))});
  EXPECT_EQ(store_.lookup("drone", "lidar_top", 100).text(),
            "'lidar_top' and 'drone' are in two trees — `cardan tf tree` shows them");
  EXPECT_EQ(problems(), "");
}

TEST_F(Store, RefusesByName) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  put({placed("map", "nan", 1, at_x(kNan)), placed("map", "inf", 1, at_x(std::numeric_limits<double>::infinity())),
       placed("map", "long", 1, {.translation = {}, .rotation = {0, 0, 0, 1.01}}),
       placed("map", "zero", 1, {.translation = {}, .rotation = {0, 0, 0, 0}}), placed("map", "map", 1, at_x(1)),
       placed("map", "", 1, at_x(1)), placed("", "car", 1, at_x(1)), placed("map", "far", 1, at_x(1e16)),
       placed("map", "never", std::numeric_limits<std::int64_t>::min(), at_x(1)), placed("map", "car", 1, at_x(1))});
  EXPECT_EQ(store_.frames().size(), 2U);
  const std::string said = problems();
  for (const char* part : {"not finite: first (pid 1) publishes frame 'nan'", "'inf' in 'map' with NaN, infinity",
                           "not a rotation: first (pid 1) publishes frame 'long'", "frame 'zero'",
                           "own parent: first (pid 1)", "no name: first (pid 1)", "frame 'never'", "frame 'far'"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  EXPECT_TRUE(store_.lookup("map", "car", 1));
}

TEST_F(Store, NamesBothPublishersOfTwoParents) {
  put({placed("map", "lidar", 0, at_x(1))}, true, 1);
  put({placed("base", "lidar", 0, at_x(1))}, true, 2);
  EXPECT_EQ(
      problems(),
      "two parents: frame 'lidar' has two parents: 'map' by first (pid 1), and 'base' by second (pid 2) — end one "
      "of them\n");
}

TEST_F(Store, AProgramThatWasStartedAgainIsNotASecondPublisher) {
  put({placed("map", "car", 1, at_x(1))}, false, 1);
  put({placed("map", "car", 2, at_x(1))}, false, 2);
  put({placed("map", "car", 3, at_x(1))}, false, 2);
  put({placed("map", "roof", 0, at_x(1))}, true, 1);
  put({placed("map", "roof", 0, at_x(1))}, true, 2);
  EXPECT_EQ(problems(), "");
  put({placed("map", "car", 4, at_x(1))}, false, 1);  // both are alive
  EXPECT_NE(problems().find("two publishers: frame 'car' in 'map'"), std::string::npos);
}

TEST_F(Store, ThreePublishersThatTakeTurnsAreReported) {
  for (std::int64_t n = 1; n <= 6; ++n)
    put({placed("map", "car", n, at_x(1))}, false, 1 + static_cast<std::uint64_t>(n) % 3);
  EXPECT_NE(problems().find("two publishers: frame 'car' in 'map'"), std::string::npos);
}

TEST_F(Store, ARefusedPlaceHasNoPublisher) {
  put({placed("map", "car", 50'000'000'000, at_x(1))}, false, 1);
  put({placed("map", "car", 1, at_x(1))}, false, 2);
  EXPECT_EQ(store_.frames().at(0).publisher, "first (pid 1)");
}

TEST_F(Store, ALogSinkMayAskTheTree) {
  detail::TransformStore logging{TransformsOptions{}};
  static detail::TransformStore* asked = nullptr;
  static std::size_t frames = 99;
  asked = &logging;
  set_log([](LogLevel, const std::string&) { frames = asked->frames().size(); });
  LocalMessage<TransformMessage> message(1 << 12);
  message->transforms.push_back(placed("map", "map", 1, at_x(1)));
  logging.take(*message, false, {.stream = 1, .program = "first", .pid = 1});
  set_log({});
  EXPECT_EQ(frames, 0U);
}

TEST_F(Store, NamesBothPublishersOfALoop) {
  put({placed("a", "b", 1, at_x(1))}, false, 1);
  put({placed("b", "a", 1, at_x(1))}, false, 2);
  EXPECT_NE(
      problems().find("loop: 'a' in 'b' would close a circle of frames: second (pid 2) publishes it, 'b' is placed "
                      "by first (pid 1)"),
      std::string::npos)
      << problems();
  EXPECT_TRUE(store_.lookup("a", "b", 1));
  put({placed("x", "y", 1, at_x(1)), placed("y", "x", 1, at_x(1))});  // within one message
  EXPECT_NE(problems().find("'x' in 'y'"), std::string::npos);
}

TEST_F(Store, IsBounded) {
  for (int n = 0; n < 2000; ++n) {
    const std::string name = "frame" + std::to_string(n);
    put({placed("map", name.c_str(), n, at_x(1)), placed("map", name.c_str(), n, at_x(std::nan("")))});
  }
  EXPECT_EQ(store_.frames().size(), 1024U);
  EXPECT_EQ(store_.problems().size(), 256U);
}

TEST_F(Store, ClearForgetsWhatMoves) {
  put({placed("map", "car", 5'000'000'000'000, at_x(1))});
  put({placed("car", "roof", 0, at_x(2))}, true);
  put({placed("map", "car", 5, at_x(3))});
  EXPECT_NE(problems().find("late: first (pid 1) publishes a place of 'car'"), std::string::npos);
  store_.clear();
  const FoundTransform dropped = store_.lookup("map", "roof", kNewest);
  EXPECT_EQ(dropped.reason(), NoTransform::NotConnected);
  EXPECT_EQ(dropped.text(), "the places of 'car' were dropped by clear(), and none has come since");
  put({placed("map", "car", 5, at_x(3))});
  EXPECT_DOUBLE_EQ(store_.lookup("map", "roof", kNewest)->translation.x, 5);
}

TEST_F(Store, ALeadingSlashIsOfOldDays) {
  put({placed("/map", "/car", 1, at_x(1))});
  EXPECT_TRUE(store_.lookup("map", "car", 1));
}

TEST_F(Store, ReadersNeverSeeHalfAMessage) {
  std::atomic<bool> ended{false};
  std::atomic<std::uint64_t> wrong{0}, lookups{0};
  put({placed("map", "a", 1, at_x(0)), placed("a", "b", 1, at_x(0))});
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!ended.load()) {
        const FoundTransform found = store_.lookup("map", "b", kNewest);
        if (!found || found->translation.x != 0) ++wrong;
        ++lookups;
      }
    });
  for (std::int64_t n = 2; n < 2000 || lookups.load() < 2000; ++n) {
    const auto x = static_cast<double>(n);
    put({placed("map", "a", n, at_x(x)), placed("a", "b", n, at_x(-x))});
  }
  ended = true;
  readers.clear();
  EXPECT_EQ(wrong.load(), 0U);
}

// tf2's rules once more, as simply as possible: matrices, lists, no tree.
struct Matrix {
  double m[3][4];
};
Matrix matrix_of(const Transform& t) {
  const auto [x, y, z, w] = t.rotation;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), t.translation.x},
           {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), t.translation.y},
           {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), t.translation.z}}};
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 3; ++k) c.m[i][j] += a.m[i][k] * b.m[k][j];
      if (j == 3) c.m[i][j] += a.m[i][3];
    }
  return c;
}
Matrix inverse_of(const Matrix& a) {
  Matrix c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      c.m[i][j] = a.m[j][i];
      c.m[i][3] -= a.m[j][i] * a.m[j][3];
    }
  return c;
}

/// By the rotation from a to b about its axis, instead of slerp's sums.
Transform between(const Transform& a, const Transform& b, double share) {
  Quaternion turn = inverse(a.rotation) * b.rotation;
  if (turn.w < 0) turn = {-turn.x, -turn.y, -turn.z, -turn.w};
  const double sine = std::hypot(turn.x, turn.y, turn.z), angle = 2 * std::atan2(sine, turn.w) * share;
  const double f = sine < 1e-300 ? 0 : std::sin(angle / 2) / sine;
  const Vector3 &p = a.translation, &q = b.translation;
  return {.translation = {p.x * (1 - share) + q.x * share, p.y * (1 - share) + q.y * share,
                          p.z * (1 - share) + q.z * share},
          .rotation = a.rotation * Quaternion{turn.x * f, turn.y * f, turn.z * f, std::cos(angle / 2)}};
}

class Reference {
 public:
  struct One {
    std::string parent;
    std::int64_t stamp;
    Transform place;
    bool is_static;
  };
  void add(const std::string& child, const One& one) {
    std::vector<One>& all = frames_[child];
    if (!all.empty() && all.front().is_static) all.clear();
    const auto at =
        std::lower_bound(all.begin(), all.end(), one.stamp, [](const One& o, std::int64_t s) { return o.stamp < s; });
    if (at == all.end() || at->stamp != one.stamp) all.insert(at, one);
  }
  /// False: not known.
  bool find(const std::string& target, const std::string& source, std::int64_t stamp, Matrix& into) const {
    std::vector<std::pair<std::string, Matrix>> up{{source, matrix_of({})}}, down{{target, matrix_of({})}};
    for (auto* way : {&up, &down})
      for (Step step; this->step(way->back().first, stamp, step);)
        way->push_back({step.parent, product(matrix_of(step.place), way->back().second)});
    for (const auto& [frame, source_in_it] : up)
      for (const auto& [other, target_in_it] : down)
        if (frame == other) {
          into = product(inverse_of(target_in_it), source_in_it);
          return true;
        }
    return false;
  }

 private:
  struct Step {
    std::string parent;
    Transform place;
  };
  bool step(const std::string& child, std::int64_t stamp, Step& into) const {
    const auto found = frames_.find(child);
    if (found == frames_.end()) return false;
    const std::vector<One>& all = found->second;
    if (all.front().is_static) return into = {all.front().parent, all.front().place}, true;
    if (stamp < all.front().stamp || stamp > all.back().stamp) return false;
    const auto after =
        std::upper_bound(all.begin(), all.end(), stamp, [](std::int64_t s, const One& o) { return s < o.stamp; });
    const One& before = *std::prev(after);
    into = {before.parent, before.place};
    if (after != all.end() && after->parent == before.parent)
      into.place =
          between(before.place, after->place,
                  static_cast<double>(stamp - before.stamp) / static_cast<double>(after->stamp - before.stamp));
    return true;
  }
  std::map<std::string, std::vector<One>> frames_;
};

TEST_F(Store, AnswersAsTf2sRulesDo) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> metres(-50, 50), radians(-3, 3);
  constexpr int kFrames = 24;
  Reference reference;
  const auto name = [](int i) { return i == 0 ? std::string("map") : "frame" + std::to_string(i); };
  std::vector<bool> is_static(kFrames);
  for (int i = 1; i < kFrames; ++i) is_static[static_cast<std::size_t>(i)] = random() % 3 == 0;
  for (std::int64_t n = 0; n < 3000; ++n) {
    const int i = 1 + static_cast<int>(random() % (kFrames - 1));
    const bool fixed = is_static[static_cast<std::size_t>(i)];
    // Out of order, now and then with another parent; always one of a smaller number, so that there are no circles.
    const std::int64_t stamp = fixed ? 0 : 1'000'000 * (n + static_cast<std::int64_t>(random() % 50));
    const int parent = random() % 20 == 0 ? static_cast<int>(random() % static_cast<unsigned>(i)) : (i - 1) / 2;
    const Transform place{.translation = {metres(random), metres(random), metres(random)},
                          .rotation = from_rpy(radians(random), radians(random) / 2, radians(random))};
    reference.add(name(i), {name(parent), stamp, place, fixed});
    put({placed(name(parent).c_str(), name(i).c_str(), stamp, place)}, fixed);
  }
  double largest = 0;
  int known = 0, unknown = 0;
  for (int k = 0; k < 20'000; ++k) {
    const std::string target = name(static_cast<int>(random() % kFrames)),
                      source = name(static_cast<int>(random() % kFrames));
    const auto stamp = static_cast<std::int64_t>(1 + random() % 3'050'000'000U);
    Matrix expected{};
    const bool is_known = reference.find(target, source, stamp, expected);
    const FoundTransform found = store_.lookup(target, source, stamp);
    ASSERT_EQ(static_cast<bool>(found), is_known) << target << " " << source << " " << stamp << ": " << found.text();
    ++(is_known ? known : unknown);
    if (!is_known) continue;
    const Matrix ours = matrix_of(*found);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) largest = std::max(largest, std::abs(ours.m[i][j] - expected.m[i][j]));
  }
  EXPECT_GT(known, 5000);
  EXPECT_GT(unknown, 100);
  EXPECT_LE(largest, 1e-9);
}

TEST(TransformMath, RollPitchAndYawComeBackAlsoStraightUp) {
  constexpr double kUp = 1.5707963267948966;
  for (const double pitch : {kUp, -kUp, 1.2, 0.0})
    for (const double roll : {-2.0, 0.0, 0.3, 1.5}) {
      const Quaternion q = from_rpy(roll, pitch, 0.5);
      const Vector3 rpy = to_rpy(q);
      const Quaternion back = inverse(from_rpy(rpy.x, rpy.y, rpy.z)) * q;
      EXPECT_LT(std::hypot(back.x, back.y, back.z), 1e-6) << roll << " " << pitch;
    }
}

class TransformsTest : public test::OwnRunDirectory {};

TEST_F(TransformsTest, KnowsWhatRunningPublishersHavePublished) {
  const StaticTransform lidar("base_link", "lidar", at_x(1)), camera("base_link", "camera", at_x(2));
  TransformOutput out{PublisherOptions{}};
  EXPECT_TRUE(out.publish("map", "base_link", 100, at_x(10)));
  const Transforms tf{TransformsOptions{}};
  EXPECT_DOUBLE_EQ(tf.lookup("map", "lidar", 100)->translation.x, 11);
  EXPECT_DOUBLE_EQ(tf.lookup("lidar", "camera")->translation.x, 1);
  ASSERT_EQ(tf.frames().size(), 4U);
  EXPECT_EQ(tf.frames()[0].name, "base_link");
  EXPECT_FALSE(tf.frames()[0].is_static);
  EXPECT_NE(tf.frames()[0].publisher.find("transforms_tests"), std::string::npos);
}

TEST_F(TransformsTest, WaitsForAPlace) {
  const Transforms tf{TransformsOptions{}};
  EXPECT_EQ(tf.wait("map", "base_link", 100, 1ms).reason(), NoTransform::UnknownFrame);
  std::jthread publisher([] {
    TransformOutput out{PublisherOptions{}};
    for (std::int64_t stamp = 10; stamp <= 100; stamp += 10) {
      out.publish("map", "base_link", stamp, at_x(static_cast<double>(stamp)));
      std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(200ms);
  });
  const FoundTransform found = tf.wait("map", "base_link", 95, kLong);
  ASSERT_TRUE(found) << found.text();
  EXPECT_DOUBLE_EQ(found->translation.x, 95);
}

TEST_F(TransformsTest, TheNewestOfLinksThatShareNoTimeYetIsWaitedFor) {
  TransformOutput out{PublisherOptions{}};
  out.publish("map", "odom", 100, at_x(1));
  out.publish("odom", "car", 150, at_x(1));
  const Transforms tf{TransformsOptions{}};
  ASSERT_TRUE(tf.wait("odom", "car", kNewest, kLong));
  EXPECT_FALSE(tf.lookup("map", "car"));
  std::jthread later([&] {
    std::this_thread::sleep_for(20ms);
    out.publish("map", "odom", 200, at_x(1));
  });
  EXPECT_EQ(tf.wait("map", "car", kNewest, kLong).stamp(), 150);
}

TEST_F(TransformsTest, AcrossTimeThroughAFixedFrame) {
  TransformOutput out{PublisherOptions{}};
  out.publish("map", "car", 100, at_x(1));
  out.publish("map", "car", 200, at_x(5));
  const Transforms tf{TransformsOptions{}};
  ASSERT_TRUE(tf.wait("map", "car", 200, kLong));
  const FoundTransform moved = tf.lookup("car", 200, "car", 100, "map");
  ASSERT_TRUE(moved) << moved.text();
  EXPECT_DOUBLE_EQ(moved->translation.x, -4);
  EXPECT_EQ(tf.lookup("car", 200, "car", 100, "mpa").reason(), NoTransform::UnknownFrame);
}

TEST_F(TransformsTest, WrongPlacesAreNotPublished) {
  TransformOutput out{PublisherOptions{}};
  EXPECT_FALSE(out.publish("map", "map", 1, at_x(1)));
  EXPECT_FALSE(out.publish("map", "", 1, at_x(1)));
  EXPECT_FALSE(out.publish("map", "/", 1, at_x(1)));
  EXPECT_FALSE(out.publish("map", "/map", 1, at_x(1)));
  EXPECT_FALSE(out.publish("map", "car", -1, at_x(1)));
  EXPECT_FALSE(out.publish("map", "car", 1, at_x(std::nan(""))));
  EXPECT_FALSE(out.publish("map", std::string(61, 'x'), 1, at_x(1)));
  EXPECT_THROW(StaticTransform("map", "car", {.translation = {}, .rotation = {1, 1, 0, 0}}), Error);
  EXPECT_THROW(TransformOutput().publish("map", "car", 1, at_x(1)), Error);
}

TEST_F(TransformsTest, AForkedChildMayDropIt) {
  auto tf = std::make_unique<Transforms>(TransformsOptions{});
  const pid_t child = ::fork();
  if (child == 0) {
    const bool said = tf->wait("map", "car", kNewest, kLong).reason() == NoTransform::Forked && tf->frames().empty();
    tf.reset();
    ::_exit(said ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(TransformsTest, OneThatWasNeverSetSaysSo) {
  const Transforms tf;
  EXPECT_FALSE(tf);
  EXPECT_EQ(tf.lookup("map", "car").reason(), NoTransform::NotSet);
  EXPECT_NE(tf.lookup("map", "car").text().find("Context::transforms()"), std::string::npos);
  EXPECT_EQ(tf.frames().size(), 0U);
  EXPECT_THROW(Transforms{TransformsOptions{.history = 0s}}, Error);
}

}  // namespace
}  // namespace cardan
