// SPDX-License-Identifier: Apache-2.0
// A plain Publisher of a component's own process reaches the components there, once.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "cardan/subscriber.hpp"
#include "src/runtime/executor/log_test.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::plain_publisher_test {
namespace {

using namespace std::chrono_literals;

constexpr Topic<CanFrame> kFrames{"/frames", {.depth = 64}};

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 10000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

struct Reader : Component {
  void on_start(Context& context) override {
    out = context.output(kFrames);
    context.input(kFrames, [this](const Sample<CanFrame>& s) { ++(s->id < 100 ? plain : own); });
  }
  Output<CanFrame> out;
  std::atomic<int> plain{0}, own{0};
};

CanFrame frame(std::uint32_t id) {
  CanFrame f;
  f.id = id;
  return f;
}

class PlainPublisher : public test::OwnRunDirectory {};

TEST_F(PlainPublisher, ReachesTheComponentsOfItsProcess) {
  Publisher<CanFrame> before(kFrames);
  before.publish(frame(1));
  Runtime runtime({.domain = domain_});
  const auto reader = std::make_shared<Reader>();
  runtime.add({.name = "reader"}, reader);
  runtime.start();
  Publisher<CanFrame> after(kFrames);
  after.publish(frame(2));
  reader->out.publish(frame(100));
  EXPECT_TRUE(soon([&] { return reader->plain == 2 && reader->own == 1; }))
      << reader->plain << " plain, " << reader->own << " own";
  Subscriber<CanFrame> outside(kFrames);
  for (std::uint32_t i = 3; i <= 20; ++i) after.publish(frame(i));
  for (std::uint32_t i = 101; i <= 110; ++i) reader->out.publish(frame(i));
  EXPECT_TRUE(soon([&] { return reader->plain == 20 && reader->own == 11; }));
  runtime.stop();
  EXPECT_EQ(reader->plain, 20);
  EXPECT_EQ(reader->own, 11) << "the component's own output reaches it once, not by the transport too";
}

TEST_F(PlainPublisher, OneThatKeepsFewerThanAReaderWantsIsReported) {
  const test::Heard heard;
  constexpr Topic<CanFrame> kShallow{"/shallow", {.depth = 2}};
  Publisher<CanFrame> out(kShallow);
  struct Deep : Component {
    void on_start(Context& context) override {
      context.input(Topic<CanFrame>{"/shallow", {.depth = 2}}, [](const Sample<CanFrame>&) {}, {.depth = 9});
    }
  };
  Runtime runtime({.domain = domain_});
  runtime.add({.name = "deep"}, std::make_shared<Deep>());
  runtime.start();
  EXPECT_TRUE(soon([&] { return heard.lines_with({"/shallow", "keeps the last 2", "requests the last 9"}) == 1; }))
      << heard.text();
  Subscriber<CanFrame> reader(Topic<CanFrame>{"/shallow", {.depth = 5}});
  bool told = false;
  EXPECT_TRUE(soon([&] {
    while (const auto event = reader.event()) told = told || event->kind == Event::Kind::Shallow;
    return told;
  }));
  Subscriber<CanFrame> equal(kShallow);
  while (const auto event = equal.event()) EXPECT_NE(event->kind, Event::Kind::Shallow);
  runtime.stop();
}

TEST_F(PlainPublisher, AnticipateIsReportedAsBlockInAGroup) {
  const test::Heard heard;
  struct Eager : Component {
    void on_start(Context& context) override {
      context.input(Topic<CanFrame>{"/frames", {.waiting = anticipate()}}, [](const Sample<CanFrame>&) {});
    }
  };
  Runtime runtime({.domain = domain_});
  runtime.add({.name = "eager"}, std::make_shared<Eager>());
  runtime.start();
  EXPECT_EQ(heard.lines_with({"eager", "/frames", "anticipate", "spin"}), 1U) << heard.text();
  runtime.stop();
}

}  // namespace
}  // namespace cardan::plain_publisher_test
