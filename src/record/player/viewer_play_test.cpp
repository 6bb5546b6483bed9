// SPDX-License-Identifier: Apache-2.0
// A viewer of a recording sees what was there at the time that is shown, also in a pause, after a seek and at the end.
#include <gtest/gtest.h>

#include <thread>

#include "cardan/subscriber.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/playing_test.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::record::test {
namespace {

using namespace std::chrono_literals;
using mcap::test::FileOnDisk;

class ViewerPlay : public cardan::test::OwnRunDirectory, protected Playing {
 protected:
  /// The publications, from any thread.
  struct Seen {
    std::string topic;
    std::int64_t recorded = 0;
    bool operator==(const Seen&) const = default;
  };
  PlayerOptions viewing(PlayerOptions options = {}) {
    options.time = time_;
    options.for_viewer = true;
    options.on_played = [this](const PlayedMessage& m) {
      const std::lock_guard lock(mutex_);
      seen_.push_back({m.topic, static_cast<std::int64_t>(m.log_time - kBegin)});
    };
    return options;
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  /// Waits for that many, and takes them.
  std::vector<Seen> next(std::size_t count) {
    EXPECT_TRUE(soon([&] { return seen().size() >= count; }));
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }
  /// Plays until it goes.
  class Thread {
   public:
    explicit Thread(Player& player) : player_(player), thread_([&player] { player.run(); }) {}
    ~Thread() {
      player_.stop();
      thread_.join();
    }
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

   private:
    Player& player_;
    std::thread thread_;
  };

 private:
  std::mutex mutex_;
  std::vector<Seen> seen_;
};

TEST_F(ViewerPlay, APauseShowsWhatIsThere) {
  const FileOnDisk file(counting(20));
  Player player({file.path()}, viewing({.paused = true}));
  const Subscriber<CanFrame> counts(Topic<CanFrame>{"/count", {.depth = 16}});
  const Thread thread(player);
  EXPECT_EQ(next(2), (std::vector<Seen>{{"/count", 0}, {"/half", 0}})) << "what begins with the recording";
  EXPECT_EQ(player.position().position_ns, 0);
  player.seek(550ms);
  EXPECT_EQ(next(2), (std::vector<Seen>{{"/half", 400'000'000}, {"/count", 500'000'000}})) << "the newest of each";
  EXPECT_EQ(player.position().position_ns, 550'000'000) << "it stays there";
  EXPECT_TRUE(player.position().paused);
  player.step();
  EXPECT_EQ(next(1), (std::vector<Seen>{{"/count", 600'000'000}})) << "nothing comes twice";
  EXPECT_EQ(player.position().position_ns, 600'000'000);
  player.seek(700ms);
  EXPECT_EQ(next(2), (std::vector<Seen>{{"/half", 600'000'000}, {"/count", 700'000'000}})) << "with that very moment";
}

TEST_F(ViewerPlay, TimesAreThoseOfTheRecording) {
  const FileOnDisk file(counting(3));
  Subscriber<CanFrame> counts(Topic<CanFrame>{"/count", {.depth = 16}}, {.domain = domain_});
  Player player({file.path()}, viewing({.wait_for_readers = 1}));
  const Thread thread(player);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto count = counts.wait(60s);
    ASSERT_TRUE(count);
    EXPECT_EQ(count.source_time(), static_cast<std::int64_t>(kBegin) + i * 100'000'000);
  }
}

TEST_F(ViewerPlay, ItSeeksAfterTheEnd) {
  const FileOnDisk file(counting(10));
  Player player({file.path()}, viewing());
  ASSERT_EQ(player.report().topics.size(), 2U);
  EXPECT_EQ(player.report().topics[0].recorded, 10U);
  EXPECT_EQ(player.report().topics[1].recorded, 5U);
  const Thread thread(player);
  EXPECT_EQ(next(15).size(), 15U);
  EXPECT_TRUE(soon([&] { return player.position().ended; }));
  EXPECT_EQ(player.position().position_ns, 900'000'001);
  player.seek(800ms);
  EXPECT_EQ(next(3), (std::vector<Seen>{{"/count", 800'000'000}, {"/half", 800'000'000}, {"/count", 900'000'000}}));
  EXPECT_TRUE(soon([&] { return player.position().ended; }));
  player.pause(true);
  player.seek(100s);
  EXPECT_EQ(next(2), (std::vector<Seen>{{"/half", 800'000'000}, {"/count", 900'000'000}})) << "the last picture";
  EXPECT_EQ(player.report().gave_way_ns, 0) << "what was there is not late";
}

TEST_F(ViewerPlay, MessagesOlderThanAMinuteAreShownIfTheyAreLatched) {
  Bag bag;
  const auto latched = [](std::uint32_t depth) {
    return std::map<std::string, std::string>{{kQosKey, offered_qos(depth)}};
  };
  using Traits = message_traits<CanFrame>;
  const auto map = bag.add("/map", std::string(Traits::type_name()), "ros2msg", Traits::schema(), "cdr", latched(1));
  const auto old = bag.add<CanFrame>("/old"), now = bag.add<CanFrame>("/now");
  bag.write(map, 0, CanFrame{});
  bag.write(old, kSecond, CanFrame{});
  for (std::uint64_t i = 2; i < 200; ++i) bag.write(now, i * kSecond, CanFrame{});
  const FileOnDisk file(bag.bytes());
  Player player({file.path()}, viewing({.paused = true}));
  const Thread thread(player);
  EXPECT_EQ(next(1), (std::vector<Seen>{{"/map", 0}}));
  player.seek(30s);
  EXPECT_EQ(next(3), (std::vector<Seen>{{"/map", 0}, {"/old", kSecond}, {"/now", 30 * kSecond}}));
  player.seek(100s);
  EXPECT_EQ(next(2), (std::vector<Seen>{{"/map", 0}, {"/now", 100 * kSecond}}));
}

TEST_F(ViewerPlay, ManySeeksAreAsGoodAsTheLastOne) {
  const FileOnDisk file(counting(1000));
  Player player({file.path()}, viewing({.paused = true}));
  const Thread thread(player);
  for (int i = 0; i < 20'000; ++i) player.seek(std::chrono::milliseconds(37 * i % 99'000));
  player.seek(50s);
  const auto is_there = [&] {
    const auto all = seen();
    return all.size() >= 2 && all.back() == Seen{"/half", 50 * kSecond};
  };
  EXPECT_TRUE(soon(is_there));
  EXPECT_LT(seen().size(), 40'000U);
  EXPECT_EQ(player.position().position_ns, 50'000'000'000);
}

TEST_F(ViewerPlay, ASeekOverALatchedMessageDelaysNothing) {
  Bag bag;
  using Traits = message_traits<CanFrame>;
  const auto map = bag.add("/map", std::string(Traits::type_name()), "ros2msg", Traits::schema(), "cdr",
                           {{kQosKey, offered_qos(1)}});
  const auto count = bag.add<CanFrame>("/count");
  bag.write(map, 0, CanFrame{});
  for (std::uint64_t i = 0; i < 200; ++i) bag.write(count, i * kSecond, CanFrame{});
  const FileOnDisk file(bag.bytes());
  for (const bool for_viewer : {false, true}) {
    Player* there = nullptr;
    PlayerOptions options{.for_viewer = for_viewer, .time = time_};
    std::vector<std::int64_t> at;
    options.on_played = [&](const PlayedMessage& m) {
      if (at.size() == 2) there->seek(150s);
      at.push_back(static_cast<std::int64_t>(m.log_time - kBegin) / static_cast<std::int64_t>(kSecond));
      if (m.log_time == kBegin + 199 * kSecond) there->stop();
    };
    Player player({file.path()}, options);
    there = &player;
    player.run();
    ASSERT_GE(at.size(), 50U);
    EXPECT_EQ(at.back(), 199);
    EXPECT_EQ(player.report().gave_way_ns, 0);
    EXPECT_EQ(player.report().gaps, 0U);
  }
}

}  // namespace
}  // namespace cardan::record::test
