// SPDX-License-Identifier: Apache-2.0
// Components that fail: the reports, and the others that continue.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "src/system/host/control_client.hpp"
#include "tests/runtime/host_support.hpp"
#include "tests/support/sanitizer.hpp"

namespace cardan::test {
namespace {

using namespace std::chrono_literals;

using host::ComponentReport;
using host::ControlClient;

/// Whether the first thread of a process sleeps. It is the one that gets signals from outside.
bool sleeps(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/stat", process));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto end = text.rfind(") ");
  return end != std::string::npos && text.substr(end + 2, 1) == "S";
}

class Crash : public Hosts {
 protected:
  /// Gives orders to the servant once it listens.
  void order(Order what) {
    if (!orders_) orders_ = std::make_unique<Publisher<Number>>(kOrders);
    ASSERT_TRUE(eventually([&] { return orders_->subscribers() > 0; }));
    orders_->publish({static_cast<std::int64_t>(what)});
  }
  std::unique_ptr<Publisher<Number>> orders_;
};

TEST_F(Crash, TheReportNamesComponentCallbackSamplesAndStack) {
  Child child = host(file(fmt::format(R"("tick": {}, "serve": {})", component("Ticker"), component("Servant"))));
  Subscriber said{kSaid};
  order(Order::Answer);
  ASSERT_TRUE(said.wait(10s));
  order(Order::Segfault);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGSEGV);
  for (const char* part : {"=== cardan crash report ===", "process: p (pid ", "component: serve\n",
                           "callback: /orders, its call number 2\n", "signal: SIGSEGV", "at address 0x0\n",
                           "> serve /orders: sequence 2, published ", "test_components", "end of crash"})
    EXPECT_TRUE(has(report, part)) << part << " is not in\n" << report;
  EXPECT_FALSE(has(report, "tick /")) << "it reads nothing";
}

TEST_F(Crash, AStackOverflowIsReportedToo) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  order(Order::Overflow);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGSEGV);
  EXPECT_TRUE(has(report, "component: serve\n") && has(report, "servant_overflows")) << report;
  EXPECT_TRUE(has(report, "hint: the thread's stack is full")) << report;
  EXPECT_FALSE(has(report, "clone()")) << "nobody wrote to a sample\n" << report;
}

TEST_F(Crash, WritingToASampleIsExplained) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  order(Order::WriteToSample);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGSEGV);
  EXPECT_TRUE(has(report, "Samples are immutable")) << report;
}

TEST_F(Crash, AbortIsReportedAndASignalFromOutsideInNoCallbackToo) {
  {
    Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
    order(Order::Abort);
    const std::string report = rest(child);
    EXPECT_EQ(child.end(), -SIGABRT);
    EXPECT_TRUE(has(report, "component: serve\n") && has(report, "SIGABRT")) << report;
    orders_.reset();  // the next host would be given the order too
  }
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant"))));
  // ThreadSanitizer calls a handler of SIGSEGV at once, also while the thread is in the sanitizer and may have a lock
  // of it. This is probably why a host did not end in one of some hundred runs.
  if (kSanitized) {
    EXPECT_TRUE(eventually([&] { return sleeps(child.pid()); }));
  }
  child.signal(SIGSEGV);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGSEGV);
  EXPECT_TRUE(has(report, "component: none")) << report;
}

TEST_F(Crash, TheReportGoesToItsDescriptor) {
  const std::string one = file(fmt::format(R"("serve": {})", component("Servant")));
  const std::string to = run_directory() + "/report.txt";
  // Opened before exec, as the launcher does it.
  Child child("cardan", {"host", one, "--process", "p", "--ready-fd", "9", "--report-fd", "8"}, [&to] {
    const int fd = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(fd, 8);
  });
  child.expect("ready");
  order(Order::Segfault);
  const std::string said = rest(child);
  EXPECT_EQ(child.end(), -SIGSEGV);
  EXPECT_FALSE(has(said, "crash report"));
  std::ifstream in(to);
  const std::string report((std::istreambuf_iterator<char>(in)), {});
  EXPECT_TRUE(has(report, "component: serve\n")) << report;
}

TEST_F(Crash, AHangIsReportedWithTheStackOfItsThread) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant", R"("watchdog_ms": 30)"))));
  order(Order::Hang);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGABRT);
  for (const char* part :
       {"component: serve\n", "callback: /orders", "reason: callback '/orders' of component 'serve' has",
        "its watchdog allows 30.0 ms", "servant_hangs"})
    EXPECT_TRUE(has(report, part)) << part << " is not in\n" << report;
}

