// SPDX-License-Identifier: Apache-2.0
// `zeromq`: PUB and SUB over ipc:// with the default high-water mark of 1000 messages. The frame is filled in the
// message's own memory, so ZeroMQ copies it only into and out of the socket.
#include <zmq.h>

#include <memory>
#include <string>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::System, "ZeroMQ cannot " + what + ": " + ::zmq_strerror(::zmq_errno()),
              "leave zeromq out of --peers");
}

std::string address_of(const Area& area, std::uint32_t publisher) {
  return "ipc://" + file_of_publisher("zmq", area, publisher);
}

class Socket {
 public:
  explicit Socket(int type) : context_(::zmq_ctx_new()), socket_(::zmq_socket(context_, type)) {
    if (socket_ == nullptr) fail("make a socket");
    const int at_once = 0;  // at the end nothing waits for readers that have gone
    ::zmq_setsockopt(socket_, ZMQ_LINGER, &at_once, sizeof at_once);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    ::zmq_close(socket_);
    ::zmq_ctx_term(context_);
  }
  [[nodiscard]] void* get() const noexcept { return socket_; }

 private:
  void* context_;
  void* socket_;
};

class ZeroMqWriter {
 public:
  ZeroMqWriter(const Area& area, std::uint32_t index) : bytes_(area.header().cell.bytes) {
    // So its socket hears of each subscription, also of one that another reader has already.
    const int all = 1;
    ::zmq_setsockopt(socket_.get(), ZMQ_XPUB_VERBOSE, &all, sizeof all);
    if (::zmq_bind(socket_.get(), address_of(area, index).c_str()) != 0) fail("listen on " + address_of(area, index));
    for (std::uint32_t i = 0; i < area.subscribers(); ++i) {
      zmq_msg_t message;
      ::zmq_msg_init(&message);
      if (::zmq_msg_recv(&message, socket_.get(), 0) < 0) fail("wait for its readers");
      ::zmq_msg_close(&message);
    }
  }

  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    if (::zmq_msg_init_size(&message_, bytes_) != 0) return {};
    return {static_cast<std::uint64_t*>(::zmq_msg_data(&message_)), bytes_ / sizeof(std::uint64_t)};
  }
  void publish(std::uint64_t) noexcept {
    if (::zmq_msg_send(&message_, socket_.get(), 0) < 0) ::zmq_msg_close(&message_);
  }

 private:
  std::size_t bytes_;
  Socket socket_{ZMQ_XPUB};
  zmq_msg_t message_{};
};

class ZeroMqReader {
 public:
  ZeroMqReader(const Area& area, std::uint32_t /*index*/) {
    ::zmq_setsockopt(socket_.get(), ZMQ_SUBSCRIBE, "", 0);
    for (std::uint32_t p = 0; p < area.publishers(); ++p)
      if (::zmq_connect(socket_.get(), address_of(area, p).c_str()) != 0) fail("connect to " + address_of(area, p));
  }

  std::span<const std::uint64_t> next() noexcept {
    ::zmq_msg_init(&message_);
    if (::zmq_msg_recv(&message_, socket_.get(), 0) < 0) return {};
    return {static_cast<const std::uint64_t*>(::zmq_msg_data(&message_)),
            ::zmq_msg_size(&message_) / sizeof(std::uint64_t)};
  }
  void release() noexcept { ::zmq_msg_close(&message_); }

 private:
  Socket socket_{ZMQ_SUB};
  zmq_msg_t message_{};
};

const RegisteredPeer kZeroMq({.peer = Peer{"zeromq"},
                              .place = 50,
                              .waits = block_only,
                              .play = play_with<ZeroMqWriter, ZeroMqReader>,
                              .links = links_with<ZeroMqWriter, ZeroMqReader>()});

}  // namespace
}  // namespace cardan::bench
