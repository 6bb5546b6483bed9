// SPDX-License-Identifier: Apache-2.0
// One client without sockets: answers that it does not read are bounded, and stuck clients hold few slots.
#include "src/bridge/foxglove/viewer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cardan/detail/message_type.hpp"
#include "cardan/messages/clock.hpp"

namespace cardan::bridge::foxglove {
namespace {

class Line final : public Connection {
 public:
  [[nodiscard]] bool is_busy() const noexcept override { return busy; }
  void send(bool binary, const Parts& parts) override {
    if (no_memory) throw std::bad_alloc();
    busy = true;
    was_binary = binary;
    last.clear();
    for (const auto part : parts)
      for (const std::byte b : part) last += static_cast<char>(b);
    first_part = parts[1].data();
  }
  void pause() override { paused = true; }
  void resume() override { paused = false; }
  void give_up() noexcept override { given_up = true; }
  [[nodiscard]] const std::string& peer() const noexcept override { return last; }
  [[nodiscard]] bool is_ours() const noexcept override { return ours; }
  bool ours = true;
  bool busy = false, was_binary = false, paused = false, no_memory = false, given_up = false;
  std::string last;
  const std::byte* first_part = nullptr;
};

class Bridge final : public Hub {
 public:
  Bridge()
      : only({.id = 1, .topic = "/t"}, OutgoingTopic({.name = "/t",
                                                      .type = detail::message_type_of<Clock>().name,
                                                      .schema = detail::message_type_of<Clock>().schema,
                                                      .type_hash = detail::message_type_of<Clock>().hash},
                                                     {}, {})) {}
  Channel* channel(std::uint32_t id) override { return id == 1 && !is_gone ? &only : nullptr; }
  void subscribe(Viewer& viewer, Channel& channel) override { channel.viewers.insert(&viewer); }
  void unsubscribe(Viewer& viewer, std::uint32_t) override { only.viewers.erase(&viewer); }
  void ready(Channel&) override { ++readies; }
  Incoming* advertise(const Advertise::Channel&, std::string& why) override {
    why = "no";
    return nullptr;
  }
  void unadvertise(Incoming&) noexcept override {}
  bool ask(Inquirer::Question) override { return ++questions <= 1'000; }
  [[nodiscard]] bool may_set_parameters() const override { return false; }
  [[nodiscard]] std::shared_ptr<const Look> look() const override { return nullptr; }
  void wants_changed() override {}
  void gone(Viewer& viewer) noexcept override { only.viewers.erase(&viewer); }
  Channel only;
  bool is_gone = false;
  int questions = 0, readies = 0;
};

FramePtr large_frame() {
  auto frame = std::make_shared<OutgoingFrame>();
  frame->cdr.prefix.resize(2 * kSmallBytes);
  return frame;
}

constexpr const char* kSubscribe = R"({"op":"subscribe","subscriptions":[{"id":5,"channelId":1}]})";

TEST(FoxgloveViewer, AChannelThatIsAdvertisedAgainAndGoneIsNotLookedAt) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  const auto client_reads = [&] {
    while (line.busy) {
      line.busy = false;
      viewer.sent();
    }
  };
  viewer.advertise(bridge.only);
  viewer.flush();
  client_reads();
  EXPECT_NE(line.last.find(R"("op":"advertise")"), std::string::npos) << line.last;
  viewer.advertise(bridge.only);
  viewer.unadvertise(1);
  bridge.is_gone = true;
  viewer.flush();
  client_reads();
  EXPECT_NE(line.last.find(R"("op":"unadvertise")"), std::string::npos) << line.last;
}

TEST(FoxgloveViewer, AnswersThatAreNotReadStopTheReading) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  int requests = 0;
  for (; !line.paused && requests < 100'000; ++requests) viewer.text("nonsense");
  EXPECT_LT(requests, 100'000);
  while (line.busy) {
    line.busy = false;
    viewer.sent();
  }
  EXPECT_FALSE(line.paused) << "it has read them";
}

TEST(FoxgloveViewer, OneTextHasFewAnswers) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += std::string(i == 0 ? "" : ",") + R"({"id":1,"channelId":99})";
  viewer.text(R"({"op":"subscribe","subscriptions":[)" + many + "]}");
  int answers = -1;  // the first one describes the server
  std::string last;
  for (; line.busy; ++answers) {
    last = line.last;
    line.busy = false;
    viewer.sent();
  }
  EXPECT_LE(answers, 20);
  EXPECT_NE(last.find("4984 more problems"), std::string::npos) << last;
}

TEST(FoxgloveViewer, TopicsOfTheirOwnerAreNotThereForOtherUsers) {
  Bridge bridge;
  bridge.only.is_owners = true;
  for (const bool ours : {true, false}) {
    Line line;
    line.ours = ours;
    Viewer viewer(1, bridge, line, {});
    viewer.advertise(bridge.only);
    viewer.text(kSubscribe);  // as another client guesses the number
    EXPECT_EQ(bridge.only.viewers.size(), ours ? 1U : 0U);
    std::string all;
    for (; line.busy; viewer.sent()) {
      all += line.last;
      line.busy = false;
    }
    EXPECT_EQ(all.find("\"/t\"") != std::string::npos, ours) << all;
    EXPECT_EQ(all.find("access 'owner'") != std::string::npos, !ours) << all;
    EXPECT_EQ(all.find("Channel 1 does not exist") != std::string::npos, !ours) << all;
  }
}

TEST(FoxgloveViewer, FewNamesOfParametersAreRemembered) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  std::string names;
  for (int i = 0; i < 30'000; ++i) names += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  viewer.text(R"({"op":"subscribeParameterUpdates","parameterNames":[)" + names + "]}");
  EXPECT_FALSE(viewer.wants_parameters());
  viewer.text(R"({"op":"subscribeParameterUpdates","parameterNames":["a","b"]})");
  EXPECT_TRUE(viewer.wants_parameters());
}

TEST(FoxgloveViewer, WithoutMemoryForAMessageItGivesUpItsConnection) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  viewer.text(kSubscribe);
  line.busy = false;
  viewer.sent();
  line.busy = false;
  viewer.offer(bridge.only, large_frame());
  EXPECT_FALSE(line.given_up);
  line.no_memory = true;
  viewer.flush();  // as the bridge calls it for one client after the other
  EXPECT_TRUE(line.given_up);
}

TEST(FoxgloveViewer, MessagesThatASlowClientSkipsAreCountedAfterTheWallClockWasSetBack) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  bridge.only.opened_ns = 1000;  // the steady clock's
  viewer.text(kSubscribe);
  const auto frame = [](std::int64_t steady_ns) {
    auto one = std::make_shared<OutgoingFrame>();
    one->steady_ns = steady_ns;
    one->publish_ns = 5;  // by the wall clock, which was set back meanwhile
    return one;
  };
  for (int i = 0; i < 200; ++i) viewer.offer(bridge.only, frame(999));
  EXPECT_EQ(bridge.only.out.counts().lost, 0U) << "from before";
  for (int i = 0; i < 50; ++i) viewer.offer(bridge.only, frame(1000 + i));
  EXPECT_EQ(bridge.only.out.counts().lost, 50U);
}

