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
#include <vector>

#include "src/runtime/executor/log_test.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/run_directory.hpp"

namespace outside {
/// "bad" cannot be decoded.
struct Words {
  std::string text;
};
}  // namespace outside

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

}  // namespace
}  // namespace cardan::object_outside_test
