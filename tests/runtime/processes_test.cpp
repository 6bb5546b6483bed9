// SPDX-License-Identifier: Apache-2.0
// Components that meet across processes: what is on the other side is a plain publisher or subscriber, or a runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cardan/cardan.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/child.hpp"
#include "tests/support/run_directory.hpp"

namespace {
struct Number {
  std::int64_t value = 0;
};
/// Cannot live in shared memory, and says how it travels.
struct Text {
  std::string words;
};
}  // namespace

CARDAN_MESSAGE(Number, "test_msgs/msg/Number", value);

template <>
struct cardan::codec<Text> {
  static std::string type_name() { return "test.Text"; }
  static std::string schema() { return "words"; }
  static bool encode(const Text& text, std::vector<std::byte>& to) {
    if (text.words == "unspeakable") return false;
    to.resize(text.words.size());
    std::memcpy(to.data(), text.words.data(), text.words.size());
    return true;
  }
  static bool decode(std::span<const std::byte> bytes, Text& text) {
    if (bytes.empty()) return false;
    text.words.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
};

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::Sample;
using cardan::test::Child;

constexpr cardan::Topic<Number> kPing{"/ping", {.depth = 64, .reliable = true}};
constexpr cardan::Topic<Number> kPong{"/pong", {.depth = 64, .reliable = true}};
constexpr cardan::Topic<Text> kText{"/text", {.max_bytes = 1024, .depth = 16}};
constexpr cardan::Topic<Number> kSecret{"/secret", {.depth = 4, .process_private = true}};

/// Answers each ping with a pong, and says each text in capitals.
struct Echo : cardan::Component {
  void on_start(Context& context) override {
    pong = context.output(kPong);
    said = context.output(cardan::Topic<Text>{"/said", kText.options});
    secret = context.output(kSecret);
    context.input(kPing, [this](const Sample<Number>& ping) {
      pong.publish({ping->value + 1});
      secret.publish({ping->value});
    });
    context.input(kSecret, [this](const Sample<Number>& s) { told += s->value; });
    context.input(kText, [this](const Sample<Text>& text) {
      std::string words = text->words;
      for (char& c : words) c = static_cast<char>(std::toupper(c));
      said.publish(Text{words});
    });
  }
  cardan::Output<Number> pong, secret;
  cardan::Output<Text> said;
  std::int64_t told = 0;
};

CARDAN_ROLE(echo) {
  cardan::Runtime runtime;
  runtime.add({.name = "echo"}, std::make_shared<Echo>());
  runtime.start();
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  runtime.stop();
  return 0;
}

/// Publishes on the topic that is its argument, until its input ends.
CARDAN_ROLE(number_publisher) {
  cardan::Publisher numbers{cardan::Topic<Number>{args.at(0).c_str(), kPing.options}};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

class Processes : public cardan::test::OwnRunDirectory {};

TEST_F(Processes, AComponentAnswersAPlainProgram) {
  Child echo("echo");
  echo.expect("ready");
  cardan::Publisher ping{kPing};
  cardan::Subscriber pong{kPong, {.holds = 2}};
  for (int i = 0; i < 5000 && ping.subscribers() == 0; ++i) std::this_thread::sleep_for(1ms);
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(ping.publish({i}));
    const auto answer = pong.wait(5s);
    ASSERT_TRUE(answer) << i;
    EXPECT_EQ(answer->value, i + 1);
  }
  echo.close_input();
  EXPECT_EQ(echo.end(), 0);
}

TEST_F(Processes, ObjectsTravelByTheirCodec) {
  struct Asker : cardan::Component {
    void on_start(Context& context) override {
      out = context.output(kText);
      context.input(cardan::Topic<Text>{"/said", kText.options}, [this](const Sample<Text>& s) {
        answer_is_short = s->words.size();
        if (s->words == "HELLO") heard = true;
      });
    }
    cardan::Output<Text> out;
    std::atomic<bool> heard{false};
    std::atomic<std::size_t> answer_is_short{0};
  };
  Child echo("echo");
  echo.expect("ready");
  auto asker = std::make_shared<Asker>();
  cardan::Runtime runtime;
  runtime.add({.name = "asker"}, asker);
  runtime.start();
  for (int i = 0; i < 5000 && !asker->heard; ++i) {
    asker->out.publish(Text{"hello"});
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(asker->heard);
  EXPECT_FALSE(asker->out.publish(Text{"unspeakable"})) << "its codec refuses";
  EXPECT_FALSE(asker->out.publish(Text{std::string(2000, 'x')})) << "bigger than max_bytes";
  EXPECT_TRUE(asker->out.publish(Text{std::string(1024, 'x')}));
  runtime.stop();
}

TEST_F(Processes, APrivateTopicStaysInside) {
  Child echo("echo");
  echo.expect("ready");
  const auto report = cardan::look_around({}, {});
  bool pong = false;
  for (const auto& p : report.publishers) {
    EXPECT_NE(p.topic, "/secret");
    pong = pong || p.topic == "/pong";
  }
  EXPECT_TRUE(pong);
  cardan::TopicOptions open = kSecret.options;
  open.process_private = false;
  cardan::Subscriber spy{cardan::Topic<Number>{"/secret", open}};
  cardan::Publisher ping{kPing};
  for (int i = 0; i < 5000 && ping.subscribers() == 0; ++i) std::this_thread::sleep_for(1ms);
  ping.publish({1});
  EXPECT_FALSE(spy.wait(200ms));
  EXPECT_EQ(spy.publishers(), 0U);
}

TEST_F(Processes, DeathOfAPeerIsNoMoreThanMissingData) {
  struct Counter : cardan::Component {
    void on_start(Context& context) override {
      ping = context.output(kPing);
      context.input(kPong, [this](const Sample<Number>&) { ++pongs; });
      context.timer(2ms, [this] { ping.publish({ticks++}); });
    }
    cardan::Output<Number> ping;
    std::atomic<std::int64_t> pongs{0}, ticks{0};
  };
  cardan::Runtime runtime;
  auto counter = std::make_shared<Counter>();
  runtime.add({.name = "counter"}, counter);
  runtime.start();
  for (int round = 0; round < 3; ++round) {
    Child echo("echo");
    echo.expect("ready");
    const std::int64_t before = counter->pongs;
    for (int i = 0; i < 5000 && counter->pongs < before + 20; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_GE(counter->pongs, before + 20) << "round " << round;
    echo.kill();
    const std::int64_t ticks = counter->ticks;
    std::this_thread::sleep_for(50ms);
    EXPECT_GT(counter->ticks, ticks) << "it continues";
  }
  runtime.stop();
}

TEST_F(Processes, StoppedPublishersAreAskedTogether) {
  constexpr std::size_t kStopped = 4;
  struct Reader : cardan::Component {
    void on_start(Context& context) override {
      for (std::size_t i = 0; i < kStopped; ++i)
        context.input(cardan::Topic<Number>{("/number" + std::to_string(i)).c_str(), kPing.options},
                      [](const Sample<Number>&) {});
    }
  };
  std::vector<Child> publishers;
  for (std::size_t i = 0; i < kStopped; ++i) {
    publishers.emplace_back("number_publisher", cardan::test::Args{"/number" + std::to_string(i)});
    publishers.back().expect("ready");
    publishers.back().signal(SIGSTOP);
    ASSERT_TRUE(cardan::test::eventually([&] { return cardan::test::is_stopped(publishers.back().pid()); }));
  }
  cardan::Runtime runtime;
  runtime.add({.name = "reader"}, std::make_shared<Reader>());
  const auto threads = [] { return cardan::test::number_in("/proc/self/status", "Threads"); };
  const long before = threads();
  long most = 0;
  std::atomic<bool> started{false};
  // Each question waits for a second, in its own thread.
  std::thread watch([&] {
    while (!started) {
      most = std::max(most, threads());
      std::this_thread::sleep_for(5ms);
    }
  });
  runtime.start();
  started = true;
  watch.join();
  EXPECT_GE(most, before + 1 + static_cast<long>(kStopped)) << "one after the other they cost four seconds";
  runtime.stop();
}

}  // namespace
