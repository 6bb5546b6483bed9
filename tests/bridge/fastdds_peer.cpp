// SPDX-License-Identifier: Apache-2.0
// A peer of the bridge's tests on Fast DDS.
//   bridge_fastdds read DOMAIN TOPIC                       a JSON line for each image until standard input ends
//   bridge_fastdds write DOMAIN TOPIC WIDTH HEIGHT HZ      images until standard input ends
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "bench/bridge/fastdds/image.hpp"

namespace {

namespace dds = eprosima::fastdds::dds;
using cardan::bench::fastdds::Peer;
using cardan::bench::fastdds::PeerImage;

bool input_ended() {
  pollfd in{.fd = 0, .events = POLLIN, .revents = 0};
  return ::poll(&in, 1, 0) > 0 && std::getchar() == EOF;
}

int read_images(const Peer& peer) {
  dds::DataReader* const reader = cardan::bench::fastdds::make_reader(peer, 10);
  if (reader == nullptr) return 1;
  PeerImage image;
  dds::SampleInfo info;
  while (!input_ended()) {
    if (!reader->wait_for_unread_message({0, 50'000'000})) continue;
    while (reader->take_next_sample(&image, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      bool same = true;
      for (const std::uint8_t byte : image.data) same = same && byte == image.data[0];
      std::printf(
          "{\"stamp\": %lld, \"frame\": \"%s\", \"height\": %u, \"width\": %u, \"encoding\": \"%s\", \"step\": %u, "
          "\"bytes\": %zu, \"first\": %d, \"same\": %s, \"source\": %lld}\n",
          image.sec * 1'000'000'000LL + image.nanosec, image.frame_id.c_str(), image.height, image.width,
          image.encoding.c_str(), image.step, image.data.size(), image.data.empty() ? -1 : image.data[0],
          same ? "true" : "false", static_cast<long long>(info.source_timestamp.to_ns()));
      std::fflush(stdout);
    }
  }
  return 0;
}

int write_images(const Peer& peer, std::uint32_t width, std::uint32_t height, double hz) {
  dds::DataWriter* const writer = cardan::bench::fastdds::make_writer(peer, 5);
  if (writer == nullptr) return 1;
  PeerImage image{
      .frame_id = "rear", .height = height, .width = width, .encoding = "rgb8", .step = 3 * width, .data = {}};
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / hz));
  for (std::uint32_t n = 1; !input_ended(); ++n) {
    image.nanosec = n;
    image.data.assign(std::size_t{3} * width * height, static_cast<std::uint8_t>(n % 251));
    writer->write(&image);
    std::this_thread::sleep_for(period);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 3 ? argv[1] : "";
  if ((verb != "read" || argc != 4) && (verb != "write" || argc != 7)) {
    std::fputs("usage: bridge_fastdds read DOMAIN TOPIC | write DOMAIN TOPIC WIDTH HEIGHT HZ\n", stderr);
    return 2;
  }
  const Peer peer(static_cast<std::uint32_t>(std::atoi(argv[2])), argv[3]);
  if (peer.topic == nullptr) return 1;
  if (verb == "read") return read_images(peer);
  return write_images(peer, static_cast<std::uint32_t>(std::atoi(argv[4])),
                      static_cast<std::uint32_t>(std::atoi(argv[5])), std::atof(argv[6]));
}
