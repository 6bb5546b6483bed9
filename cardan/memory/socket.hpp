// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/memory/fd.hpp"

namespace cardan::socket {

inline constexpr std::size_t kMaxMessage = 64 * 1024;
inline constexpr std::size_t kMaxFds = 8;
inline constexpr uid_t kUnmapped = 65534;  ///< what the kernel reports for a user that our user namespace does not know

/// One datagram of a connection and the descriptors that came with it.
struct Message {
  std::string text;
  std::vector<Fd> fds;
};

/// Who is on the other side, as the kernel says (SO_PEERCRED, SO_PEERGROUPS), in our user namespace.
struct Peer {
  pid_t pid = 0;
  uid_t uid = kUnmapped;
  gid_t gid = kUnmapped;
  std::vector<gid_t> groups;
};

enum class Received { Message, Nothing, Closed, Bad };

/// A non-blocking SOCK_SEQPACKET listener at `path` (at most 107 bytes). It appears under its name only once it
/// accepts, so that nobody takes it for a stale one. Throws Error. Set-up only.
Fd listen_at(const std::string& path);

/// Connects without blocking; empty: nobody listens (`error` says why: ECONNREFUSED means stale, EAGAIN means too busy
/// now).
Fd connect_to(const std::string& path, int& error) noexcept;

/// The next connection, or empty. Never blocks.
Fd accept_from(int listener) noexcept;

/// Sends one message with descriptors; false when the peer is gone or does not read. Never blocks.
bool send(int socket, std::string_view text, const std::vector<int>& fds = {}) noexcept;

/// Receives one message. Never blocks. `Bad`: longer than kMaxMessage or with more than kMaxFds descriptors (which are
/// closed).
Received receive(int socket, Message& message);

/// Who connected.
Peer peer_of(int socket);

}  // namespace cardan::socket
