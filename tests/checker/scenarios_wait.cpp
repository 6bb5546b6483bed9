// SPDX-License-Identifier: Apache-2.0
// The other ways to sleep: a reliable publish on its reader's progress, a reader on a descriptor, a waiter that its own
// helper thread has to reach.
#include "tests/checker/parts.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

/// The publisher sleeps until its reliable reader has taken the last one, the reader until there is a next one.
class ReliableSleep final : public Scenario {
 public:
  explicit ReliableSleep(int publications)
      : publisher_(area_, table_, {.wakes = true, .reliable_sleeps = true}), publications_(publications) {
    area_.init(1, 3);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    table_.preset(0, subscriber_);
    reader_.tells_progress();
    Execution& e = Execution::current();
    writer_ = e.spawn("publisher", [this] {
      for (int i = 0; i < publications_; ++i) publisher_.publish_one();
    });
    publisher_.owned_by(writer_);
    subscriber_.owned_by(e.spawn("reader", [this] { reader_.wait_until(static_cast<std::uint64_t>(publications_)); }));
  }
  void finish() override {
    if (subscriber_.progress_futex.sleeps(writer_))
      fail("a reliable publish sleeps on although its reader has moved on");
    expect_exact_count(subscriber_, {&reader_});
    for (std::size_t i = 0; i < reader_.log().count; ++i)
      if (reader_.log().missed[i] != 0) fail("a reliable reader has lost a publication");
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  Reader reader_{area_, subscriber_, 1};
  int publications_;
  std::size_t writer_ = 0;
};

/// A reader that waits in poll().
class Poll final : public Scenario {
 public:
  explicit Poll(int publications) : publisher_(area_, table_, {.descriptors = true}), publications_(publications) {
    area_.init(1, 4);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    table_.preset(0, subscriber_);
    Execution& e = Execution::current();
    publisher_.owned_by(e.spawn("publisher", [this] {
      for (int i = 0; i < publications_; ++i) publisher_.publish_one();
    }));
    poller_ = e.spawn("reader", [this] { reader_.poll_until(static_cast<std::uint64_t>(publications_)); });
    subscriber_.owned_by(poller_);
  }
  void finish() override {
    if (subscriber_.descriptor.sleeps(poller_)) fail("a descriptor is not rung for a publication");
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  Reader reader_{area_, subscriber_, 1};
  int publications_;
  std::size_t poller_ = 0;
};

/// Something happens that no publisher rings for (a stream ends, a stop is requested): the subscriber's helper thread
/// wakes the waiting threads, on a bell that it cannot write.
class Kick final : public Scenario {
 public:
  explicit Kick(std::uint32_t waiters, bool once = false) : waiters_(waiters), once_(once) {
    event_.init({"event"});
    bell_.init({"bell"});
    sleepers_.event_seq.init({"event_seq"});
    for (int i = 0; i < 2; ++i) sleepers_.count[i].init({"sleepers", i});
    Execution& e = Execution::current();
    for (std::uint32_t i = 0; i < waiters_; ++i)
      threads_[i] = e.spawn(i == 0 ? "waiter 0" : "waiter 1", [this] { wait(); });
    const std::size_t helper = e.spawn("helper", [this] { kick(); });
    event_.owned_by(helper);
    sleepers_.event_seq.owned_by(helper);
    if (waiters_ == 1)
      for (auto& count : sleepers_.count) count.owned_by(threads_[0]);
  }
  void finish() override {
    for (std::uint32_t i = 0; i < waiters_; ++i)
      if (futex_.sleeps(threads_[i])) fail("a thread sleeps on an event");
    for (const auto& count : sleepers_.count)
      if (count.final_value() != 0) fail("a thread that is awake counts as a sleeper");
  }

 private:
  void wait() {
    std::uint32_t generation = 0;
    const std::uint32_t phase = load(bell_, std::memory_order_acquire, "bell?");
    const bool may_sleep = sleepers_.begin(generation);
    const bool seen = load(event_, std::memory_order_relaxed, "event?") != 0;
    if (!may_sleep && !seen) fail("a waiter that must not sleep does not see why");
    if (may_sleep && !seen) futex_.wait(bell_, phase);
    sleepers_.end(generation);
  }
  void kick() {
    Execution& e = Execution::current();
    store(event_, std::uint32_t{1}, std::memory_order_relaxed, "event");
    const std::uint32_t generation = sleepers_.raise();
    const Location& count = e.memory().location(sleepers_.count[generation % 2].id());
    while (sleepers_.some_left(generation)) {
      futex_.wake();
      if (once_) return;
      // The next look in vain is left out: until somebody sleeps or the count has changed.
      const auto news = [this, &count, seen = count.arrivals] {
        for (std::uint32_t i = 0; i < waiters_; ++i)
          if (futex_.sleeps(threads_[i])) return true;
        return count.arrivals != seen;
      };
      e.wait_until(news, "looks again");
    }
  }

  std::uint32_t waiters_;
  bool once_;
  Word<std::uint32_t> event_, bell_;
  protocol::Sleepers<Env> sleepers_;
  Futex futex_;
  std::array<std::size_t, 2> threads_{};
};

}  // namespace

void add_wait_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  all.push_back({"reliable sleep",
                 "2 publications of depth 1; the publisher sleeps until its reader has moved on, and the reader until "
                 "it publishes",
                 {S::P1, S::P2, S::P3, S::P4},
                 [] { return std::make_unique<ReliableSleep>(2); },
                 0});
  all.push_back({"poll",
                 "2 publications; the reader waits in poll() on its descriptor",
                 {S::N1, S::N2},
                 [] { return std::make_unique<Poll>(2); },
                 0});
  all.push_back({"kick",
                 "an event while a thread goes to sleep on a bell that nobody rings",
                 {S::V1, S::V2, S::V3, S::V4, S::V5, S::V6},
                 [] { return std::make_unique<Kick>(1); },
                 0,
                 {{"the helper thread wakes once only", [] { return std::make_unique<Kick>(1, true); }}}});
  all.push_back({"kick two", "the same with two threads", {S::V2, S::V4}, [] { return std::make_unique<Kick>(2); }, 0});
}

}  // namespace cardan::checker
