// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <functional>

#include "tests/support/child.hpp"
#include "tests/support/raw_peer.hpp"

/// The users that take part in attacks, and what both sides look at.
namespace cardan::test {

inline constexpr unsigned kStranger = 47110;  ///< the first hostile user; so are the 50 users from here on
inline constexpr unsigned kUser = 47190;      ///< an honest user, neither root nor one of those
inline constexpr std::size_t kMiB = std::size_t{1} << 20;

/// For `before_exec` of a Child: it becomes another user. If we are an ordinary user, that is not possible, and it
/// keeps our user.
inline std::function<void()> as_stranger(unsigned which = 0) {
  return is_root() ? as_user(kStranger + which) : std::function<void()>{};
}

/// Whether the other side has ended the connection.
inline bool hung_up(const RawPeer& peer) {
  char byte = 0;
  const ssize_t n = ::recv(peer.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN);
}

/// The memory or disk that a file has, in KiB; −1: it cannot be asked.
inline long allocated_kib(int fd) {
  struct stat st{};
  return ::fstat(fd, &st) == 0 ? static_cast<long>(st.st_blocks / 2) : -1;
}

}  // namespace cardan::test
