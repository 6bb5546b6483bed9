// SPDX-License-Identifier: Apache-2.0
// Races of set-up and end: threads that poll while streams go, waits together with other descriptors while publishers
// come and go, processes that begin while the last one ends, objects that outlive main().
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/stop.hpp"
#include "cardan/wait_any.hpp"
#include "src/transport/signal_echo.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Error;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::Small;

constexpr cardan::Topic<Small> kTopic{"/life", {.depth = 4}};

class Life : public cardan::test::OwnRunDirectory {};

}  // namespace

TEST_F(Life, PollingThreadsDoNotKeepAnEndedStream) {
  constexpr std::uint32_t kThreads = 8;
  std::atomic<int> left{0};
  cardan::Subscriber in{kTopic, {.holds = kThreads, .threads = kThreads, .on_event = [&](const cardan::Event& e) {
                                   left += e.kind == cardan::Event::Kind::Left ? 1 : 0;
                                 }}};
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      while (!end) (void)in.take();
    });
  for (int i = 1; i <= 5; ++i) {
    {
      cardan::Publisher out{kTopic};
      cardan::test::publish_next(out, 1, 0);
    }
    EXPECT_TRUE(cardan::test::eventually([&] { return left == i; }))
        << "the helper thread waits for the pollers, round " << i;
  }
  end = true;
  for (auto& t : threads) t.join();
}

CARDAN_ROLE(comes_and_goes) {
  for (int i = 0; i < 150; ++i) {
    const cardan::Publisher<Small> out{kTopic};
    std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 2000));
  }
  return 0;
}

CARDAN_ROLE(stays) {
  const cardan::Publisher<Small> out{kTopic};
  cardan::test::hear();
  return 0;
}

TEST_F(Life, WaitingTogetherWithADescriptorDoesNotBlockTheHelper) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  std::atomic<int> events{0};
  cardan::Subscriber in{kTopic, {.on_event = [&](const cardan::Event&) { ++events; }}};
  cardan::Readable never{pipe[0]};
  std::atomic<bool> end{false};
  std::thread waiter([&] {
    while (!end)
      cardan::wait_any_for(20s, in, never);  // nothing is published: only the helper can end it, for a look around
  });
  Child publisher("comes_and_goes");
  EXPECT_EQ(publisher.end(60s), 0) << "publishers were kept waiting";
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 0; })) << events << " events were told";
  const int before = events;
  const Child last("stays");  // of those that live for microseconds, a busy computer may see none
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1 && events > before; }))
      << "the helper thread hangs";
  end = true;
  EXPECT_EQ(::write(pipe[1], "x", 1), 1);
  waiter.join();
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(Life, AFailedConstructorLeavesNothingBehind) {
  cardan::set_log([](auto, const auto&) {});
  {
    const cardan::Publisher<Small> out{kTopic};
    const cardan::Topic<Big> other{kTopic.name, {.max_bytes = 4096}};
    for (int i = 0; i < 50; ++i) EXPECT_THROW(cardan::Subscriber<Big>{other}, Error);
    EXPECT_EQ(out.subscribers(), 0U);
  }
  const std::string folder = cardan::test::run_directory() + "/" + domain_;
  {
    const cardan::Subscriber<Small> in{kTopic};
    const cardan::Topic<Big> other{kTopic.name, {.max_bytes = 4096}};
    for (int i = 0; i < 50; ++i) EXPECT_THROW(cardan::Publisher<Big>{other}, Error);
    EXPECT_EQ(cardan::test::names_in(folder), 1U)
        << "only the socket: a publisher that could not be made must not be announced";
    EXPECT_EQ(in.publishers(), 0U);
  }
  cardan::set_log({});
}

CARDAN_ROLE(short_life) {
  const cardan::Publisher<Small> out{kTopic};
  const cardan::Subscriber<Small> in{kTopic};
  return 0;
}

TEST_F(Life, ProcessesMayBeginWhileTheLastOneEnds) {
  std::vector<Child> some;
  for (int i = 0; i < 120; ++i) {
    some.emplace_back("short_life");
    if (some.size() < 3) continue;
    const auto said = some.front().line(10s);
    EXPECT_FALSE(said) << *said;
    EXPECT_EQ(some.front().end(), 0);
    some.erase(some.begin());
  }
  for (auto& c : some) EXPECT_EQ(c.end(), 0);
}