TEST_F(Crash, ACallbackMayHaveAWatchdogOfItsOwn) {
  Child child = host(file(
      fmt::format(R"("serve": {})",
                  component("Servant", R"("watchdog_ms": 600000, "callbacks": {"/orders": {"watchdog_ms": 20}})"))));
  order(Order::Hang);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGABRT);
  EXPECT_TRUE(has(report, "its watchdog allows 20.0 ms")) << report;
}

TEST_F(Crash, ContinueKeepsItRunningAndCounts) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant", R"("on_exception": "continue")"))));
  Subscriber said{kSaid};
  for (const Order what : {Order::Answer, Order::Throw, Order::Throw, Order::Answer}) order(what);
  for (int i = 1; i <= 2; ++i) {
    const auto answer = said.wait(10s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->value, i) << "the same object";
  }
  ControlClient client({.timeout = 20s});
  const ComponentReport servant = client.components().components.at(0);
  EXPECT_EQ(servant.callbacks.at(0).failures, 2U);
  EXPECT_EQ(servant.restarts, 0U);
  child.signal(SIGTERM);
  const std::string log = rest(child);
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(has(log, "serve: callback '/orders' threw: the servant is tired")) << log;
}

TEST_F(Crash, CrashEndsTheProcess) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant", R"("on_exception": "crash")"))));
  order(Order::Throw);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGABRT);
  EXPECT_TRUE(has(report, "reason: callback '/orders' of component 'serve' threw: the servant is tired")) << report;
}

TEST_F(Crash, RestartMakesItAgainWhileTheOthersContinue) {
  // All in one group: the ticker's ticks must wait for the counter, not get lost.
  Child child =
      host(file(fmt::format(R"("tick": {}, "count": {}, "serve": {})", component("Ticker"), component("Counter"),
                            component("Servant", R"("on_exception": "restart", "parameters": {"people": 6})")),
                R"("restart": {"limit": 100})"));
  Subscriber said{kSaid};
  Subscriber seen{kSeen};
  Subscriber lost{kLost};
  const auto answered = [&](std::int64_t value) {
    return eventually([&] {
      const auto answer = said.wait(100ms);
      return answer && answer->value == value;
    });
  };
  ControlClient client({.timeout = 20s});
  const auto servant = [&] { return client.components().components.at(2); };
  ASSERT_TRUE(eventually([&] { return client.components().hosts == 1; }));
  const ComponentReport fresh = servant();
  order(Order::Answer);
  order(Order::Answer);
  ASSERT_TRUE(answered(2));
  client.set_parameter(servant(), "people", std::int64_t{8});
  for (std::uint64_t round = 1; round <= 3; ++round) {
    order(Order::Throw);
    // The new one is given the order again, fails on it again, and its successor is not given it.
    ASSERT_TRUE(eventually([&] { return servant().restarts == 2 * round; })) << round;
    const auto before = seen.wait(10s);
    ASSERT_TRUE(before);
    order(Order::Answer);
    ASSERT_TRUE(answered(1)) << "a new object, which was not given the failed order again";
    const auto after = seen.wait(10s);
    ASSERT_TRUE(after);
    EXPECT_GT(after->value, before->value) << "the others continue, the timer too";
  }
  const ComponentReport again = servant();
  EXPECT_EQ(again.restarts, 6U);
  EXPECT_EQ(again.parameters, fresh.parameters) << "as the configuration says";
  EXPECT_EQ(again.callbacks.size(), fresh.callbacks.size());
  EXPECT_EQ(again.outputs.size(), fresh.outputs.size());
  const auto missing = lost.wait(10s);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->value, 0);
  child.signal(SIGTERM);
  const std::string log = rest(child);
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(has(log, "serve: restarted in ")) << log;
}

TEST_F(Crash, ARestartTooManyIsACrash) {
  Child child = host(file(fmt::format(R"("serve": {})", component("Servant", R"("on_exception": "restart")")),
                          R"("restart": {"limit": 2, "backoff_ms": 1})"));
  ControlClient client({.timeout = 20s});
  order(Order::Throw);
  // The new one is given the sample again, and fails on it again; then it is left out.
  ASSERT_TRUE(eventually([&] {
    const auto all = client.components().components;
    return all.size() == 1 && all[0].restarts == 2;
  }));
  ASSERT_TRUE(eventually([&] { return orders_->subscribers() == 1; }));
  order(Order::Throw);
  const std::string report = rest(child);
  EXPECT_EQ(child.end(), -SIGABRT);
  EXPECT_TRUE(has(report, "was restarted 2 times within 60 s")) << report;
}

}  // namespace
}  // namespace cardan::test
