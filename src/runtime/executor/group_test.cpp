// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/group.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "cardan/error.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/sanitizer.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::Sample;

using Object = std::vector<int>;
constexpr cardan::Topic<Object> kTopic{"/objects", {.depth = 64}};

template <class F>
bool within(std::chrono::milliseconds limit, F done) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

struct Source : cardan::Component {
  void on_start(Context& context) override { out = context.output(kTopic); }
  cardan::Output<Object> out;
};

/// Counts how many of its callbacks are inside at once.
struct Sink : cardan::Component {
  explicit Sink(bool may_overlap = false) : overlaps(may_overlap) {}
  void on_start(Context& context) override {
    context.input(kTopic, [this](const Sample<Object>& s) { work(s); }, {.name = "one"});
    context.input(kTopic, [this](const Sample<Object>& s) { work(s); }, {.overlaps = overlaps, .name = "two"});
  }
  void work(const Sample<Object>& s) {
    const int now = ++inside;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(2ms);
    sum += (*s)[0];
    ++calls;
    --inside;
  }
  bool overlaps;
  std::atomic<int> inside{0}, most{0}, calls{0}, sum{0};
};

std::unique_ptr<cardan::Runtime> runtime_with(int workers) {
  return std::make_unique<cardan::Runtime>(
      cardan::RuntimeOptions{.transport = false, .groups = {{.name = "main", .workers = workers}}});
}

TEST(Executor, CallbacksOfOneComponentNeverOverlap) {
  auto runtime = runtime_with(4);
  auto source = std::make_shared<Source>();
  auto sink = std::make_shared<Sink>();
  runtime->add({.name = "source"}, source);
  runtime->add({.name = "sink"}, sink);
  runtime->start();
  for (int i = 0; i < 20; ++i) source->out.publish(Object{i});
  EXPECT_TRUE(within(10s, [&] { return sink->calls == 40; }));
  runtime->stop();
  EXPECT_EQ(sink->most, 1);
  EXPECT_EQ(sink->sum, 2 * 190);
}

TEST(Executor, UnlessTheySaySo) {
  auto runtime = runtime_with(4);
  auto source = std::make_shared<Source>();
  auto sink = std::make_shared<Sink>(true);
  runtime->add({.name = "source"}, source);
  runtime->add({.name = "sink"}, sink);
  runtime->start();
  for (int i = 0; i < 20; ++i) source->out.publish(Object{i});
  EXPECT_TRUE(within(10s, [&] { return sink->calls == 40; }));
  EXPECT_EQ(sink->most, 2) << "each input at the same time as the other, none as itself";
}

TEST(Executor, NotEvenWhenOneCallbackHasItsOwnThread) {
  auto runtime = runtime_with(2);
  auto source = std::make_shared<Source>();
  auto sink = std::make_shared<Sink>();
  runtime->add({.name = "source"}, source);
  runtime->add({.name = "sink", .callbacks = {{.name = "two", .thread = cardan::config::Thread{}}}}, sink);
  runtime->start();
  for (int i = 0; i < 20; ++i) source->out.publish(Object{i});
  EXPECT_TRUE(within(10s, [&] { return sink->calls == 40; }));
  EXPECT_EQ(sink->most, 1);
  EXPECT_EQ(runtime->groups().size(), 2U);
}

TEST(Executor, ABusyCallbackDoesNotStarveAnotherThreadsOne) {
  struct Greedy : cardan::Component {
    void on_start(Context& context) override {
      context.input(kTopic, [this](const Sample<Object>&) { ++busy; }, {.name = "busy"});
      context.input(cardan::Topic<Object>{"/rare", {}}, [this](const Sample<Object>&) { ++rare; }, {.name = "rare"});
    }
    std::atomic<int> busy{0}, rare{0};
  };
  struct RareSource : cardan::Component {
    void on_start(Context& context) override { out = context.output(cardan::Topic<Object>{"/rare", {}}); }
    cardan::Output<Object> out;
  };
  auto runtime = runtime_with(1);
  auto source = std::make_shared<Source>();
  auto rare = std::make_shared<RareSource>();
  auto greedy = std::make_shared<Greedy>();
  runtime->add({.name = "source"}, source);
  runtime->add({.name = "rare"}, rare);
  runtime->add({.name = "greedy", .callbacks = {{.name = "rare", .thread = cardan::config::Thread{}}}}, greedy);
  runtime->start();
  std::atomic<bool> done{false};
  std::thread flood([&] {
    const auto object = std::make_shared<const Object>(Object{1});
    while (!done) source->out.publish(object);  // its queue is never empty
  });
  EXPECT_TRUE(within(10s, [&] { return greedy->busy > 1000; }));
  for (int i = 1; i <= 20; ++i) {
    rare->out.publish(Object{i});
    EXPECT_TRUE(within(10s, [&] { return greedy->rare >= i; })) << i;
  }
  done = true;
  flood.join();
}

TEST(Executor, SeveralComponentsRunAtOnce) {
  struct Meeting : cardan::Component {
    explicit Meeting(std::latch& l) : all(l) {}
    void on_start(Context& context) override {
      context.input(kTopic, [this](const Sample<Object>&) { all.arrive_and_wait(); });
    }
    std::latch& all;
  };
  std::latch all(4);  // three components and this thread: comes to an end only when all are inside at once
  auto runtime = runtime_with(3);
  auto source = std::make_shared<Source>();
  runtime->add({.name = "source"}, source);
  for (const char* name : {"a", "b", "c"}) runtime->add({.name = name}, std::make_shared<Meeting>(all));
  runtime->start();
  source->out.publish(Object{1});
  EXPECT_TRUE(within(10s, [&] {
    if (all.try_wait()) return true;
    static bool arrived = false;
    if (!arrived) all.count_down();
    arrived = true;
    return false;
  }));
}

