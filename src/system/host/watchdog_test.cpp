// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/runtime/runtime.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::host::Watchdog;

/// Is called once, and stays until it may leave.
struct Sleeper : cardan::Component {
  void on_start(Context& context) override {
    context.timer(1ms,
                  [this] {
                    begun = true;
                    while (!leave) std::this_thread::sleep_for(1ms);
                  },
                  {.name = "sleep"});
    context.timer(1ms, [this] { ++quick; }, {.name = "quick"});
  }
  std::atomic<bool> begun{false}, leave{false};
  std::atomic<int> quick{0};
};

struct Heard {
  std::mutex mutex;
  std::vector<Watchdog::Late> late;
  Watchdog::OnLate listener() {
    return [this](const Watchdog::Late& l) {
      const std::lock_guard lock(mutex);
      if (l.callback == "sleep") late.push_back(l);  // on a busy computer the quick one is late too
    };
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return late.size();
  }
};

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

TEST(Watchdog, ReportsALateCallbackOnce) {
  auto sleeper = std::make_shared<Sleeper>();
  cardan::Runtime runtime({.transport = false});
  runtime.add({.name = "sleeper", .watchdog = 20ms}, sleeper);
  Heard heard;
  {
    Watchdog watchdog(heard.listener());
    runtime.start();
    watchdog.watch(runtime);
    EXPECT_TRUE(watchdog.has_thread());
    ASSERT_TRUE(soon([&] { return heard.count() == 1; }));
    std::this_thread::sleep_for(60ms);
  }
  ASSERT_EQ(heard.count(), 1U);
  const Watchdog::Late& late = heard.late.front();
  EXPECT_EQ(late.component, "sleeper");
  EXPECT_EQ(late.callback, "sleep");
  EXPECT_EQ(late.limit, 20ms);
  EXPECT_GT(late.running, 20ms);
  EXPECT_GT(late.thread, 0);
  EXPECT_NE(late.text().find("its watchdog allows 20.0 ms"), std::string::npos) << late.text();
  sleeper->leave = true;
  runtime.stop();
}

TEST(Watchdog, FindsACallbackThatBeganAfterItFellAsleep) {
  auto sleeper = std::make_shared<Sleeper>();
  sleeper->leave = true;
  cardan::Runtime runtime({.transport = false});
  runtime.add({.name = "sleeper", .watchdog = 30ms}, sleeper);
  Heard heard;
  Watchdog watchdog(heard.listener());
  runtime.start();
  watchdog.watch(runtime);
  ASSERT_TRUE(soon([&] { return sleeper->quick > 100; }));
  sleeper->leave = false;
  EXPECT_TRUE(soon([&] { return heard.count() > 0; }));
  sleeper->leave = true;
  runtime.stop();
}

TEST(Watchdog, ACallbacksOwnLimitCounts) {
  auto sleeper = std::make_shared<Sleeper>();
  cardan::Runtime runtime({.transport = false});
  cardan::config::Component settings{.name = "sleeper", .watchdog = 1ms};
  settings.callbacks.push_back({.name = "sleep", .watchdog = std::chrono::hours{1}});
  runtime.add(settings, sleeper);
  Heard heard;
  Watchdog watchdog(heard.listener());
  runtime.start();
  watchdog.watch(runtime);
  ASSERT_TRUE(soon([&] { return sleeper->begun.load(); }));
  std::this_thread::sleep_for(50ms);
  sleeper->leave = true;
  runtime.stop();
  EXPECT_EQ(heard.count(), 0U);
}

TEST(Watchdog, ACallbackThatHangsWithoutALimitIsReportedMoreAndMoreSparsely) {
  auto sleeper = std::make_shared<Sleeper>();
  cardan::Runtime runtime({.transport = false});
  runtime.add({.name = "sleeper"}, sleeper);
  Heard heard;
  Watchdog watchdog([](const Watchdog::Late&) { ADD_FAILURE() << "it has no limit"; }, heard.listener(), 10ms);
  runtime.start();
  watchdog.watch(runtime);
  ASSERT_TRUE(soon([&] { return heard.count() >= 3; }));
  sleeper->leave = true;
  runtime.stop();
  const std::lock_guard lock(heard.mutex);
  EXPECT_EQ(heard.late[0].component, "sleeper");
  EXPECT_EQ(heard.late[0].limit, 0ms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_GE(heard.late[i].running, 10ms * (1 << i));
  EXPECT_NE(heard.late[0].text().find("callback 'sleep' of component 'sleeper' has been running for"),
            std::string::npos);
}

TEST(Watchdog, ACallbackWithALimitIsNotToldAsHanging) {
  auto sleeper = std::make_shared<Sleeper>();
  cardan::Runtime runtime({.transport = false});
  runtime.add({.name = "sleeper", .watchdog = std::chrono::hours{1}}, sleeper);
  Heard hangs;
  Watchdog watchdog([](const Watchdog::Late&) {}, hangs.listener(), 1ms);
  runtime.start();
  watchdog.watch(runtime);
  ASSERT_TRUE(soon([&] { return sleeper->begun.load(); }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(hangs.count(), 0U);
  sleeper->leave = true;
  runtime.stop();
}

TEST(Watchdog, SeesWhatIsRunByHandToo) {
  auto sleeper = std::make_shared<Sleeper>();
  cardan::Runtime runtime({.transport = false, .threads = false});
  runtime.add({.name = "sleeper", .watchdog = 1ms}, sleeper);
  Heard heard;
  Watchdog watchdog({}, heard.listener(), 5ms);
  runtime.start();
  watchdog.watch(runtime);
  std::thread by_hand([&] {
    while (!sleeper->leave) runtime.run_one();
  });
  ASSERT_TRUE(soon([&] { return heard.count() >= 1; }));
  const auto longest = watchdog.longest();
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->callback, "sleep");
  EXPECT_EQ(longest->limit, 0ms) << "limits do not count here";
  watchdog.forget();
  EXPECT_FALSE(watchdog.longest());
  sleeper->leave = true;
  by_hand.join();
  runtime.stop();
}

TEST(Watchdog, WithoutLimitsThereIsNoThread) {
  cardan::Runtime runtime({.transport = false});
  auto sleeper = std::make_shared<Sleeper>();
  sleeper->leave = true;
  runtime.add({.name = "sleeper"}, sleeper);
  Watchdog watchdog([](const Watchdog::Late&) { ADD_FAILURE(); });
  runtime.start();
  watchdog.watch(runtime);
  EXPECT_FALSE(watchdog.has_thread());
  runtime.stop();
}

}  // namespace
