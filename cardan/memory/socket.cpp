// SPDX-License-Identifier: Apache-2.0
#include "cardan/memory/socket.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cardan/memory/error.hpp"

namespace cardan::socket {
namespace {

bool fill(sockaddr_un& address, const std::string& path) noexcept {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

}  // namespace

Fd listen_at(const std::string& path) {
  sockaddr_un address{};
  const std::string hidden = path + "~";
  if (!fill(address, hidden))
    throw Error(ErrorCode::Limit,
                fmt::format("the socket path {} is longer than the 107 bytes that the kernel allows", path),
                "set CARDAN_RUN_DIR to a shorter path");
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd)
    throw Error(ErrorCode::Limit, fmt::format("cannot create a socket: {}", std::strerror(errno)), "raise ulimit -n");
  ::unlink(hidden.c_str());
  // Anyone who may see the run directory may knock; who gets in is decided in the handshake.
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::chmod(hidden.c_str(), 0666) != 0 || ::listen(fd.get(), 1024) != 0 ||
      ::rename(hidden.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(hidden.c_str());
    throw Error(ErrorCode::Unavailable, fmt::format("cannot listen at {}: {}", path, std::strerror(error)),
                "make the run directory writable for this user or set CARDAN_RUN_DIR to one that is");
  }
  return fd;
}

Fd connect_to(const std::string& path, int& error) noexcept {
  sockaddr_un address{};
  error = ENAMETOOLONG;
  if (!fill(address, path)) return {};
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = errno;
  if (!fd) return {};
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    error = errno;
    return {};
  }
  error = 0;
  return fd;
}

Fd accept_from(int listener) noexcept {
  return Fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

bool send(int socket, std::string_view text, const std::vector<int>& fds) noexcept {
  iovec part{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> control{};
  if (!fds.empty() && fds.size() <= kMaxFds) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  return ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(text.size());
}

Received receive(int socket, Message& message) {
  message.fds.clear();
  message.text.resize(kMaxMessage);
  iovec part{.iov_base = message.text.data(), .iov_len = message.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (n < 0) {
    message.text.clear();
    return errno == EAGAIN || errno == EINTR ? Received::Nothing : Received::Closed;
  }
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      message.fds.emplace_back(fd);
    }
  }
  if (n == 0) return Received::Closed;
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    message.fds.clear();
    return Received::Bad;
  }
  message.text.resize(static_cast<std::size_t>(n));
  return Received::Message;
}

Peer peer_of(int socket) {
  Peer peer;
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
    peer.pid = credentials.pid;
    peer.uid = credentials.uid;
    peer.gid = credentials.gid;
  }
  peer.groups.resize(64);
  length = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &length) != 0 && errno == ERANGE) {
    peer.groups.resize(length / sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &length) != 0) length = 0;
  }
  peer.groups.resize(length / sizeof(gid_t));
  return peer;
}

}  // namespace cardan::socket
