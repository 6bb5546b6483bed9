// SPDX-License-Identifier: Apache-2.0
// The peer Fast DDS of `cardan bench bridge`, a separate program so that nothing else links it:
//   cardan-bench-fastdds read DOMAIN TOPIC               until SIGTERM
//   cardan-bench-fastdds write DOMAIN TOPIC WIDTH HEIGHT HZ SECONDS
//   cardan-bench-fastdds ask DOMAIN TOPIC BYTES HZ SECONDS LATE_MS | answer DOMAIN TOPIC BYTES   (cardan bench v2x)
// It hears and speaks as a Stage does (bench/stage.hpp): SIGUSR1 begins, SIGTERM ends, the result is JSON on
// descriptor 4.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/bridge/fastdds/image.hpp"
#include "bench/bridge/v2x/talk.hpp"
#include "bench/stage.hpp"
#include "cardan/clock.hpp"

namespace cardan::bench::fastdds {
namespace {

constexpr int kSocketBuffer = 4 << 20;  // what the target of the table asks for
constexpr int kDepth = 10;

int read_images(Stage& stage, const Peer& peer) {
  dds::DataReader* const reader = make_reader(peer, kDepth);
  if (reader == nullptr) return 1;
  std::vector<std::int64_t> latency_ns;
  PeerImage image;
  dds::SampleInfo info;
  stage.ready();
  while (!stage.end_asked()) {
    if (!reader->wait_for_unread_message({0, 50'000'000})) continue;
    while (reader->take_next_sample(&image, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      if (image.sec == 0 && image.nanosec == 0) continue;
      latency_ns.push_back(wall_now() - (image.sec * 1'000'000'000LL + image.nanosec));
    }
  }
  Stage::report({{"received", latency_ns.size()}, {"latency_ns", latency_ns}});
  return 0;
}

int write_images(Stage& stage, const Peer& peer, std::uint32_t width, std::uint32_t height, double hz, double seconds) {
  dds::DataWriter* const writer = make_writer(peer, kDepth);
  if (writer == nullptr) return 1;
  PeerImage image{
      .frame_id = "camera", .height = height, .width = width, .encoding = "bgr8", .step = 3 * width, .data = {}};
  image.data.resize(std::size_t{3} * width * height, 1);
  stage.ready();
  // The first image is for all to meet, and is not counted.
  if (!stage.wait_for_go()) return 1;
  writer->write(&image);
  if (!stage.wait_for_go()) return 1;
  using Clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / hz));
  const auto frames = static_cast<std::uint64_t>(seconds * hz);
  std::uint64_t sent = 0;
  auto next = Clock::now();
  for (; sent < frames && !stage.end_asked(); ++sent, next += period) {
    std::this_thread::sleep_until(next);
    const std::int64_t now = wall_now();
    image.sec = static_cast<std::int32_t>(now / 1'000'000'000);
    image.nanosec = static_cast<std::uint32_t>(now % 1'000'000'000);
    writer->write(&image);
  }
  stage.done();
  stage.wait_for_end();
  Stage::report({{"sent", sent}});
  return 0;
}

/// Images of one row, whose first bytes are the number.
class Images final : public v2x::Channel {
 public:
  Images(const Peer& out, const Peer& in, std::uint32_t bytes)
      : writer_(make_writer(out, kDepth)), reader_(make_reader(in, kDepth)) {
    image_ = {.frame_id = "", .height = 1, .width = bytes, .encoding = "mono8", .step = bytes, .data = {}};
    image_.data.resize(bytes);
  }
  [[nodiscard]] bool is_open() const { return writer_ != nullptr && reader_ != nullptr; }
  void send(std::uint64_t number) override {
    std::memcpy(image_.data.data(), &number, sizeof number);
    writer_->write(&image_);
  }
  std::optional<std::uint64_t> receive(std::int64_t until) override {
    using ReturnCode = eprosima::fastrtps::types::ReturnCode_t;
    const std::int64_t left = std::max<std::int64_t>(until - now_ns(), 0);
    PeerImage image;
    dds::SampleInfo info;
    for (bool waited = false;; waited = true) {
      if (reader_->take_next_sample(&image, &info) == ReturnCode::RETCODE_OK) {
        std::uint64_t number = 0;
        if (!info.valid_data || image.data.size() < sizeof number) continue;
        std::memcpy(&number, image.data.data(), sizeof number);
        return number;
      }
      if (waited || !reader_->wait_for_unread_message({static_cast<std::int32_t>(left / 1'000'000'000),
                                                       static_cast<std::uint32_t>(left % 1'000'000'000)}))
        return std::nullopt;
    }
  }

 private:
  dds::DataWriter* writer_;
  dds::DataReader* reader_;
  PeerImage image_;
};

int talk(Stage& stage, bool asks, std::uint32_t domain, const std::string& topic, std::uint32_t bytes,
         const nlohmann::json& job) {
  const Peer out(domain, topic + (asks ? "/question" : "/answer"));
  const Peer in(domain, topic + (asks ? "/answer" : "/question"));
  if (out.topic == nullptr || in.topic == nullptr) return 1;
  Images channel(out, in, bytes);
  if (!channel.is_open()) return 1;
  if (asks) {
    v2x::ask(stage, channel, job);
  } else {
    stage.ready();
    v2x::answer(stage, channel);
  }
  return 0;
}

int play(int argc, char** argv) {
  const std::string_view verb = argc > 3 ? argv[1] : "";
  if ((verb != "read" || argc != 4) && (verb != "write" || argc != 8) && (verb != "ask" || argc != 8) &&
      (verb != "answer" || argc != 5)) {
    std::fputs(
        "usage: cardan-bench-fastdds read DOMAIN TOPIC | write DOMAIN TOPIC WIDTH HEIGHT HZ SECONDS | ask DOMAIN TOPIC "
        "BYTES HZ SECONDS LATE_MS | answer DOMAIN TOPIC BYTES\n",
        stderr);
    return 2;
  }
  if (verb == "ask" || verb == "answer") {
    Stage talking;
    const bool asks = verb == "ask";
    const nlohmann::json job = asks ? nlohmann::json{{"hz", std::atof(argv[5])},
                                                     {"seconds", std::atof(argv[6])},
                                                     {"late_ms", std::atoi(argv[7])}}
                                    : nlohmann::json();
    return talk(talking, asks, static_cast<std::uint32_t>(std::atoi(argv[2])), argv[3],
                static_cast<std::uint32_t>(std::max(std::atoi(argv[4]), 8)), job);
  }
  Stage stage;
  dds::DomainParticipantQos qos = dds::PARTICIPANT_QOS_DEFAULT;
  qos.transport().listen_socket_buffer_size = kSocketBuffer;
  qos.transport().send_socket_buffer_size = kSocketBuffer;
  const Peer peer(static_cast<std::uint32_t>(std::atoi(argv[2])), argv[3], qos);
  if (peer.topic == nullptr) {
    std::fputs("Fast DDS gives no participant\n", stderr);
    return 1;
  }
  if (verb == "read") return read_images(stage, peer);
  return write_images(stage, peer, static_cast<std::uint32_t>(std::atoi(argv[4])),
                      static_cast<std::uint32_t>(std::atoi(argv[5])), std::atof(argv[6]), std::atof(argv[7]));
}

}  // namespace
}  // namespace cardan::bench::fastdds

int main(int argc, char** argv) { return cardan::bench::fastdds::play(argc, argv); }
