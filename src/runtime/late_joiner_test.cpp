// SPDX-License-Identifier: Apache-2.0
// Inputs that come after the samples: declared later in the same process, or made again by a restart.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "cardan/simulation.hpp"
#include "cardan/subscriber.hpp"
#include "src/runtime/executor/log_test.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/run_directory.hpp"

namespace late {
struct Reading {
  std::int64_t value = 0;
};
}  // namespace late

CARDAN_MESSAGE(late::Reading, "test_msgs/msg/Reading", value);

namespace cardan::late_joiner_test {
namespace {

using namespace std::chrono_literals;
using late::Reading;
using Table = std::vector<std::string>;  // what no shared memory can carry

constexpr Topic<Reading> kCalibration{"/calibration"};
constexpr Topic<Reading> kLast3{"/last3", {.depth = 3}};
constexpr Topic<Table> kTable{"/table"};
constexpr Topic<Table> kPrivate{"/private", {.process_private = true}};

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

/// Publishes everything before anybody else is there, and never again.
struct Calibrator : Component {
  void on_start(Context& context) override {
    calibration = context.output(kCalibration);
    last3 = context.output(kLast3);
    table = context.output(kTable);
    hidden = context.output(kPrivate);
    calibration.publish({42});
    for (std::int64_t i = 1; i <= 5; ++i) last3.publish({i});
    table.publish(Table{"old"});
    table.publish(Table{"new"});
    hidden.publish(Table{"hidden"});
  }
  Output<Reading> calibration, last3;
  Output<Table> table, hidden;
};

struct Reader : Component {
  void on_start(Context& context) override {
    latest = context.latest(kCalibration);
    context.input(kCalibration, [this](const Sample<Reading>& s) { note("calibration", s->value); }, {.name = "c"});
    context.input(kLast3, [this](const Sample<Reading>& s) { note("last3", s->value); }, {.depth = 8});
    context.input(kLast3, [this](const Sample<Reading>& s) { note("newest", s->value); }, {.depth = 1, .name = "n"});
    context.input(kTable, [this](const Sample<Table>& s) { note("table " + s->at(0), 0); });
    context.input(kPrivate, [this](const Sample<Table>& s) { note("private " + s->at(0), 0); });
  }
  void note(const std::string& what, std::int64_t value) {
    const std::lock_guard lock(mutex);
    heard.push_back(what + " " + std::to_string(value));
  }
  std::size_t count(const std::string& what) {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count(heard.begin(), heard.end(), what));
  }
  std::size_t size() {
    const std::lock_guard lock(mutex);
    return heard.size();
  }
  Latest<Reading> latest;
  std::mutex mutex;
  std::vector<std::string> heard;
};

void expect_the_last_of_all(Reader& reader) {
  for (const char* what :
       {"calibration 42", "last3 3", "last3 4", "last3 5", "newest 5", "table new 0", "private hidden 0"})
    EXPECT_EQ(reader.count(what), 1U) << what;
  EXPECT_EQ(reader.size(), 7U) << "and nothing else";
  ASSERT_TRUE(reader.latest.get());
  EXPECT_EQ(reader.latest.get()->value, 42);
}

TEST(LateJoiner, AReaderDeclaredAfterTheWriterGetsTheLastDepthInASimulation) {
  Simulation simulation;
  simulation.add<Calibrator>("calibrator");
  Reader& reader = simulation.add<Reader>("reader");
  simulation.start();
  simulation.run();
  expect_the_last_of_all(reader);
  for (const auto& c : cardan::detail::runtime_of(simulation).components().back()->callbacks())
    EXPECT_EQ(c->statistics().dropped.load(), 0U) << c->name() << ": samples older than the depth are not lost";
}

class LateJoinerInAProcess : public test::OwnRunDirectory, public testing::WithParamInterface<bool> {};

TEST_P(LateJoinerInAProcess, AReaderDeclaredAfterTheWriterGetsTheLastDepth) {
  Runtime runtime({.domain = domain_, .transport = GetParam()});
  runtime.add({.name = "calibrator"}, std::make_shared<Calibrator>());
  const auto reader = std::make_shared<Reader>();
  runtime.add({.name = "reader"}, reader);
  runtime.start();
  ASSERT_TRUE(soon([&] { return reader->size() >= 7; }));
  runtime.stop();
  expect_the_last_of_all(*reader);
}
INSTANTIATE_TEST_SUITE_P(Transport, LateJoinerInAProcess, testing::Bool());

// ---------------------------------------------------------------- restarts

std::mutex lives_mutex;
std::vector<std::vector<std::int64_t>> lives;  ///< what each of them was given
std::atomic<std::int64_t> poison{0};
std::atomic<std::uint32_t> sink_depth{8};

std::vector<std::int64_t> last_life() {
  const std::lock_guard lock(lives_mutex);
  return lives.empty() ? std::vector<std::int64_t>{} : lives.back();
}

/// Throws on `poison`.
struct LateJoinerSink : Component {
  void on_start(Context& context) override {
    {
      const std::lock_guard lock(lives_mutex);
      lives.emplace_back();
    }
    context.input(kLast3,
                  [](const Sample<Reading>& s) {
                    {
                      const std::lock_guard lock(lives_mutex);
                      lives.back().push_back(s->value);
                    }
                    if (s->value == poison) throw std::runtime_error("poison");
                  },
                  {.depth = sink_depth});
  }
};
CARDAN_COMPONENT(LateJoinerSink)

struct Writer : Component {
  void on_start(Context& context) override {
    out = context.output(kLast3);
    for (std::int64_t i = 1; i <= 5; ++i) out.publish({i});
  }
  Output<Reading> out;
};

/// The writer is in the same process, or in its own runtime, as another process would.
class LateJoinerRestart : public test::OwnRunDirectory, public testing::WithParamInterface<bool> {
 protected:
  LateJoinerRestart() {
    lives.clear();
    poison = 0;
    const auto writer = std::make_shared<Writer>();
    if (apart()) {
      other_ = std::make_unique<Runtime>(RuntimeOptions{.domain = domain_});
      other_->add({.name = "writer"}, writer);
      other_->start();
    }
    runtime_ = std::make_unique<Runtime>(RuntimeOptions{
        .domain = domain_, .transport = apart(), .on_failure = [this](const auto&, const auto&, const auto&) {
          ++failures_;
        }});
    if (!apart()) runtime_->add({.name = "writer"}, writer);
    runtime_->add({.name = "sink", .class_name = "LateJoinerSink"});
    writer_ = writer;
  }
  static bool apart() { return GetParam(); }

