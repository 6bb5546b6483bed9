// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/detail/fd.hpp"

namespace cardan::socket {

inline constexpr std::size_t kMaxMessage = 64 * 1024;
inline constexpr std::size_t kMaxFds = 8;
/// The id of a user or group that our user namespace does not map. The kernel reports each of them as its overflow id
/// (65534). This interface reports kUnmapped instead, which equals no real user: 65534 may be a real one.
inline constexpr uid_t kUnmapped = static_cast<uid_t>(-1);
/// Converts a user id of the kernel (SO_PEERCRED, stat): the overflow id becomes kUnmapped if our user namespace does
/// not map all ids (/proc/self/uid_map). Any thread.
uid_t user_of(uid_t reported) noexcept;
gid_t group_of(gid_t reported) noexcept;
/// "user 1000", or words that say that we do not know the user.
std::string name_of_user(uid_t user);

/// One datagram of a connection and the descriptors that came with it.
struct Message {
  std::string text;
  std::vector<Fd> fds;
};

/// The process on the other side, as the kernel reports it (SO_PEERCRED, SO_PEERGROUPS), in our user namespace.
struct Peer {
  pid_t pid = 0;
  uid_t uid = kUnmapped;
  gid_t gid = kUnmapped;
  std::vector<gid_t> groups;
};

enum class Received { Message, Nothing, Closed, Bad, NoDescriptors };

/// A non-blocking SOCK_SEQPACKET listener at `path` (of any length). It appears under its name only once it accepts, so
/// that it never looks stale; until then it has a random name `p.<16 hex>~`. Throws Error. Set-up only.
Fd listen_at(const std::string& path);
/// The same at `name` in an open folder. `shown` is its path in messages.
Fd listen_in(int folder, const std::string& name, const std::string& shown);

/// Connects without blocking. Empty: nobody listens, and `error` has the reason: ECONNREFUSED means stale, EAGAIN too
/// busy now, ENOTSOCK that the name does not belong to a socket. Does not follow a link.
Fd connect_to(const std::string& path, int& error) noexcept;
/// The same to the socket of the O_PATH descriptor `name`, so that the connection goes to the examined
/// file.
Fd connect_to(int name, int& error) noexcept;

/// The next connection, or empty. Never blocks.
Fd accept_from(int listener) noexcept;

/// Sends one message with descriptors. Returns false if the peer is gone or does not read. Never blocks.
bool send(int socket, std::string_view text, const std::vector<int>& fds = {}) noexcept;

/// Receives one message. Never blocks. `Bad`: longer than kMaxMessage or with more than kMaxFds descriptors (which are
/// closed). `NoDescriptors`: this process had no descriptor number left for the message's descriptors; the text is
/// there.
Received receive(int socket, Message& message);

/// The process that connected.
Peer peer_of(int socket);

/// Whether the peer is in a group. Always false for a group that is not mapped.
bool is_in_group(const Peer& peer, gid_t group) noexcept;

}  // namespace cardan::socket
