// SPDX-License-Identifier: Apache-2.0
// `uds` and `tcp`: a stream socket per pair of processes with its default buffers (TCP over 127.0.0.1 with
// TCP_NODELAY), a blocking write per subscriber in turn, a blocking read into the reader's own memory. Frames have a
// known size, so there is no framing: less than any real protocol would do.
#include <vector>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/peers/streams.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {
namespace {

class SocketWriter {
 public:
  SocketWriter(const Area& area, std::uint32_t index)
      : frame_(area.header().cell.bytes / sizeof(std::uint64_t)), out_(area.role(index)) {}
  std::span<std::uint64_t> loan(std::uint64_t) noexcept { return frame_; }
  void publish(std::uint64_t) noexcept { out_.send(std::as_bytes(std::span(frame_))); }

 protected:
  StreamsOut& out() noexcept { return out_; }

 private:
  std::vector<std::uint64_t> frame_;
  StreamsOut out_;
};

class SocketReader {
 public:
  SocketReader(const Area& area, std::uint32_t index)
      : frame_(area.header().cell.bytes / sizeof(std::uint64_t)), in_(area.role(index)) {}
  std::span<const std::uint64_t> next() noexcept {
    if (!in_.receive(std::as_writable_bytes(std::span(frame_)))) return {};
    return frame_;
  }
  void release() noexcept {}

 protected:
  StreamsIn& in() noexcept { return in_; }

 private:
  std::vector<std::uint64_t> frame_;
  StreamsIn in_;
};

class SocketAsker : public SocketWriter {
 public:
  using SocketWriter::SocketWriter;
  void publish(std::uint64_t n) noexcept {
    SocketWriter::publish(n);
    out().wait_for_answer();
  }
};

class SocketAnswerer : public SocketReader {
 public:
  using SocketReader::SocketReader;
  std::span<const std::uint64_t> next() noexcept {
    const auto words = SocketReader::next();
    if (!words.empty()) in().answer();
    return words;
  }
};

const RegisteredPeer kUdsPeer({.peer = Peer{"uds"},
                               .place = 30,
                               .waits = block_only,
                               .wire = [](const Cell& cell) { return wire_streams(cell, Stream::Unix); },
                               .play = play_with<SocketWriter, SocketReader>,
                               .play_ask = play_with<SocketAsker, SocketAnswerer>,
                               .links = links_with<SocketWriter, SocketReader>()});
const RegisteredPeer kTcpPeer({.peer = Peer{"tcp"},
                               .place = 40,
                               .waits = block_only,
                               .wire = [](const Cell& cell) { return wire_streams(cell, Stream::Tcp); },
                               .play = play_with<SocketWriter, SocketReader>,
                               .play_ask = play_with<SocketAsker, SocketAnswerer>,
                               .links = links_with<SocketWriter, SocketReader>()});

}  // namespace
}  // namespace cardan::bench
