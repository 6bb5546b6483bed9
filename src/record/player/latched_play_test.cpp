// SPDX-License-Identifier: Apache-2.0
// Messages that were published once before the part that is played, cut out or replayed come first in it.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>

#include "cardan/component.hpp"
#include "cardan/mcap/before_start.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "cardan/mcap/verify.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/file_set.hpp"
#include "src/record/player/playing_test.hpp"
#include "src/record/player/simulate.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::record::test {

constexpr Topic<Imu> kScale{"/scale", {}};
constexpr Topic<CanFrame> kInput{"/input", {.depth = 16}};
constexpr Topic<CanFrame> kDecision{"/decision", {.depth = 16}};

/// Decides by the newest message of each input alone.
class LatchedTestDecider : public Component {
  void on_start(Context& context) override {
    out_ = context.output(kDecision);
    context.input(kScale, [this](const Sample<Imu>& scale) { scale_ = scale->linear_acceleration.x; });
    context.input(kInput, [this](const Sample<CanFrame>& in) {
      auto decision = out_.loan();
      decision->id = static_cast<std::uint32_t>(in->id * scale_);
      out_.publish(std::move(decision));
    });
  }
  Output<CanFrame> out_;
  double scale_ = 0;
};
CARDAN_COMPONENT(LatchedTestDecider)

namespace {

using namespace std::chrono_literals;
using mcap::test::FileOnDisk;

/// "/scale" at 0 s and at 3 s, large pictures at 1 s, a stream of large ones, "/input" ten times a second for 10 s.
mcap::Bytes latched_drive(const mcap::WriterOptions& options) {
  Bag bag(options);
  const auto channel = [&bag]<Message T>(const std::string& topic, std::uint32_t depth, T*) {
    using Traits = message_traits<T>;
    return bag.add(topic, std::string(Traits::type_name()), "ros2msg", Traits::schema(), "cdr",
                   depth == 0 ? std::map<std::string, std::string>{}
                              : std::map<std::string, std::string>{{kQosKey, offered_qos(depth)}});
  };
  const auto scale = channel("/scale", 1, static_cast<Imu*>(nullptr)),
             map = channel("/map", 1, static_cast<Image*>(nullptr)),
             camera = channel("/camera", 4, static_cast<Image*>(nullptr)),
             input = channel("/input", 2, static_cast<CanFrame*>(nullptr)),
             silent = channel("/not_latched", 0, static_cast<CanFrame*>(nullptr));
  LocalMessage<Image> image(1 << 20);
  (void)image->resize(300, 300, "mono8");
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint64_t at = i * kSecond / 10;
    if (i % 30 == 0 && i < 60) {
      Imu imu;
      imu.linear_acceleration.x = i + 1;
      bag.write(scale, at, imu);
    }
    if (i == 0) bag.write(silent, at, CanFrame{});
    if (i == 10) bag.write(map, at, *image);
    bag.write(camera, at, *image);
    CanFrame frame;
    frame.id = i;
    bag.write(input, at + 1, frame);
  }
  return bag.bytes();
}

std::vector<mcap::WriterOptions> latched_ways() {
  return {{.chunk_bytes = 2000},
          {.chunk_bytes = 1 << 20, .compression = mcap::Compression::Zstd},
          {.chunks = false},
          {.chunk_bytes = 2000, .message_index = false}};
}

/// Seconds of the messages from before, by topic, and how many there are.
std::map<std::string, std::vector<double>> times_before(const std::string& path, std::uint64_t before) {
  std::map<std::string, std::vector<double>> all;
  const mcap::Reader reader(path);
  mcap::Messages messages = reader.messages({.end = kBegin + before});
  while (const auto m = messages.next())
    all[m->channel->topic].push_back(static_cast<double>(m->message.log_time - kBegin) / 1e9);
  return all;
}

class LatchedPlay : public cardan::test::OwnRunDirectory, protected Playing {
 protected:
  [[nodiscard]] std::vector<double> seconds_of(const std::string& topic) const {
    std::vector<double> all;
    for (const Played& p : played_)
      if (p.topic == topic) all.push_back(static_cast<double>(p.recorded) / 1e9);
    return all;
  }
};

TEST_F(LatchedPlay, FromTheMiddleBeginsWithWhatLateReadersWouldHaveBeenGiven) {
  for (const mcap::WriterOptions& way : latched_ways()) {
    const FileOnDisk file(latched_drive(way));
    played_.clear();
    Player player({file.path()}, noting({.start = 5s, .until = 6s}));
    player.run();
    EXPECT_EQ(seconds_of("/scale"), std::vector<double>{3}) << "the last one";
    EXPECT_EQ(seconds_of("/map"), std::vector<double>{1});
    EXPECT_EQ(seconds_of("/not_latched"), std::vector<double>{});
    EXPECT_EQ(seconds_of("/camera").front(), 5.0) << "its next image comes soon";
    EXPECT_EQ(seconds_of("/input").size(), 12U) << "the last two, and those of the second";
    ASSERT_FALSE(played_.empty());
    EXPECT_EQ(played_.front().topic, "/map") << "in the order of their times";
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(played_[i].at, 0) << "at the start, one after the other";
    EXPECT_EQ(player.report().gave_way_ns, 0);
  }
}

