// SPDX-License-Identifier: Apache-2.0
// `ros1`: roscpp over TCP with tcpNoDelay, queues of one message, the message object reused by the publisher and the
// callback called by an AsyncSpinner of one thread. The bench starts a separate master on 127.0.0.1.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "bench/ros_master.hpp"
#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/others/ros1_node.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

/// Names of ROS have letters, digits, `_` and `/` only.
std::string topic_of(const Area& area) {
  std::string topic = "/cardan_bench_" + std::string(area.header().topic);
  std::replace_if(topic.begin() + 1, topic.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return topic;
}

class Ros1Writer {
 public:
  Ros1Writer(const Area& area, std::uint32_t /*index*/)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)), out_(topic_of(area), words_) {
    wait_until(kNoReaders, [&] { return out_.subscribers() >= area.subscribers(); });
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept { return {out_.data(), words_}; }
  void publish(std::uint64_t) noexcept { out_.publish(); }

 private:
  std::size_t words_;
  ros1::Publisher out_;
};

/// Calls deliver() of the receiver on roscpp's thread, for each frame.
template <class Receiver>
class Ros1Reader {
 public:
  Ros1Reader(const Area& area, Receiver& receiver)
      : in_(
            topic_of(area),
            [](void* context, const std::uint64_t* words, std::size_t count) {
              const std::int64_t in_hand = now_ns();
              static_cast<Receiver*>(context)->deliver({words, count}, in_hand);
            },
            &receiver) {
    wait_until(kNoPublishers, [&] { return in_.publishers() >= area.publishers(); });
  }

 private:
  ros1::Subscriber in_;
};

void init() {
  static const bool done = [] {
    ros1::init("cardan_bench_" + std::to_string(::getpid()));
    return true;
  }();
  static_cast<void>(done);
}

std::unique_ptr<LinkWriter> writer(const Area& area, std::uint32_t index) {
  init();
  return open_writer<Ros1Writer>(area, index);
}

std::unique_ptr<LinkReader> reader(const Area& area, std::uint32_t index, FrameSink& sink) {
  init();
  return open_delivered<Ros1Reader>(area, index, sink);
}

void play(const Area& area, std::uint32_t index) {
  init();
  play_delivered<Ros1Writer, Ros1Reader>(area, index);
}

std::shared_ptr<void> start_master(const std::string&) {
  if (find_ros_master().empty())
    throw Error(ErrorCode::Unavailable, "ROS 1's rosmaster is not there",
                "make bench-peers installs it (python3-rosmaster)");
  auto master = std::make_shared<RosMaster>([] { return false; });
  // The roles inherit it.
  for (const auto& [name, value] : master->environment()) ::setenv(name.c_str(), value.c_str(), 1);
  return master;
}

const RegisteredPeer kRos1({.peer = Peer{"ros1"},
                            .place = 55,
                            .waits = block_only,
                            .start_companion = start_master,
                            .play = play,
                            .links = {writer, reader}});

}  // namespace
}  // namespace cardan::bench