namespace {
std::unique_ptr<cardan::Publisher<Small>> global_publisher;  // destroyed after the library's own statics
std::unique_ptr<cardan::Subscriber<Small>> global_subscriber;
cardan::Sample<Small> global_sample;
}  // namespace

CARDAN_ROLE(globals) {
  global_publisher = std::make_unique<cardan::Publisher<Small>>(kTopic);
  global_subscriber = std::make_unique<cardan::Subscriber<Small>>(kTopic);
  cardan::test::publish_next(*global_publisher, 1, 0);
  global_sample = global_subscriber->wait(5s);
  return global_sample ? 0 : 1;
}

TEST_F(Life, GlobalEndpointsEndWithTheProcess) {
  Child c("globals");
  EXPECT_EQ(c.end(10s), 0) << "it hangs or crashes after main()";
}

CARDAN_ROLE(waits_for_ever) {
  cardan::stop_on_signals();
  cardan::Subscriber in{kTopic};
  cardan::test::say("ready");
  while (in.wait()) {
  }
  cardan::test::say(in.reason() == cardan::Reason::Stopped ? "stopped" : "?");
  return 0;
}

TEST_F(Life, ASignalEndsAWaitInOrder) {
  Child c("waits_for_ever");
  c.expect("ready");
  c.signal(SIGTERM);
  EXPECT_EQ(c.line(), "stopped");
  EXPECT_EQ(c.end(), 0);
}

TEST_F(Life, ASignalThatComesTwiceIsOneRequest) {
  Child c("waits_for_ever");
  c.expect("ready");
  c.signal(SIGTERM);  // as `timeout` does it: to the process, and to its group
  c.signal(SIGTERM);
  EXPECT_EQ(c.line(), "stopped");
  EXPECT_EQ(c.end(), 0);
}

CARDAN_ROLE(waits_for_a_hang_up) {
  cardan::stop_on_signals();
  cardan::stop_on_hang_up();
  cardan::Subscriber in{kTopic};
  cardan::test::say("ready");
  while (in.wait()) {
  }
  cardan::test::say("stopped");
  cardan::test::hear();  // as a program that has a file to finish
  return 0;
}

TEST_F(Life, ATerminalThatClosesIsOneRequestHoweverOftenItIsSignalled) {
  Child c("waits_for_a_hang_up");
  c.expect("ready");
  for (int i = 0; i < 2; ++i) {
    c.signal(SIGHUP);
    if (i == 0) {
      EXPECT_EQ(c.line(), "stopped");
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(2 * cardan::detail::SignalEcho::kWithin));
  }
  c.say("go on");
  EXPECT_EQ(c.end(), 0);
}

TEST_F(Life, OnlyALaterSignalIsASecondRequest) {
  cardan::detail::SignalEcho echo;
  constexpr std::int64_t kWithin = cardan::detail::SignalEcho::kWithin;
  EXPECT_FALSE(echo.is_echo(1000));
  EXPECT_TRUE(echo.is_echo(1001));
  EXPECT_TRUE(echo.is_echo(1000 + kWithin - 1));
  EXPECT_FALSE(echo.is_echo(1000 + kWithin)) << "a peer that continues to ask is heard";
}

CARDAN_ROLE(never_ends) {
  cardan::stop_on_signals();
  cardan::test::say("ready");
  for (;;) std::this_thread::sleep_for(1s);
}

TEST_F(Life, ASecondRequestEndsAtOnce) {
  Child c("never_ends");
  c.expect("ready");
  c.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * cardan::detail::SignalEcho::kWithin));
  c.signal(SIGTERM);
  EXPECT_EQ(c.end(10s), -SIGTERM);
}

CARDAN_ROLE(stopped_publisher) {
  const cardan::Publisher<Small> out{kTopic};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

TEST_F(Life, APeerThatDoesNotAnswerDoesNotKeepUsFromStarting) {
  Child frozen("stopped_publisher");
  frozen.expect("ready");
  frozen.signal(SIGSTOP);
  ASSERT_TRUE(cardan::test::eventually([&] { return cardan::test::is_stopped(frozen.pid()); }));
  const auto begin = std::chrono::steady_clock::now();
  cardan::Subscriber in{kTopic};
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(in.publishers(), 0U);
  frozen.signal(SIGCONT);
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1; }))
      << "it is attached once the peer continues";
  EXPECT_EQ(frozen.end(), 0);
}
