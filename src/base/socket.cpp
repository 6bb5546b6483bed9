// SPDX-License-Identifier: Apache-2.0
#include "src/base/socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cardan/error.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/random.hpp"

namespace cardan::socket {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The id that the kernel shows for all ids that our user namespace does not map. The initial namespace maps all of
/// them; a container's often maps 65,536.
class Overflow {
 public:
  Overflow(const char* map, const char* setting) noexcept : map_(map), setting_(setting) {}

  unsigned id() noexcept {
    const std::int64_t known = known_.load(std::memory_order_relaxed);
    if (known >= 0) return static_cast<unsigned>(known);
    errno = 0;
    const File map(std::fopen(map_, "re"), std::fclose);
    if (!map && errno != ENOENT) return kUsual;  // no descriptor left: careful now, and looked at again later
    const unsigned id = !map || has_all_ids(map.get()) ? kUnmapped : set_id();
    known_.store(id, std::memory_order_relaxed);
    return id;
  }

 private:
  static constexpr unsigned kUsual = 65534;

  static bool has_all_ids(std::FILE* map) noexcept {
    unsigned long long inside = 0;
    unsigned long long outside = 0;
    unsigned long long count = 0;
    unsigned long long all = 0;
    while (std::fscanf(map, "%llu %llu %llu", &inside, &outside, &count) == 3) all += count;
    return all >= 0xFFFF'FFFFULL;
  }
  [[nodiscard]] unsigned set_id() const noexcept {
    unsigned id = kUsual;
    const File file(std::fopen(setting_, "re"), std::fclose);
    return file && std::fscanf(file.get(), "%u", &id) == 1 ? id : kUsual;
  }

  const char* map_;
  const char* setting_;
  std::atomic<std::int64_t> known_{-1};
};

/// By way of /proc an address has room for any path, and leads to the very folder or socket that was opened.
sockaddr_un address_of(int fd, const char* name = "") noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d%s%s", fd, *name == '\0' ? "" : "/", name);
  return address;
}

/// Any process that may see the run directory may knock; the handshake decides which gets in. Not by path: what carries
/// the name now could be something else.
bool open_to_all(int folder, const char* name) noexcept {
  const Fd made(::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat st{};
  if (!made || ::fstat(made.get(), &st) != 0) return false;
  if (!S_ISSOCK(st.st_mode) || st.st_uid != ::geteuid()) {
    errno = EPERM;
    return false;
  }
  return ::chmod(address_of(made.get()).sun_path, 0666) == 0;
}

}  // namespace

uid_t user_of(uid_t reported) noexcept {
  static Overflow overflow("/proc/self/uid_map", "/proc/sys/kernel/overflowuid");
  return reported == overflow.id() ? kUnmapped : reported;
}

gid_t group_of(gid_t reported) noexcept {
  static Overflow overflow("/proc/self/gid_map", "/proc/sys/kernel/overflowgid");
  return reported == overflow.id() ? kUnmapped : reported;
}

std::string name_of_user(uid_t user) {
  return user == kUnmapped ? "a user that our user namespace does not map" : fmt::format("user {}", user);
}

Fd listen_at(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  const Fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened)
    throw Error(
        errno == EMFILE || errno == ENFILE ? ErrorCode::Limit : ErrorCode::Unavailable,
        fmt::format("cannot listen at {}: {}", path, std::strerror(errno)),
        errno == EMFILE || errno == ENFILE ? "raise ulimit -n" : "set CARDAN_RUN_DIR to a directory of this user");
  return listen_in(opened.get(), slash == std::string::npos ? path : path.substr(slash + 1), path);
}

Fd listen_in(int folder, const std::string& name, const std::string& shown) {
  Fd fd = detail::make_bound([] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); });
  if (!fd)
    throw Error(ErrorCode::Limit, fmt::format("cannot create a socket: {}", std::strerror(errno)), "raise ulimit -n");
  // A temporary name until it listens: a process that watches the folder cannot tell from it which name to take.
  const std::string hidden = fmt::format("p.{:016x}~", detail::random64());
  const sockaddr_un address = address_of(folder, hidden.c_str());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      !open_to_all(folder, hidden.c_str()) || ::listen(fd.get(), 1024) != 0 ||
      ::renameat(folder, hidden.c_str(), folder, name.c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder, hidden.c_str(), 0);
    throw Error(error == EMFILE || error == ENFILE ? ErrorCode::Limit : ErrorCode::Unavailable,
                fmt::format("cannot listen at {}: {}", shown, std::strerror(error)),
                error == EMFILE || error == ENFILE
                    ? "raise ulimit -n"
                    : "make the run directory writable for this user or set CARDAN_RUN_DIR to one that is");
  }
  return fd;
}

Fd connect_to(const std::string& path, int& error) noexcept {
  const Fd name(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  error = errno;
  if (!name) return {};
  return connect_to(name.get(), error);
}

Fd connect_to(int name, int& error) noexcept {
  struct stat st{};
  error = ENOTSOCK;
  if (::fstat(name, &st) != 0 || !S_ISSOCK(st.st_mode)) return {};
  Fd fd = detail::make_bound([] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); });
  error = errno;
  if (!fd) return {};
  const sockaddr_un address = address_of(name);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    error = errno == ENOENT ? ENOSYS : errno;  // the name is there, /proc is not: that does not mean that it is stale
    return {};
  }
  error = 0;
  return fd;
}

Fd accept_from(int listener) noexcept {
  return detail::make_bound([listener] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
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
  message.fds.reserve(kMaxFds);
  message.text.resize(kMaxMessage);
  iovec part{.iov_base = message.text.data(), .iov_len = message.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t n = 0;
  {
    detail::MakingBound making;
    n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    // A peer that hung up without having read all of ours: the error is told once, before what it said last.
    if (n < 0 && errno == ECONNRESET) n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    for (cmsghdr* c = n < 0 ? nullptr : CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
        message.fds.push_back(making.bind(fd));
      }
    }
  }
  if (n < 0) {
    message.text.clear();
    return errno == EAGAIN || errno == EINTR ? Received::Nothing : Received::Closed;
  }
  if (n == 0) return Received::Closed;
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    // The kernel gives all that fit: fewer than there is room for means that this process had no number left.
    const bool ours = message.fds.size() < kMaxFds;
    message.fds.clear();
    if (ours && (header.msg_flags & MSG_TRUNC) == 0) {
      message.text.resize(static_cast<std::size_t>(n));
      return Received::NoDescriptors;
    }
    return Received::Bad;
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
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
    peer.uid = user_of(credentials.uid);
    peer.gid = group_of(credentials.gid);
  }
  peer.groups.resize(64);
  length = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &length) != 0 && errno == ERANGE) {
    peer.groups.resize(length / sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &length) != 0) length = 0;
  }
  peer.groups.resize(length / sizeof(gid_t));
  for (gid_t& group : peer.groups) group = group_of(group);
  return peer;
}

bool is_in_group(const Peer& peer, gid_t group) noexcept {
  if (group == kUnmapped) return false;
  return peer.gid == group || std::find(peer.groups.begin(), peer.groups.end(), group) != peer.groups.end();
}

}  // namespace cardan::socket