TEST(FoxgloveViewer, FewQuestionsWaitAtOnce) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  for (int i = 0; i < 100; ++i) viewer.text(R"({"op":"getParameters","parameterNames":[]})");
  EXPECT_EQ(bridge.questions, 8);
  viewer.answered();
  viewer.text(R"({"op":"getParameters","parameterNames":[]})");
  EXPECT_EQ(bridge.questions, 9);
}

TEST(FoxgloveViewer, APageGetsAPreviewWhenItIsReady) {
  Bridge bridge;
  Line line;
  bridge.only.info.type = "sensor_msgs/msg/PointCloud2";
  Viewer viewer(1, bridge, line, {});
  line.busy = false;
  viewer.text(R"({"op":"subscribe","subscriptions":[{"id":5,"channelId":1,"preview":"points","most":4}]})");
  Viewer::Wish* const wish = viewer.wish(1);
  ASSERT_NE(wish, nullptr);
  EXPECT_EQ(wish->preview.most, 5'000U);
  EXPECT_TRUE(wish->ready);
  line.busy = false;
  viewer.sent();
  wish->ready = false;
  viewer.offer(bridge.only, large_frame());
  viewer.flush();
  ASSERT_TRUE(line.was_binary);
  EXPECT_EQ(line.last[0], '\x80') << "not a message of Foxglove's protocol";
  EXPECT_TRUE(bridge.only.under_way.empty()) << "it holds no slot";
  viewer.text(R"({"op":"cardanReady","subscriptionIds":[6]})");
  EXPECT_FALSE(wish->ready) << "another subscription";
  viewer.text(R"({"op":"cardanReady","subscriptionIds":[5,5]})");
  EXPECT_TRUE(wish->ready);
  EXPECT_EQ(bridge.readies, 2);
  viewer.text(R"({"op":"unsubscribe","subscriptionIds":[5]})");
  EXPECT_EQ(viewer.wish(1), nullptr);
}

TEST(FoxgloveViewer, APreviewThatTheTypeDoesNotHaveIsRefused) {
  Bridge bridge;
  Line line;
  Viewer viewer(1, bridge, line, {});
  for (const char* preview : {R"("points","most":1)", R"("movie","most":1)", R"("points")", R"(7,"most":1)"})
    viewer.text(std::string(R"({"op":"subscribe","subscriptions":[{"id":5,"channelId":1,"preview":)") + preview +
                "}]}");
  EXPECT_EQ(viewer.wish(1), nullptr);
  EXPECT_TRUE(bridge.only.viewers.empty());
}

TEST(FoxgloveViewer, ClientsBeyondTwoGetACopyOfOlderMessages) {
  Bridge bridge;
  constexpr std::size_t kClients = 6;
  std::vector<Line> lines(kClients);
  std::vector<std::unique_ptr<Viewer>> viewers;
  std::vector<std::weak_ptr<const OutgoingFrame>> frames;
  for (std::size_t i = 0; i < kClients; ++i) {
    viewers.push_back(std::make_unique<Viewer>(i, bridge, lines[i], ServerInfo{}));
    viewers[i]->text(kSubscribe);
    viewers[i]->flush();
    lines[i].busy = false;
    viewers[i]->sent();
    FramePtr frame = large_frame();
    frames.push_back(frame);
    viewers[i]->offer(bridge.only, frame);
    viewers[i]->flush();  // each has another message under way, and gets no further
    EXPECT_TRUE(lines[i].was_binary);
    EXPECT_EQ(lines[i].last.size(), 13 + 2 * kSmallBytes);
  }
  const auto held = std::count_if(frames.begin(), frames.end(), [](const auto& frame) { return !frame.expired(); });
  EXPECT_EQ(held, static_cast<std::ptrdiff_t>(kByReference));
  EXPECT_EQ(bridge.only.out.counts().carried, kClients);
  EXPECT_EQ(bridge.only.out.counts().copied, (kClients - kByReference) * 2 * kSmallBytes + kClients * 2 * kSmallBytes);
  viewers.clear();
  EXPECT_TRUE(bridge.only.under_way.empty());
  EXPECT_TRUE(frames.front().expired());
}

}  // namespace
}  // namespace cardan::bridge::foxglove
