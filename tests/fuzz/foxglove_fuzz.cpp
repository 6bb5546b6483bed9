// SPDX-License-Identifier: Apache-2.0
// A client of the Foxglove bridge that says anything, in texts and binary messages, reads when it likes, and publishes.
// Must hold: each answer can be read, the data that waits for it is bounded, and nothing stays when it has gone.
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cardan/detail/message_type.hpp"
#include "cardan/error.hpp"
#include "cardan/messages/clock.hpp"
#include "src/bridge/foxglove/viewer.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::foxglove_target {
namespace {

using namespace bridge;
using namespace bridge::foxglove;

class Line final : public Connection {
 public:
  [[nodiscard]] bool is_busy() const noexcept override { return busy; }
  void send(bool binary, const Parts& parts) override {
    require(!busy, "two messages at once");
    busy = true;
    std::string all;
    for (const auto part : parts) all.append(reinterpret_cast<const char*>(part.data()), part.size());
    if (!binary) {
      const auto text = nlohmann::json::parse(all, nullptr, false);
      require(text.is_object() && text.contains("op"), "a text that nobody can read");
      bytes += all.size();
    } else {
      const bool is_state = all[0] == 5 && all.size() >= 19 && all.size() <= 19 + 256;
      require(all.size() >= 9 && (all[0] == 1 || all[0] == 2 || is_state || all[0] == '\x80'), "a message of no kind");
    }
  }
  void pause() override { paused = true; }
  void resume() override { paused = false; }
  void give_up() noexcept override { given_up = true; }
  [[nodiscard]] const std::string& peer() const noexcept override { return name; }
  [[nodiscard]] bool is_ours() const noexcept override { return true; }
  bool busy = false, paused = false, given_up = false;
  std::size_t bytes = 0;  ///< of texts
  std::string name = "127.0.0.1:1";
};

/// A recording that is told what no player can do says so.
class FuzzPlayback final : public Playback {
 public:
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] std::int64_t start_ns() const noexcept override { return 0; }
  [[nodiscard]] std::int64_t end_ns() const noexcept override { return 100; }
  [[nodiscard]] const std::string& contents() const noexcept override { return name_; }
  [[nodiscard]] PlaybackState state() const override { return {}; }
  void play(bool) override {}
  void pause() override {}
  void step(std::uint32_t messages) override { require(messages >= 1 && messages <= 1000, "steps without a bound"); }
  void seek(std::int64_t time_ns) override { require(time_ns >= 0, "a time before 1970"); }
  void set_speed(float speed) override { require(speed >= kLeastSpeed && speed <= kMostSpeed, "no speed"); }
  void check() const override {}
  [[nodiscard]] bool finish() override { return true; }

 private:
  std::string name_ = "drive";
};

OutgoingTopic topic_of(const std::string& name) {
  const AnyMessageType& type = detail::message_type_of<Clock>();
  return {{.name = name, .type = type.name, .schema = type.schema, .type_hash = type.hash}, {}, {}};
}

class Bridge final : public Hub {
 public:
  Bridge() {
    const std::array types{"rosgraph_msgs/msg/Clock", "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"};
    for (std::uint32_t id = 1; id <= types.size(); ++id) {
      const std::string name = "/t" + std::to_string(id);
      channels.try_emplace(id, ChannelInfo{.id = id, .topic = name, .type = types.at(id - 1)}, topic_of(name))
          .first->second.depth = 2;
    }
  }
  Channel* channel(std::uint32_t id) override {
    const auto it = channels.find(id);
    return it == channels.end() ? nullptr : &it->second;
  }
  void subscribe(Viewer& viewer, Channel& channel) override { channel.viewers.insert(&viewer); }
  void unsubscribe(Viewer& viewer, std::uint32_t id) override {
    if (Channel* const there = channel(id)) there->viewers.erase(&viewer);
  }
  void ready(Channel&) override {}
  Incoming* advertise(const Advertise::Channel& wish, std::string& why) override {
    if (!wish.topic.starts_with("/in") || incoming.size() >= 4) {
      why = "no";
      return nullptr;
    }
    try {
      const std::string schema = wish.schema.empty() ? "float64 x\nstring name\n" : wish.schema;
      const auto [it, is_new] = incoming.try_emplace(
          wish.topic, IncomingTopic(wish.topic, wish.topic, AnyType::of_definition(wish.type, schema), kRule, {}),
          4096);
      if (!is_new) why = "taken";
      return is_new ? &it->second : nullptr;
    } catch (const Error& e) {
      why = e.what();
      return nullptr;
    }
  }
  void unadvertise(Incoming& gone) noexcept override {
    std::erase_if(incoming, [&](const auto& one) { return &one.second == &gone; });
  }
  bool ask(Inquirer::Question) override { return ++questions <= 64; }
  [[nodiscard]] bool may_set_parameters() const override { return true; }
  [[nodiscard]] std::shared_ptr<const Look> look() const override { return shown; }
  void wants_changed() override {}
  void gone(Viewer& viewer) noexcept override {
    for (auto& [id, channel] : channels) channel.viewers.erase(&viewer);
  }
  [[nodiscard]] Playback* playback() override { return &drive; }
  void played_otherwise(Viewer& viewer, bool did_seek, const std::string& request) override {
    require(request.size() <= 256, "a name without a bound");
    viewer.playback(drive.state(), did_seek, request);
  }

  const TopicRule kRule{.max_bytes = 4096};
  FuzzPlayback drive;
  std::map<std::uint32_t, Channel> channels;
  std::map<std::string, Incoming> incoming;
  std::shared_ptr<const Look> shown = std::make_shared<Look>();
  int questions = 0;
};