TEST_F(LatchedPlay, ACutBeginsWithIt) {
  for (const mcap::WriterOptions& way : latched_ways()) {
    const FileOnDisk file(latched_drive(way));
    const FileOnDisk cut({}), again({});
    mcap::RewriteOptions options{.read = {.start = kBegin + 5 * kSecond, .end = kBegin + 6 * kSecond}, .replace = true};
    const mcap::Rewritten written = mcap::rewrite({file.path()}, cut.path(), options);
    EXPECT_TRUE(written.troubles.empty());
    EXPECT_EQ(written.messages, 4U + 20);
    const auto before = times_before(cut.path(), 5 * kSecond);
    EXPECT_EQ(before, (std::map<std::string, std::vector<double>>{
                          {"/scale", {3}}, {"/map", {1}}, {"/input", {4.8 + 1e-9, 4.9 + 1e-9}}}));
    const auto verified = mcap::verify(cut.path());
    EXPECT_TRUE(verified.problems.empty()) << verified.problems[0].cause;
    const mcap::Reader reader(cut.path());
    ASSERT_TRUE(reader.before_start());
    EXPECT_EQ(reader.before_start()->start, kBegin + 5 * kSecond);
    EXPECT_EQ(reader.before_start()->messages,
              (std::map<std::string, std::uint64_t>{{"/scale", 1}, {"/map", 1}, {"/input", 2}}));
    // A recording that begins there: its own time starts with its own first message.
    EXPECT_EQ(FileSet({cut.path()}).first(), kBegin + 5 * kSecond);
    played_.clear();
    Player player({cut.path()}, noting());
    player.run();
    EXPECT_EQ(seconds_of("/scale"), std::vector<double>{3});
    EXPECT_EQ(player.report().end_ns, 900'000'002);
    // Whole copies keep the mark.
    EXPECT_EQ(mcap::rewrite({cut.path()}, again.path(), {.replace = true}).messages, 24U);
    ASSERT_TRUE(mcap::Reader(again.path()).before_start());
    EXPECT_EQ(mcap::Reader(again.path()).before_start()->messages, reader.before_start()->messages);
  }
}

TEST_F(LatchedPlay, PartsOfARecordingRepeatNothingWhenTheyArePlayedTogether) {
  const FileOnDisk file(latched_drive({.chunk_bytes = 2000})), one({}), two({}), all({});
  (void)mcap::rewrite({file.path()}, one.path(), {.read = {.end = kBegin + 5 * kSecond}, .replace = true});
  (void)mcap::rewrite({file.path()}, two.path(), {.read = {.start = kBegin + 5 * kSecond}, .replace = true});
  Player player({one.path(), two.path()}, noting());
  player.run();
  EXPECT_EQ(seconds_of("/scale"), (std::vector<double>{0, 3}));
  EXPECT_EQ(seconds_of("/input").size(), 100U);
  EXPECT_EQ(mcap::rewrite({one.path(), two.path()}, all.path(), {.replace = true}).messages, 204U);
  EXPECT_FALSE(mcap::Reader(all.path()).before_start());
  played_.clear();
  Player later({one.path(), two.path()}, noting({.start = 6s}));
  later.run();
  EXPECT_EQ(seconds_of("/scale"), std::vector<double>{3});
  EXPECT_EQ(seconds_of("/input").size(), 42U);
}

TEST_F(LatchedPlay, AReplayFromTheMiddleDecidesAsTheWholeOne) {
  config::Configuration configuration;
  configuration.name = "test";
  configuration.processes.push_back({.name = "all"});
  configuration.processes[0].components.push_back({.name = "decider", .class_name = "LatchedTestDecider"});
  const FileOnDisk file(latched_drive({.chunk_bytes = 2000})), cut({});
  (void)mcap::rewrite({file.path()}, cut.path(), {.read = {.start = kBegin + 5 * kSecond}, .replace = true});
  const auto decisions = [&](const std::string& input, std::chrono::nanoseconds start) {
    const FileOnDisk output({});
    (void)simulate(configuration, {input}, {.start = start, .output = output.path(), .replace = true});
    std::vector<std::uint32_t> ids;
    const mcap::Reader reader(output.path());
    mcap::Messages messages = reader.messages();
    while (const auto m = messages.next()) {
      CanFrame frame;
      EXPECT_TRUE(from_cdr(m->message.data, frame));
      ids.push_back(frame.id);
    }
    return ids;
  };
  const std::vector<std::uint32_t> whole = decisions(file.path(), {});
  ASSERT_EQ(whole.size(), 100U);
  EXPECT_EQ(whole[60], 60U * 31);
  for (const auto& later : {decisions(file.path(), 5s), decisions(cut.path(), {})}) {
    ASSERT_EQ(later.size(), 52U) << "two of before";
    EXPECT_TRUE(std::equal(whole.begin() + 50, whole.end(), later.begin() + 2));
  }
}

TEST(LatchedDepth, IsWhatTheProfilesOfAChannelSay) {
  const auto depth = [](const char* key, const std::string& value) {
    return mcap::latched_depth({.metadata = {{key, value}}});
  };
  EXPECT_EQ(depth(kQosKey, offered_qos(7)), 7U);
  EXPECT_EQ(depth(kQosKey, "- history: keep_last\n  depth: 3\n  durability: transient_local\n"), 3U);
  EXPECT_EQ(depth(kQosKey, "- history: 1\n  depth: 3\n  durability: 2\n"), 0U) << "volatile";
  EXPECT_EQ(depth(kQosKey, offered_qos(1) + "\n" + offered_qos(1)), 2U) << "two publishers";
  EXPECT_EQ(depth(kQosKey, "- depth: 99999999999999999999\n  durability: 1"), 1U);
  EXPECT_EQ(depth(kQosKey, "depth durability"), 0U);
  EXPECT_EQ(depth(mcap::kDepthKey, "5"), 5U);
  EXPECT_EQ(depth("other", "5"), 0U);
}

}  // namespace
}  // namespace cardan::record::test
