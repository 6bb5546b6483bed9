// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/connection.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {

void ConnectionBase::belongs_to(const socket::Peer& whom) {
  peer = whom;
  foreign = is_foreign(whom.uid);
  outbox.for_peer(whom.uid);
}

void ConnectionBase::read_hello(const handshake::Hello& hello) {
  name = hello.name;
  clock_offset = hello.clock_offset;
}

void ConnectionBase::pause(Process& process, int fd) {
  process.loop().off(fd);
  paused = true;
  process.look_again_in(2);
}

void ConnectionBase::go_on(Process& process, int fd, std::int64_t now, std::function<void()> receive) {
  if (!paused) return;
  if (const std::int64_t opens = process.strangers_time().opens_at(peer.uid, now); opens != 0)
    return process.look_again_in(static_cast<int>(std::clamp<std::int64_t>((opens - now) / 1'000'000 + 1, 1, 100)));
  paused = false;
  process.loop().on(fd, std::move(receive));
}

handshake::Hello hello_of(const Process& process) {
  return {.pid = ::getpid(), .name = process.name(), .clock_offset = process.clock_offset()};
}

}  // namespace cardan::detail
