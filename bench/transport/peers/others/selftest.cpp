// SPDX-License-Identifier: Apache-2.0
// Peers with a known fault, by which the bench's test sees that the bench reports what is there. They hand a frame over
// by a Unix datagram, to one reader, at most 64 KiB.
//   selftest-exact  no fault
//   selftest-late   20 µs pass between the stamp of publish and the sending
//   selftest-lossy  each tenth frame is not sent
//   selftest-torn   in each tenth frame the last word is of another frame
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::int64_t kLate = 20'000;  // ns
constexpr std::uint64_t kEach = 10;

class FaultyWriter {
 public:
  FaultyWriter(const Area& area, std::uint32_t index)
      : fault_(name_of(area.header().contender.peer).substr(std::string_view("selftest-").size())),
        words_(area.header().cell.bytes / sizeof(std::uint64_t)),
        fd_(area.role(index).descriptors[0]),
        frames_(area.header().cell.frames) {}

  std::span<std::uint64_t> loan(std::uint64_t) noexcept { return words_; }
  void publish(std::uint64_t n) noexcept {
    const bool chosen = n % kEach == 0 && n <= frames_;  // not the beats after the last frame, which end the reader
    if (fault_ == "late") spin_until(now_ns() + kLate);
    if (fault_ == "lossy" && chosen) return;
    if (fault_ == "torn" && chosen) words_.back() ^= 1U;
    ::send(fd_, words_.data(), words_.size() * sizeof(std::uint64_t), MSG_NOSIGNAL);
  }

 private:
  std::string_view fault_;
  std::vector<std::uint64_t> words_;
  int fd_;
  std::uint64_t frames_;
};

class Reader {
 public:
  Reader(const Area& area, std::uint32_t index)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)), fd_(area.role(index).descriptors[0]) {}
  std::span<const std::uint64_t> next() noexcept {
    for (;;) {
      const ssize_t n = ::recv(fd_, words_.data(), words_.size() * sizeof(std::uint64_t), 0);
      if (n > 0) return words_;
      if (n == 0 || errno != EINTR) return {};
    }
  }
  void release() noexcept {}

 private:
  std::vector<std::uint64_t> words_;
  int fd_;
};

Wiring wire(const Cell& cell) {
  if (!(cell.scenario == Scenario{1, 1}) || cell.bytes > 65536)
    throw Error(ErrorCode::InvalidArgument, "selftest measures 1p1s up to 64 KiB", "--scenarios 1p1s --sizes 128");
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    throw Error(ErrorCode::System, std::string("cannot make a pair of Unix sockets: ") + std::strerror(errno), {});
  Wiring wiring;
  wiring.owned.resize(2);
  wiring.owned[0].emplace_back(fds[0]);
  wiring.owned[1].emplace_back(fds[1]);
  return wiring;
}

PeerKind kind(std::string_view name) {
  return {.peer = Peer{name},
          .place = 900,
          .on_request = true,
          .waits = block_only,
          .wire = wire,
          .play = play_with<FaultyWriter, Reader>};
}

const RegisteredPeer kExact(kind("selftest-exact"));
const RegisteredPeer kLatePeer(kind("selftest-late"));
const RegisteredPeer kLossy(kind("selftest-lossy"));
const RegisteredPeer kTorn(kind("selftest-torn"));

}  // namespace
}  // namespace cardan::bench