  std::unique_ptr<Runtime> other_, runtime_;
  std::shared_ptr<Writer> writer_;
  std::atomic<int> failures_{0};
};

TEST_P(LateJoinerRestart, ARestartedComponentGetsTheLastDepthAgain) {
  const std::vector<std::int64_t> all{3, 4, 5};
  runtime_->start();
  ASSERT_TRUE(soon([&] { return last_life() == all; }));
  for (int round = 0; round < 3; ++round) {
    runtime_->restart("sink");
    EXPECT_TRUE(soon([&] { return last_life() == all; })) << round;
  }
  writer_->out.publish({6});
  EXPECT_TRUE(soon([&] { return last_life() == std::vector<std::int64_t>({3, 4, 5, 6}); })) << "and continues";
  runtime_->stop();
}

TEST_P(LateJoinerRestart, AlsoTheSampleThatItFailedOnOnce) {
  poison = 4;
  runtime_->start();
  ASSERT_TRUE(soon([&] { return failures_ == 1 && last_life().size() == 3; }));
  poison = 0;  // it was not the sample's fault
  for (int round = 0; round < 3; ++round) {
    runtime_->restart("sink");
    EXPECT_TRUE(soon([&] { return last_life() == std::vector<std::int64_t>({3, 4, 5}); })) << round;
  }
  runtime_->stop();
}

TEST_P(LateJoinerRestart, ByAnOrderEvenTheOneThatItFailedOnTwice) {
  poison = 4;
  runtime_->start();
  ASSERT_TRUE(soon([&] { return failures_ == 1 && last_life().size() == 3; }));
  runtime_->restart("sink");
  ASSERT_TRUE(soon([&] { return failures_ == 2 && last_life().size() == 3; }));
  runtime_->restart("sink");
  ASSERT_TRUE(soon([&] { return last_life() == std::vector<std::int64_t>({3, 5}); }));
  poison = 0;
  runtime_->restart("sink", RestartCause::Order);
  EXPECT_TRUE(soon([&] { return last_life() == std::vector<std::int64_t>({3, 4, 5}); }));
  runtime_->stop();
}

TEST_P(LateJoinerRestart, ButNotTheSampleThatItFailedOnTwice) {
  const test::Heard heard;
  poison = 4;
  runtime_->start();
  ASSERT_TRUE(soon([&] { return failures_ == 1 && last_life().size() == 3; }));
  runtime_->restart("sink");
  ASSERT_TRUE(soon([&] { return failures_ == 2 && last_life().size() == 3; }));
  for (int round = 0; round < 2; ++round) {
    runtime_->restart("sink");
    EXPECT_TRUE(soon([&] { return last_life() == std::vector<std::int64_t>({3, 5}); })) << round;
  }
  EXPECT_EQ(failures_, 2);
  EXPECT_EQ(heard.lines_with({"sink", "does not get sample 4", "/last3"}), 2U) << heard.text();
  poison = 0;
  writer_->out.publish({6});
  EXPECT_TRUE(soon([&] { return last_life() == std::vector<std::int64_t>({3, 5, 6}); }));
  runtime_->stop();
}
INSTANTIATE_TEST_SUITE_P(Writer, LateJoinerRestart, testing::Bool());

/// A publisher of the least memory with which sinks of these names start: there is no room for the old samples of one
/// and its new ones at the same time.
void start_with_least_memory(const std::string& domain, const std::vector<std::string>& sinks,
                             std::unique_ptr<Publisher<Reading>>& out, std::unique_ptr<Runtime>& runtime) {
  for (std::size_t bytes = 4096; runtime == nullptr; bytes += 4096) {
    ASSERT_LT(bytes, std::size_t{1} << 20);
    try {
      out.reset();
      out = std::make_unique<Publisher<Reading>>(Topic<Reading>{kLast3.name, {.depth = 3, .max_memory = bytes}});
      auto enough = std::make_unique<Runtime>(RuntimeOptions{.domain = domain});
      for (const std::string& sink : sinks) enough->add({.name = sink, .class_name = "LateJoinerSink"});
      enough->start();
      runtime = std::move(enough);
    } catch (const Error& e) {
      ASSERT_TRUE(e.code() == ErrorCode::Limit || e.code() == ErrorCode::NoMemory) << e.what();
    }
  }
}

TEST_F(LateJoinerInAProcess, ARestartNeedsNoMoreMemoryOfAPublisherThanTheStart) {
  lives.clear();
  poison = 0;
  sink_depth = 60;
  std::unique_ptr<Publisher<Reading>> out;
  std::unique_ptr<Runtime> runtime;
  ASSERT_NO_FATAL_FAILURE(start_with_least_memory(domain_, {"sink"}, out, runtime));
  for (std::int64_t i = 1; i <= 5; ++i) out->publish({i});
  ASSERT_TRUE(soon([] { return !last_life().empty() && last_life().back() == 5; }));
  EXPECT_THROW((void)Subscriber<Reading>(kLast3, {.holds = 60}), Error) << "there is room for another one";
  for (int round = 0; round < 3; ++round) {
    runtime->restart("sink");
    EXPECT_TRUE(soon([] { return last_life() == std::vector<std::int64_t>({3, 4, 5}); })) << round;
  }
  runtime->stop();
  sink_depth = 8;
}

TEST_F(LateJoinerInAProcess, NorWithAnotherInputOfTheTopicInItsGroup) {
  const test::Heard heard;
  lives.clear();
  poison = 0;
  sink_depth = 60;
  std::unique_ptr<Publisher<Reading>> out;
  std::unique_ptr<Runtime> runtime;
  ASSERT_NO_FATAL_FAILURE(start_with_least_memory(domain_, {"sink", "other"}, out, runtime));
  const auto given = [&](const std::string& name) {
    for (const auto& c : runtime->components())
      for (const auto& callback : c->callbacks())
        if (c->name() == name && callback->name() == kLast3.name) return callback->statistics().calls.load();
    return std::uint64_t{0};
  };
  for (std::int64_t i = 1; i <= 5; ++i) {
    out->publish({i});
    ASSERT_TRUE(soon([&] {
      return given("sink") == static_cast<std::uint64_t>(i) && given("other") == static_cast<std::uint64_t>(i);
    }));
  }
  for (int round = 1; round <= 3; ++round) {
    runtime->restart("sink");
    out->publish({5 + round});
    EXPECT_TRUE(soon([&] { return given("sink") == 1 && given("other") == 5U + static_cast<unsigned>(round); }));
  }
  EXPECT_EQ(heard.lines_with({"sink", "/last3", "not the last ones before", "max_memory"}), 3U) << heard.text();
  runtime->stop();
  sink_depth = 8;
}

/// Publishes as fast as it can, while it may.
struct Flood : Component {
  void on_start(Context& context) override {
    out = context.output(kLast3);
    context.timer(50us, [this] {
      if (!paused) out.publish({++count});
    });
  }
  Output<Reading> out;
  std::atomic<std::int64_t> count{0};
  std::atomic<bool> paused{false};
};

TEST_F(LateJoinerInAProcess, AReaderThatComesWhileSamplesArePublishedGetsEachOnce) {
  lives.clear();
  poison = 0;
  sink_depth = 256;
  const auto flood = std::make_shared<Flood>();
  Runtime runtime({.transport = false, .groups = {{.name = "main"}, {.name = "readers"}}});
  runtime.add({.name = "flood"}, flood);
  runtime.add({.name = "sink", .class_name = "LateJoinerSink", .group = "readers"});
  runtime.start();
  for (int round = 0; round < 100; ++round) {
    flood->paused = false;
    runtime.restart("sink");
    ASSERT_TRUE(soon([] { return last_life().size() > 5; }));
    flood->paused = true;
    ASSERT_TRUE(soon([&] { return last_life().back() == flood->count; }));
    const std::vector<std::int64_t> life = last_life();
    for (std::size_t i = 1; i < life.size(); ++i) ASSERT_GT(life[i], life[i - 1]) << "twice, or out of order";
    std::uint64_t counted = 0;
    for (const auto& c : runtime.components().back()->callbacks())
      counted += c->statistics().dropped.load() + c->statistics().missed.load();
    // Samples that were dropped before the first one that came show in no gap.
    const auto given = static_cast<std::uint64_t>(life.back() - life.front()) + 1;
    ASSERT_LE(given, life.size() + counted) << "lost without a report, in round " << round;
  }
  runtime.stop();
  sink_depth = 8;
}

}  // namespace
}  // namespace cardan::late_joiner_test
