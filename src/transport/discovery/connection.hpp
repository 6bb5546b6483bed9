// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "src/base/socket.hpp"
#include "src/transport/discovery/handshake.hpp"
#include "src/transport/discovery/outbox.hpp"

namespace cardan::detail {

class Process;

/// The knowledge of one end of a connection about the other: its identity, what must still be sent to it, and whether
/// it is read from. Helper thread only.
struct ConnectionBase {
  socket::Peer peer;
  bool foreign = false;  ///< of another user
  std::string name = "?";
  std::int64_t clock_offset = 0;  ///< of its time namespace, ns
  Outbox outbox;
  bool lost = false;    ///< ends at the next housekeeping
  bool paused = false;  ///< not read until its user may have time again

  void belongs_to(const socket::Peer& whom);
  void read_hello(const handshake::Hello& hello);  ///< its name and clock
  /// Requests of another user cost that user's time. Stops reading from it until the user has time again.
  void pause(Process& process, int fd);
  /// Reads from it again, by `receive`, once its user has time. `now`: steady clock, ns.
  void go_on(Process& process, int fd, std::int64_t now, std::function<void()> receive);
};

/// The first message of this process, on either end.
[[nodiscard]] handshake::Hello hello_of(const Process& process);

}  // namespace cardan::detail
