// SPDX-License-Identifier: Apache-2.0
// The right to control a recording, and the contents of a request.
#include "src/bridge/foxglove/playback.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "src/bridge/foxglove/viewer.hpp"

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

/// As Foxglove sends it.
std::vector<std::byte> request_bytes(unsigned command, float speed, bool seeks, std::uint64_t seek,
                                     const std::string& id, std::size_t length = std::string::npos) {
  std::vector<std::byte> bytes(19 + id.size());
  bytes[0] = std::byte{3};
  bytes[1] = static_cast<std::byte>(command);
  std::memcpy(&bytes[2], &speed, 4);
  bytes[6] = static_cast<std::byte>(seeks);
  std::memcpy(&bytes[7], &seek, 8);
  const auto said = static_cast<std::uint32_t>(length == std::string::npos ? id.size() : length);
  std::memcpy(&bytes[15], &said, 4);
  std::memcpy(bytes.data() + 19, id.data(), id.size());
  return bytes;
}

TEST(FoxglovePlayback, RequestsAreThoseOfTheProtocol) {
  const auto request = parse_playback(request_bytes(0, 1.5, true, 100'500'000'000, "some-id"));
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->plays);
  EXPECT_EQ(request->speed, 1.5F);
  EXPECT_EQ(request->seek_ns, 100'500'000'000);
  EXPECT_EQ(request->id, "some-id");
  const auto pause = parse_playback(request_bytes(1, 1, false, 7, ""));
  ASSERT_TRUE(pause);
  EXPECT_FALSE(pause->plays);
  EXPECT_FALSE(pause->seek_ns);
  EXPECT_EQ(parse_playback(request_bytes(1, 1, true, UINT64_MAX, ""))->seek_ns, INT64_MAX);
}

TEST(FoxglovePlayback, ImpossibleRequestsAreRefused) {
  for (const float speed : {0.0F, -1.0F, 1e-3F, 101.0F, std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_FALSE(parse_playback(request_bytes(0, speed, false, 0, "x"))) << speed;
  EXPECT_FALSE(parse_playback(request_bytes(2, 1, false, 0, "x"))) << "no command";
  EXPECT_FALSE(parse_playback(request_bytes(0, 1, false, 0, "x", 2))) << "longer than it is";
  EXPECT_FALSE(parse_playback(request_bytes(0, 1, false, 0, "x", UINT32_MAX)));
  EXPECT_FALSE(parse_playback(request_bytes(0, 1, false, 0, std::string(257, 'x')))) << "it is sent back";
  const auto good = request_bytes(0, 1, true, 5, "id");
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) EXPECT_FALSE(parse_playback(std::span(good).first(bytes)));
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = good;
    for (int n = 0; n < 3; ++n) bytes[1 + random() % (bytes.size() - 1)] = static_cast<std::byte>(random());
    const auto request = parse_playback(bytes);
    EXPECT_TRUE(!request || (request->speed >= kLeastSpeed && request->speed <= kMostSpeed && request->id.size() <= 2));
  }
}

TEST(FoxglovePlayback, AnswersAreThoseOfTheProtocol) {
  const auto message =
      playback_message({.status = PlaybackStatus::Ended, .time_ns = 0x0102030405060708, .speed = 1}, true, "ab");
  const std::vector<unsigned> expected{5, 3, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0x80, 0x3f, 1, 2, 0, 0, 0, 'a', 'b'};
  ASSERT_EQ(message.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(static_cast<unsigned>(message[i]), expected[i]) << i;
  const json info =
      json::parse(server_info_text({.name = "n", .session = "s", .playback = {{1'500'000'000, 9'000'000'001}}}));
  EXPECT_EQ(info["dataStartTime"], json::parse(R"({"sec":1,"nsec":500000000})"));
  EXPECT_EQ(info["dataEndTime"], json::parse(R"({"sec":9,"nsec":1})"));
  const auto& can = info["capabilities"];
  EXPECT_NE(std::find(can.begin(), can.end(), "playbackControl"), can.end());
  EXPECT_FALSE(json::parse(server_info_text({})).contains("dataStartTime"));
  EXPECT_EQ(json::parse(recording_text(R"({"a":1})")), json::parse(R"({"op":"cardanRecording","recording":{"a":1}})"));
}

TEST(FoxglovePlayback, StepsHaveALimit) {
  EXPECT_EQ(std::get<Step>(parse_request(R"({"op":"cardanStep","messages":3})")).messages, 3U);
  for (const char* text :
       {R"({"op":"cardanStep"})", R"({"op":"cardanStep","messages":0})", R"({"op":"cardanStep","messages":1001})",
        R"({"op":"cardanStep","messages":-1})", R"({"op":"cardanStep","messages":"1"})"})
    EXPECT_TRUE(std::holds_alternative<Malformed>(parse_request(text))) << text;
}

class Drive final : public Playback {
 public:
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] std::int64_t start_ns() const noexcept override { return 0; }
  [[nodiscard]] std::int64_t end_ns() const noexcept override { return 100; }
  [[nodiscard]] const std::string& contents() const noexcept override { return name_; }
  [[nodiscard]] PlaybackState state() const override { return now; }
  void play(bool again) override {
    if (again && now.status == PlaybackStatus::Ended) now.time_ns = 0;
    now.status = PlaybackStatus::Playing;
  }
  void pause() override { now.status = PlaybackStatus::Paused; }
  void step(std::uint32_t messages) override { steps += messages; }
  void seek(std::int64_t time_ns) override { now.time_ns = time_ns; }
  void set_speed(float speed) override { now.speed = speed; }
  void check() const override {}
  [[nodiscard]] bool finish() override { return true; }
  PlaybackState now;
  std::uint32_t steps = 0;

 private:
  std::string name_ = "drive";
};

class PlaybackLine final : public Connection {
 public:
  [[nodiscard]] bool is_busy() const noexcept override { return busy; }
  void send(bool, const Parts& parts) override {
    busy = true;
    last.clear();
    for (const auto part : parts) last.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  void pause() override {}
  void resume() override {}
  void give_up() noexcept override {}
  [[nodiscard]] const std::string& peer() const noexcept override { return last; }
  [[nodiscard]] bool is_ours() const noexcept override { return ours; }
  bool ours = true, busy = false;
  std::string last;
};

class PlaybackBridge final : public Hub {
 public:
  Channel* channel(std::uint32_t) override { return nullptr; }
  void subscribe(Viewer&, Channel&) override {}
  void unsubscribe(Viewer&, std::uint32_t) override {}
  void ready(Channel&) override {}
  Incoming* advertise(const Advertise::Channel&, std::string&) override { return nullptr; }
  void unadvertise(Incoming&) noexcept override {}
  bool ask(Inquirer::Question) override { return false; }
  [[nodiscard]] bool may_set_parameters() const override { return false; }
  [[nodiscard]] std::shared_ptr<const Look> look() const override { return nullptr; }
  void wants_changed() override {}
  void gone(Viewer&) noexcept override {}
  [[nodiscard]] Playback* playback() override { return plays ? &drive : nullptr; }
  void played_otherwise(Viewer& viewer, bool did_seek, const std::string& request) override {
    viewer.playback(drive.now, did_seek, request);
  }
  Drive drive;
  bool plays = true;
};

/// All that waits for it.
std::vector<std::string> read_all(Viewer& viewer, PlaybackLine& line) {
  std::vector<std::string> all;
  viewer.flush();
  for (; line.busy; viewer.sent()) {
    all.push_back(line.last);
    line.busy = false;
  }
  return all;
}

TEST(FoxglovePlayback, ClientsOfItsUserControlIt) {
  PlaybackBridge bridge;
  PlaybackLine line;
  Viewer viewer(1, bridge, line, {});
  read_all(viewer, line);
  viewer.binary(request_bytes(0, 2, true, 50, "q1"));
  EXPECT_EQ(bridge.drive.now, (PlaybackState{PlaybackStatus::Playing, 50, 2}));
  const auto answers = read_all(viewer, line);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].substr(0, 2), std::string("\5\0", 2));
  EXPECT_EQ(answers[0].substr(14), std::string("\1\2\0\0\0q1", 7)) << "it sought, and the client that asked knows it";
  viewer.text(R"({"op":"cardanStep","messages":2})");
  EXPECT_EQ(bridge.drive.steps, 2U);
  bridge.drive.now.status = PlaybackStatus::Ended;
  viewer.binary(request_bytes(0, 2, true, 100, ""));
  EXPECT_EQ(bridge.drive.now.time_ns, 100) << "a seek to the end does not begin again";
  bridge.drive.now.status = PlaybackStatus::Ended;
  viewer.binary(request_bytes(0, 2, false, 0, ""));
  EXPECT_EQ(bridge.drive.now.time_ns, 0);
  read_all(viewer, line);
  viewer.binary(request_bytes(0, -1, false, 0, "q2"));
  EXPECT_EQ(bridge.drive.now.speed, 2);
  const auto after = read_all(viewer, line);
  ASSERT_FALSE(after.empty());
  EXPECT_NE(after.back().find("malformed"), std::string::npos) << after.back();
}

TEST(FoxglovePlayback, ClientsOfOthersDoNot) {
  PlaybackBridge bridge;
  for (const bool plays : {true, false}) {
    bridge.plays = plays;
    PlaybackLine line;
    line.ours = !plays;
    Viewer viewer(1, bridge, line, {});
    read_all(viewer, line);
    for (int i = 0; i < 1'000; ++i) {
      viewer.binary(request_bytes(0, 2, true, 50, "q"));
      viewer.text(R"({"op":"cardanStep","messages":2})");
    }
    EXPECT_EQ(bridge.drive.now, PlaybackState{});
    EXPECT_EQ(bridge.drive.steps, 0U);
    const auto answers = read_all(viewer, line);
    ASSERT_EQ(answers.size(), 1U) << "it is told once";
    EXPECT_NE(answers[0].find(plays ? "Only clients of the user" : "plays no recording"), std::string::npos);
  }
}

TEST(FoxglovePlayback, AnswersThatAreNotReadAreOne) {
  PlaybackBridge bridge;
  PlaybackLine line;
  Viewer viewer(1, bridge, line, {});
  read_all(viewer, line);
  line.busy = true;  // it reads nothing
  for (int i = 0; i < 10'000; ++i)
    viewer.binary(request_bytes(0, 1, i == 0, static_cast<std::uint64_t>(i), "q" + std::to_string(i)));
  const auto answers = read_all(viewer, line);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].substr(14, 1), "\1") << "that it sought is not forgotten";
  EXPECT_EQ(answers[1].substr(19), "q9999");
}

}  // namespace
}  // namespace cardan::bridge::foxglove