FramePtr frame_of(std::size_t bytes) {
  auto frame = std::make_shared<OutgoingFrame>();
  frame->cdr.prefix.resize(bytes);
  return frame;
}

/// One line is one thing that happens; its first letter says what.
void happen(std::string_view line, Viewer& viewer, Line& connection, Bridge& bridge) {
  const char what = line.empty() ? 't' : line.front();
  const std::string_view rest = line.substr(std::min<std::size_t>(1, line.size()));
  const auto id = static_cast<std::uint32_t>(rest.empty() ? 1 : static_cast<unsigned char>(rest[0]) % 4);
  if (what == 'r') {  // it has read
    if (!connection.busy) return;
    connection.busy = false;
    viewer.sent();
  } else if (what == 'm') {  // a message of a channel
    Channel* const channel = bridge.channel(id);
    if (channel == nullptr || !channel->viewers.contains(&viewer)) return;
    viewer.offer(*channel, frame_of(rest.size() > 1 ? 2 * kSmallBytes : 100));
    viewer.flush();
  } else if (what == 'a') {
    if (const Channel* const channel = bridge.channel(id)) viewer.advertise(*channel);
    viewer.flush();
  } else if (what == 'g') {  // a channel goes
    viewer.unadvertise(id);
    viewer.flush();
    bridge.channels.erase(id);
  } else if (what == 'p') {
    if (viewer.wants_parameters())
      viewer.parameters(std::make_shared<Parameters>(Parameters{{std::string(rest), true}}));
    viewer.answered();
  } else if (connection.paused) {  // the server reads nothing more from it
    return;
  } else if (what == 'b') {
    if (rest.size() <= viewer.most_binary_bytes()) viewer.binary(std::as_bytes(std::span(rest)));
  } else {
    viewer.text(rest);
  }
}

void run(std::string_view input) {
  static const std::string domain = run_domain("foxglove");
  Bridge bridge;
  Line connection;
  {
    Viewer viewer(1, bridge, connection, {.name = "fuzz", .session = "1", .time = true});
    Input lines(input);
    while (!lines.empty()) happen(lines.until('\n'), viewer, connection, bridge);
    for (int i = 0; connection.busy && i < 100'000; ++i) {
      connection.busy = false;
      viewer.sent();
    }
    require(!connection.busy, "it sends without end");
    require(!connection.paused, "it has read all, and is not read");
    require(connection.bytes < (std::size_t{2} << 20) + 400 * input.size(), "answers without a bound");
    require(!connection.given_up, "it lost its connection");
    require(bridge.incoming.empty() == !viewer.publishes(), "what it publishes is counted wrongly");
  }
  require(bridge.incoming.empty(), "what it published is still there");
  for (auto& [id, channel] : bridge.channels)
    require(channel.viewers.empty() && channel.under_way.empty(), "it has gone, and holds a message");
}

std::vector<std::string> seeds() {
  const std::string subscribe = R"(t{"op":"subscribe","subscriptions":[{"id":5,"channelId":1},{"id":6,"channelId":2}]})"
                                "\n";
  const std::string advertise =
      R"(t{"op":"advertise","channels":[{"id":9,"topic":"/in","encoding":"cdr","schemaName":"geometry_msgs/msg/Vector3",)"
      R"("schema":"float64 x\nfloat64 y\nfloat64 z\n","schemaEncoding":"ros2msg"}]})"
      "\n";
  const std::string vector = std::string("b\1\x09\0\0\0\0\1\0\0", 10) + std::string(24, '\1') + "\n";
  return {
      subscribe + "r\na\1\nm\1\nr\nm\1large\nm\2\nr\nr\nr\n" +
          R"(t{"op":"unsubscribe","subscriptionIds":[5]})"
          "\nr\ng\2\n",
      R"(t{"op":"subscribe","subscriptions":[{"id":5,"channelId":2,"preview":"picture","most":600}]})"
      "\nm\2large\nr\nr\n"
      R"(t{"op":"cardanReady","subscriptionIds":[5]})"
      "\n",
      advertise + vector + vector + R"(t{"op":"unadvertise","channelIds":[9]})" + "\n" + vector,
      R"(t{"op":"advertise","channels":[{"id":1,"topic":"/in2","encoding":"cdr","schemaName":"own/msg/A",)"
      R"("schema":"uint8[] data\nB[<=3] b\nstring<=8 s\n================================================================================\nMSG: own/B\nint32 x\n"}]})"
      "\nb\1\1\n",
      R"(t{"op":"subscribeConnectionGraph"})"
      "\n"
      R"(t{"op":"subscribeParameterUpdates","parameterNames":["a/b"]})"
      "\npa/b\npc\n"
      R"(t{"op":"getParameters","parameterNames":[],"id":"x"})"
      "\n"
      R"(t{"op":"setParameters","parameters":[{"name":"a/b","value":1.5}]})"
      "\n"
      R"(t{"op":"unsubscribeParameterUpdates","parameterNames":[]})"
      "\n",
      "b\2\1\1\1\1\nt[[[[[[[[[[[[\nt{\nt\xff\n",
      std::string("b\3\0\0\0\x80\x3f\1\5\0\0\0\0\0\0\0\2\0\0\0q1\n", 23) + R"(t{"op":"cardanStep","messages":3})" +
          "\nr\nr\n",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(foxglove, run, seeds)
}  // namespace cardan::fuzz::foxglove_target