TEST(Executor, ManyPublishersManyReadersLoseNothing) {
  constexpr int kEach = 2000;
  struct Counter : cardan::Component {
    void on_start(Context& context) override {
      context.input(kTopic, [this](const Sample<Object>& s) { sum += (*s)[0]; }, {.depth = 1024});
    }
    std::atomic<std::int64_t> sum{0};
  };
  auto runtime = runtime_with(2);
  std::vector<std::shared_ptr<Source>> sources;
  std::vector<std::shared_ptr<Counter>> counters;
  for (int i = 0; i < 3; ++i) {
    runtime->add({.name = "source" + std::to_string(i)}, sources.emplace_back(std::make_shared<Source>()));
    runtime->add({.name = "counter" + std::to_string(i)}, counters.emplace_back(std::make_shared<Counter>()));
  }
  runtime->start();
  std::vector<std::thread> threads;
  for (auto& source : sources)
    threads.emplace_back([&source] {
      for (int i = 1; i <= kEach; ++i) {
        source->out.publish(Object{i});
        if (i % 100 == 0) std::this_thread::sleep_for(2ms);
      }
    });
  for (auto& t : threads) t.join();
  const auto accounted = [&] {
    std::uint64_t sum = 0;
    for (const auto& core : runtime->components())
      for (const auto& d : core->declared())
        if (d.port != nullptr) sum += d.port->statistics().dropped + d.port->statistics().calls;
    return sum;
  };
  within(20s, [&] { return accounted() == 3U * 3U * kEach; });
  runtime->stop();
  EXPECT_EQ(accounted(), 3U * 3U * kEach) << "each sample is called for or counted";
}

TEST(Executor, TimersKeepTheirGrid) {
  struct Ticker : cardan::Component {
    void on_start(Context& context) override {
      context.timer(5ms, [this, &context] {
        const std::lock_guard lock(mutex);
        times.push_back(context.now());
      });
    }
    std::mutex mutex;
    std::vector<std::int64_t> times;
  };
  auto runtime = runtime_with(1);
  auto ticker = std::make_shared<Ticker>();
  runtime->add({.name = "ticker"}, ticker);
  runtime->start();
  std::this_thread::sleep_for(300ms);
  runtime->stop();
  ASSERT_GE(ticker->times.size(), 2U);
  for (std::size_t i = 1; i < ticker->times.size(); ++i) EXPECT_GT(ticker->times[i], ticker->times[i - 1]);
  const auto& timer = *runtime->components()[0]->callbacks().back();
  EXPECT_GE(static_cast<double>(ticker->times.size() + timer.statistics().overruns), 55.0) << "none got lost uncounted";
}

TEST(Executor, IdleCostsNothing) {
  auto runtime = runtime_with(4);
  runtime->add({.name = "source"}, std::make_shared<Source>());
  runtime->add({.name = "sink"}, std::make_shared<Sink>());
  runtime->start();
  std::this_thread::sleep_for(50ms);
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  std::this_thread::sleep_for(500ms);
  ::getrusage(RUSAGE_SELF, &after);
  const long most = cardan::test::kSanitized ? 8 : 5;  // a sanitizer has its own thread that wakes up
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, most) << "nobody wakes up";
}

TEST(Executor, StopsWhileTheQueuesAreFull) {
  for (int round = 0; round < 20; ++round) {
    auto runtime = runtime_with(2);
    auto source = std::make_shared<Source>();
    auto sink = std::make_shared<Sink>();
    runtime->add({.name = "source"}, source);
    runtime->add({.name = "sink"}, sink);
    runtime->start();
    auto object = std::make_shared<const Object>(Object{1});
    for (int i = 0; i < 50; ++i) source->out.publish(object);
    runtime.reset();
    EXPECT_EQ(object.use_count(), 1) << "no sample is left anywhere";
  }
}

TEST(Executor, NeedsOfAGroupAreReported) {
  try {
    const cardan::Runtime runtime(
        {.transport = false,
         .groups = {{.name = "pinned", .workers = 3, .cpus = {0}, .affinity = cardan::config::Affinity::OneToOne}}});
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_NE(e.cause().find("pinned"), std::string::npos);
  }
  cardan::Runtime runtime({.transport = false});
  try {
    runtime.add({.name = "lost", .group = "nowhere"}, std::make_shared<Sink>());
    FAIL();
  } catch (const cardan::Error& e) {
    EXPECT_NE(e.cause().find("nowhere"), std::string::npos);
  }
}

TEST(Group, ItsThreadsHaveTheNamesOfProcessAndGroup) {
  const auto name = [](std::string process, std::string group, std::uint32_t workers = 1) {
    return cardan::detail::thread_name({.name = std::move(group), .process = std::move(process), .workers = workers},
                                       1);
  };
  EXPECT_EQ(name("planning", "main"), "planning/main");
  EXPECT_EQ(name("planning", "control timer"), "plannin/control") << "a separate thread is called by its component";
  EXPECT_EQ(name("perception_front", "main"), "perception/main");
  EXPECT_EQ(name("a", "obstacle_detector"), "a/obstacle_dete");
  EXPECT_EQ(name("perception", "main", 4), "percepti/main-1");
  EXPECT_EQ(name("", "main", 4), "main-1");
  EXPECT_EQ(name("", "main"), "main");
}

}  // namespace
