// SPDX-License-Identifier: Apache-2.0
// Objects with a codec, for readers of other processes: here runtimes of their own, which meet through the transport.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/publisher.hpp"
#include "cardan/subscriber.hpp"
#include "src/runtime/executor/log_test.hpp"
#include "src/runtime/runtime.hpp"
#include "src/transport/endpoint/stream.hpp"
#include "tests/support/run_directory.hpp"

namespace outside {
/// "bad" cannot be decoded.
struct Words {
  std::string text;
};
struct Number {
  std::int64_t value = 0;
};
}  // namespace outside

CARDAN_MESSAGE(outside::Number, "test_msgs/msg/OutsideNumber", value);

template <>
struct cardan::codec<outside::Words> {
  static std::string type_name() { return "test/Words"; }
  static std::string schema() { return ""; }
  static bool encode(const outside::Words& words, std::vector<std::byte>& to) {
    to.resize(words.text.size());
    std::memcpy(to.data(), words.text.data(), words.text.size());
    return true;
  }
  static bool decode(std::span<const std::byte> bytes, outside::Words& words) {
    words.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return words.text != "bad";
  }
};

namespace cardan::object_outside_test {
namespace {

using namespace std::chrono_literals;
using outside::Words;

constexpr Topic<Words> kWords{"/words", {.depth = 2}};
constexpr Topic<Words> kMany{"/words", {.depth = 64}};

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

struct WordsWriter : Component {
  explicit WordsWriter(Topic<Words> topic = kWords) : on(topic) {}
  void on_start(Context& context) override {
    out = context.output(on);
    for (const std::string& text : at_start) out.publish(Words{text});
  }
  Topic<Words> on;
  std::vector<std::string> at_start;
  Output<Words> out;
};

struct WordsReader : Component {
  explicit WordsReader(Topic<Words> topic = kWords) : on(topic) {}
  void on_start(Context& context) override {
    context.input(on, [this](const Sample<Words>& s) {
      const std::lock_guard lock(mutex);
      heard.push_back(s->text);
      numbers.push_back(s.sequence());
    });
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex);
    return heard;
  }
  Topic<Words> on;
  std::mutex mutex;
  std::vector<std::string> heard;
  std::vector<std::uint64_t> numbers;
};

class ObjectOutside : public test::OwnRunDirectory {
 protected:
  std::unique_ptr<Runtime> run(std::shared_ptr<Component> component) {
    auto runtime = std::make_unique<Runtime>(RuntimeOptions{.domain = domain_});
    runtime->add({.name = "one"}, std::move(component));
    runtime->start();
    return runtime;
  }
  static const CallbackStatistics& input_of(const Runtime& runtime) {
    for (const auto& c : runtime.components().front()->callbacks())
      if (c->name() == kWords.name) return c->statistics();
    throw std::runtime_error("no input");
  }
};

TEST_F(ObjectOutside, ALateReaderGetsTheLastDepth) {
  const auto writer = std::make_shared<WordsWriter>();
  writer->at_start = {"one", "two", "three"};
  const auto there = run(writer);
  const auto reader = std::make_shared<WordsReader>();
  const auto here = run(reader);
  EXPECT_TRUE(soon([&] { return reader->all() == std::vector<std::string>({"two", "three"}); }));
  writer->out.publish(Words{"four"});
  EXPECT_TRUE(soon([&] { return reader->all() == std::vector<std::string>({"two", "three", "four"}); }));
  const std::lock_guard lock(reader->mutex);
  EXPECT_EQ(reader->numbers, std::vector<std::uint64_t>({2, 3, 4})) << "what nobody read is numbered too";
}

TEST_F(ObjectOutside, AReturningReaderGetsTheNewestAndNothingStale) {
  const auto writer = std::make_shared<WordsWriter>();
  const auto there = run(writer);
  {
    const auto reader = std::make_shared<WordsReader>();
    const auto here = run(reader);
    writer->out.publish(Words{"old 1"});
    writer->out.publish(Words{"old 2"});
    ASSERT_TRUE(soon([&] { return reader->all().size() == 2; }));
  }
  for (int i = 1; i <= 5; ++i) writer->out.publish(Words{"new " + std::to_string(i)});
  const auto reader = std::make_shared<WordsReader>();
  const auto here = run(reader);
  ASSERT_TRUE(soon([&] { return reader->all().size() >= 2; }));
  EXPECT_EQ(reader->all(), std::vector<std::string>({"new 4", "new 5"}));
}

TEST_F(ObjectOutside, AMessageThatDoesNotFitIsReportedOnceAndOthersHaveIt) {
  const test::Heard heard;
  const auto writer = std::make_shared<WordsWriter>(Topic<Words>{kWords.name, {.max_bytes = 64, .depth = 2}});
  const auto there = run(writer);
  EXPECT_FALSE(writer->out.publish(Words{std::string(65, 'x')})) << "somebody outside may come later";
  EXPECT_FALSE(writer->out.publish(Words{std::string(65, 'x')}));
  EXPECT_TRUE(writer->out.publish(Words{"fits"}));
  EXPECT_EQ(heard.lines_with({"/words", "64 bytes", "could not be encoded", "max_bytes"}), 1U) << heard.text();
}

TEST_F(ObjectOutside, MessagesThatCannotBeDecodedAreCountedAndReportedOnce) {
  const test::Heard heard;
  const auto writer = std::make_shared<WordsWriter>(kMany);
  const auto there = run(writer);
  const auto reader = std::make_shared<WordsReader>(kMany);
  const auto here = run(reader);
  for (const char* text : {"one", "bad", "bad", "two", "bad", "three"}) writer->out.publish(Words{text});
  ASSERT_TRUE(soon([&] { return reader->all().size() == 3; }));
  EXPECT_EQ(reader->all(), std::vector<std::string>({"one", "two", "three"}));
  EXPECT_EQ(input_of(*here).missed.load(), 3U);
  EXPECT_EQ(heard.lines_with({"/words", "cannot be decoded", "test/Words"}), 1U) << heard.text();
}

// The cause in a slot is for other processes. They cannot find an object, or a sample of a private topic.
using outside::Number;

constexpr Topic<Number> kCamera{"/camera", {.depth = 8}}, kCommand{"/command", {.depth = 8}};
constexpr Topic<Number> kInner{"/inner", {.process_private = true}};

/// Hands on each picture as words, and as a number on a private topic.
struct Maker : Component {
  explicit Maker(Topic<Words> topic) : on(topic) {}
  void on_start(Context& context) override {
    words = context.output(on);
    inner = context.output(kInner);
    context.input(kCamera, [this](const Sample<Number>& picture) {
      if (picture->value < 0) {
        inner.publish({picture->value});
      } else {
        words.publish(Words{std::string(static_cast<std::size_t>(picture->value), 'x')});
      }
    });
  }
  Topic<Words> on;
  Output<Words> words;
  Output<Number> inner;
};

/// Answers both.
struct User : Component {
  explicit User(Topic<Words> topic) : on(topic) {}
  void on_start(Context& context) override {
    out = context.output(kCommand);
    context.input(on, [this](const Sample<Words>&) { out.publish({1}); });
    context.input(kInner, [this](const Sample<Number>&) { out.publish({2}); });
  }
  Topic<Words> on;
  Output<Number> out;
};

class SharedCause : public test::OwnRunDirectory {
 protected:
  using Cause = std::pair<std::uint64_t, std::uint64_t>;
  void start(Topic<Words> words) {
    runtime_.add({.name = "maker"}, std::make_shared<Maker>(words));
    runtime_.add({.name = "user"}, std::make_shared<User>(words));
    runtime_.start();
    ASSERT_TRUE(soon([&] { return camera_.subscribers() == 2 && commands_.publishers() == 1; }));
  }
  /// Stream and sequence of a picture, and of the cause of the command that follows from it.
  std::pair<Cause, Cause> drive(std::int64_t value) {
    camera_.publish({value});
    const auto picture = pictures_.wait(30s);
    const auto command = commands_.wait(30s);
    EXPECT_TRUE(picture && command);
    if (!picture || !command) return {};
    const detail::SampleBlock& block = *detail::block_of(command);
    const layout::SlotMeta& meta = block.stream->meta(block.slot);
    return {{detail::block_of(picture)->stream_id, picture.sequence()},
            {meta.cause_stream.load(), meta.cause_sequence.load()}};
  }
  Publisher<Number> camera_{kCamera};
  Subscriber<Number> pictures_{kCamera}, commands_{kCommand};
  Runtime runtime_{{.domain = domain_}};
};

TEST_F(SharedCause, IsWhatAPrivateSampleRestsOn) {
  start({kWords.name, {.process_private = true}});
  for (const std::int64_t value : {3, -1, 4, -2}) {
    const auto [picture, cause] = drive(value);
    EXPECT_EQ(cause, picture) << value;
  }
}

TEST_F(SharedCause, IsAnObjectIfOthersCanFindIt) {
  start({kWords.name, {.max_bytes = 64, .depth = 2}});
  const auto [first, encoded] = drive(3);
  EXPECT_NE(encoded.first, first.first);
  EXPECT_EQ(encoded.second, 1U);
  const auto [second, too_large] = drive(65);
  EXPECT_EQ(too_large, second) << "nobody else has the object between";
  EXPECT_EQ(drive(3).second, (Cause{encoded.first, 2})) << "the number that others know it by";
}

}  // namespace
}  // namespace cardan::object_outside_test
