// SPDX-License-Identifier: Apache-2.0
// A component is made again while the others of its process continue.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "src/runtime/runtime.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::Sample;

struct Count {
  std::int64_t value = 0;
};

}  // namespace

CARDAN_MESSAGE(Count, "test_msgs/msg/Count", value);

namespace {

constexpr cardan::Topic<Count> kCount{"/count", {.depth = 64}};
constexpr cardan::Topic<Count> kEcho{"/echo", {.depth = 64}};

std::atomic<int> made{0}, stopped{0}, alive{0};
std::atomic<bool> refuses{false};

class Echo : public cardan::Component {
 public:
  Echo() { ++made, ++alive; }
  ~Echo() override { --alive; }
  void on_start(Context& context) override {
    if (refuses) throw std::runtime_error("not again");
    factor_ = context.parameter<std::int64_t>("factor", 1);
    out_ = context.output(kEcho);
    context.input(kCount, [this](const Sample<Count>& c) { out_.publish({c->value * *factor_}); });
    context.timer(1ms, [this] { ticks = ++own_ticks_; });
  }
  void on_stop() override { ++stopped; }
  static inline std::atomic<int> ticks{0};

 private:
  cardan::Parameter<std::int64_t> factor_;
  cardan::Output<Count> out_;
  int own_ticks_ = 0;
};
CARDAN_COMPONENT(Echo)

/// Counts by a timer, and reads its own counts and the echo of them.
struct Source : cardan::Component {
  void on_start(Context& context) override {
    out = context.output(kCount);
    context.timer(1ms, [this] {
      if (paused) return;
      out.publish({++counted});
    });
    context.input(kCount, [this](const Sample<Count>& c) {
      lost += c->value - last - 1;
      last = c->value;
    });
    context.input(kEcho, [this](const Sample<Count>& c) { echoed = c->value; });
  }
  cardan::Output<Count> out;
  std::atomic<std::int64_t> counted{0}, last{0}, lost{0}, echoed{0};
  std::atomic<bool> paused{false};
};

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

class Restart : public testing::TestWithParam<const char*> {
 protected:
  Restart() {
    refuses = false;
    made = stopped = 0;
    cardan::RuntimeOptions options{.transport = false};
    options.groups = {{.name = "main", .workers = 2}, {.name = "other"}};
    runtime = std::make_unique<cardan::Runtime>(options);
    runtime->add({.name = "source"}, source);
    runtime->add(
        {.name = "echo", .class_name = "Echo", .parameters = {{"factor", std::int64_t{3}}}, .group = GetParam()});
    runtime->start();
  }
  bool echoes() {
    const std::int64_t from = source->counted;
    return soon([&] { return source->echoed > 3 * from; });
  }
  std::shared_ptr<Source> source = std::make_shared<Source>();
  std::unique_ptr<cardan::Runtime> runtime;
};

TEST_P(Restart, EverythingComesBackAndOthersLoseNothing) {
  ASSERT_TRUE(echoes());
  runtime->set_parameter("echo", "factor", std::int64_t{9});
  for (int round = 1; round <= 20; ++round) {
    runtime->restart("echo");
    EXPECT_EQ(made, round + 1);
    EXPECT_EQ(stopped, round);
    EXPECT_EQ(alive, 1);
    Echo::ticks = 0;
    source->echoed = 0;
    ASSERT_TRUE(echoes()) << "its input and its output";
    ASSERT_TRUE(soon([] { return Echo::ticks > 0; })) << "its timer";
  }
  source->paused = true;
  ASSERT_TRUE(soon([&] { return source->last == source->counted; }));
  EXPECT_EQ(source->lost, 0);
  EXPECT_TRUE(soon([&] { return source->echoed == 3 * source->counted; })) << "the configuration's parameter";
  runtime->set_parameter("echo", "factor", std::int64_t{4});
  runtime->stop();
  EXPECT_EQ(stopped, 21);
}

TEST_P(Restart, AComponentThatDoesNotStartAgainIsGoneAndTheOthersContinue) {
  ASSERT_TRUE(echoes());
  refuses = true;
  EXPECT_THROW(runtime->restart("echo"), cardan::Error);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(runtime->components().size(), 1U);
  const std::int64_t before = source->last;
  EXPECT_TRUE(soon([&] { return source->last > before + 10; }));
  EXPECT_EQ(source->lost, 0);
  EXPECT_THROW(runtime->restart("echo"), cardan::Error) << "it is not there any more";
  runtime->stop();
}

TEST_P(Restart, AComponentThatItsClassDidNotMakeCannotBeMadeAgain) {
  EXPECT_THROW(runtime->restart("source"), cardan::Error);
  EXPECT_THROW(runtime->restart("nobody"), cardan::Error);
  EXPECT_TRUE(echoes());
}

INSTANTIATE_TEST_SUITE_P(Groups, Restart, testing::Values("main", "other"));

}  // namespace
