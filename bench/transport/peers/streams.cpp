// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/peers/streams.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  const int error = errno;
  throw Error(error == EMFILE ? ErrorCode::Limit : ErrorCode::System, fmt::format("{}: {}", what, std::strerror(error)),
              error == EMFILE ? "raise the limit of open files with ulimit -n" : "leave this peer out of --peers");
}

std::pair<Fd, Fd> unix_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) fail("cannot make a pair of Unix sockets");
  return {Fd(fds[0]), Fd(fds[1])};
}

void set_no_delay(int fd) {
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("cannot set TCP_NODELAY");
}

// A connected pair over loopback; the listening socket has a port of the kernel's choice and is gone at return.
std::pair<Fd, Fd> tcp_pair() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);

  const Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listening.get() < 0) fail("cannot make a TCP socket");
  if (::bind(listening.get(), at, sizeof address) != 0 || ::listen(listening.get(), 1) != 0 ||
      ::getsockname(listening.get(), at, &length) != 0) {
    fail("cannot listen on 127.0.0.1");
  }
  Fd near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (near.get() < 0) fail("cannot make a TCP socket");
  if (::connect(near.get(), at, sizeof address) != 0) fail("cannot connect to 127.0.0.1");
  sockaddr_in mine{};
  sockaddr_in other{};
  socklen_t mine_length = sizeof mine;
  if (::getsockname(near.get(), reinterpret_cast<sockaddr*>(&mine), &mine_length) != 0)
    fail("cannot name a TCP socket");
  for (;;) {
    socklen_t other_length = sizeof other;
    Fd far(::accept4(listening.get(), reinterpret_cast<sockaddr*>(&other), &other_length, SOCK_CLOEXEC));
    if (far.get() < 0) fail("cannot accept on 127.0.0.1");
    if (other.sin_port != mine.sin_port) continue;  // another program on this computer was faster
    set_no_delay(near.get());
    set_no_delay(far.get());
    return {std::move(near), std::move(far)};
  }
}

// False: the other side has gone.
bool write_all(int fd, const std::byte* data, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t n = ::send(fd, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int fd, std::byte* data, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t n = ::recv(fd, data, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

StreamsOut::StreamsOut(const RoleSlot& slot, std::uint32_t first) {
  for (std::uint32_t i = first; i < slot.descriptor_count; ++i) readers_.push_back(slot.descriptors[i]);
}

void StreamsOut::send(std::span<const std::byte> bytes) noexcept {
  for (int& fd : readers_) {
    if (fd >= 0 && !write_all(fd, bytes.data(), bytes.size())) fd = -1;
  }
}

StreamsIn::StreamsIn(const RoleSlot& slot, std::uint32_t first) {
  for (std::uint32_t i = first; i < slot.descriptor_count; ++i)
    publishers_.push_back({.fd = slot.descriptors[i], .events = POLLIN, .revents = 0});
}

StreamsIn::~StreamsIn() {
  for (const pollfd& p : publishers_)
    if (p.fd >= 0) ::shutdown(p.fd, SHUT_RDWR);
}

bool StreamsIn::receive(std::span<std::byte> bytes) noexcept {
  for (;;) {
    const int fd = ready();
    if (fd < 0) return false;
    if (read_all(fd, bytes.data(), bytes.size())) return true;
    for (auto& p : publishers_) {
      if (p.fd == fd) p.fd = -1;  // poll ignores it from now on
    }
    if (publishers_.size() == 1) return false;
  }
}

void StreamsOut::wait_for_answer() noexcept {
  std::byte answer{};
  while (::read(readers_.front(), &answer, 1) < 0 && errno == EINTR) {
  }
}

void StreamsIn::answer() noexcept {
  const std::byte answer{};
  while (::send(publishers_.front().fd, &answer, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// With one publisher the read itself waits.
int StreamsIn::ready() noexcept {
  if (publishers_.size() == 1) return publishers_.front().fd;
  for (;;) {
    for (std::size_t i = 0; i < publishers_.size(); ++i) {
      turn_ = (turn_ + 1) % publishers_.size();
      pollfd& p = publishers_[turn_];
      if (p.fd < 0 || p.revents == 0) continue;
      p.revents = 0;
      return p.fd;
    }
    bool any = false;
    for (const auto& p : publishers_) any = any || p.fd >= 0;
    if (!any) return -1;
    if (::poll(publishers_.data(), publishers_.size(), -1) < 0 && errno != EINTR) return -1;
  }
}

Wiring wire_streams(const Cell& cell, Stream stream) {
  const std::uint32_t publishers = cell.scenario.publishers;
  const std::uint32_t subscribers = cell.scenario.subscribers;
  Wiring wiring;
  wiring.owned.resize(publishers + subscribers);
  for (std::uint32_t p = 0; p < publishers; ++p) {
    for (std::uint32_t s = 0; s < subscribers; ++s) {
      auto [near, far] = stream == Stream::Tcp ? tcp_pair() : unix_pair();
      wiring.owned[p].push_back(std::move(near));
      wiring.owned[publishers + s].push_back(std::move(far));
    }
  }
  return wiring;
}

}  // namespace cardan::bench
