// SPDX-License-Identifier: Apache-2.0
// The peer Fast DDS of `cardan bench bridge`, a program of its own so that nothing else links it:
//   cardan-bench-fastdds read DOMAIN TOPIC               until SIGTERM
//   cardan-bench-fastdds write DOMAIN TOPIC WIDTH HEIGHT HZ SECONDS
// It hears and speaks as a Stage does (bench/stage.hpp): SIGUSR1 begins, SIGTERM ends, the result is JSON on
// descriptor 4.
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/bridge/fastdds/image.hpp"

namespace cardan::bench::fastdds {
namespace {

constexpr int kReadyFd = 3, kReportFd = 4;
constexpr int kSocketBuffer = 4 << 20;  // what the target of the table asks for
constexpr int kDepth = 10;

std::int64_t wall_now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

double own_cpu() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

sigset_t orders() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR1);
  ::sigaddset(&set, SIGTERM);
  return set;
}

bool end_asked() {
  const sigset_t set = orders();
  const timespec now{};
  return ::sigtimedwait(&set, nullptr, &now) == SIGTERM;
}

int next_order() {
  const sigset_t set = orders();
  for (;;)
    if (const int order = ::sigwaitinfo(&set, nullptr); order > 0) return order;
}

void say() { static_cast<void>(::write(kReadyFd, ".", 1) == 1); }

int report(const std::string& json) {
  std::size_t at = 0;
  while (at < json.size()) {
    const ssize_t n = ::write(kReportFd, json.data() + at, json.size() - at);
    if (n <= 0) return 1;
    at += static_cast<std::size_t>(n);
  }
  return 0;
}

int read_images(const Peer& peer) {
  dds::DataReader* const reader = make_reader(peer, kDepth);
  if (reader == nullptr) return 1;
  std::string latencies;
  std::size_t count = 0;
  PeerImage image;
  dds::SampleInfo info;
  say();
  while (!end_asked()) {
    if (!reader->wait_for_unread_message({0, 50'000'000})) continue;
    while (reader->take_next_sample(&image, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      if (image.sec == 0 && image.nanosec == 0) continue;
      const std::int64_t age = wall_now() - (image.sec * 1'000'000'000LL + image.nanosec);
      latencies += (count++ == 0 ? "" : ",") + std::to_string(age);
    }
  }
  return report("{\"received\":" + std::to_string(count) + ",\"cpu\":" + std::to_string(own_cpu()) +
                ",\"latency_ns\":[" + latencies + "]}");
}

int write_images(const Peer& peer, std::uint32_t width, std::uint32_t height, double hz, double seconds) {
  dds::DataWriter* const writer = make_writer(peer, kDepth);
  if (writer == nullptr) return 1;
  PeerImage image{
      .frame_id = "camera", .height = height, .width = width, .encoding = "bgr8", .step = 3 * width, .data = {}};
  image.data.resize(std::size_t{3} * width * height, 1);
  say();
  // The first image is for all to meet, and is not counted.
  if (next_order() == SIGTERM) return report("{\"sent\":0,\"cpu\":0}");
  writer->write(&image);
  if (next_order() == SIGTERM) return report("{\"sent\":0,\"cpu\":0}");
  using Clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / hz));
  const auto frames = static_cast<std::uint64_t>(seconds * hz);
  std::uint64_t sent = 0;
  auto next = Clock::now();
  for (; sent < frames && !end_asked(); ++sent, next += period) {
    std::this_thread::sleep_until(next);
    const std::int64_t now = wall_now();
    image.sec = static_cast<std::int32_t>(now / 1'000'000'000);
    image.nanosec = static_cast<std::uint32_t>(now % 1'000'000'000);
    writer->write(&image);
  }
  say();
  while (next_order() != SIGTERM) {
  }
  return report("{\"sent\":" + std::to_string(sent) + ",\"cpu\":" + std::to_string(own_cpu()) + "}");
}

int play(int argc, char** argv) {
  const std::string_view verb = argc > 3 ? argv[1] : "";
  if ((verb != "read" || argc != 4) && (verb != "write" || argc != 8)) {
    std::fputs("usage: cardan-bench-fastdds read DOMAIN TOPIC | write DOMAIN TOPIC WIDTH HEIGHT HZ SECONDS\n", stderr);
    return 2;
  }
  const sigset_t set = orders();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  dds::DomainParticipantQos qos = dds::PARTICIPANT_QOS_DEFAULT;
  qos.transport().listen_socket_buffer_size = kSocketBuffer;
  qos.transport().send_socket_buffer_size = kSocketBuffer;
  const Peer peer(static_cast<std::uint32_t>(std::atoi(argv[2])), argv[3], qos);
  if (peer.topic == nullptr) {
    std::fputs("Fast DDS gives no participant\n", stderr);
    return 1;
  }
  if (verb == "read") return read_images(peer);
  return write_images(peer, static_cast<std::uint32_t>(std::atoi(argv[4])),
                      static_cast<std::uint32_t>(std::atoi(argv[5])), std::atof(argv[6]), std::atof(argv[7]));
}

}  // namespace
}  // namespace cardan::bench::fastdds

int main(int argc, char** argv) { return cardan::bench::fastdds::play(argc, argv); }
