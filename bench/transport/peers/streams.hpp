// SPDX-License-Identifier: Apache-2.0
// The stream sockets of the peers that need them: one per pair of processes.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/transport/peers/peer.hpp"

namespace cardan::bench {

enum class Stream { Unix, Tcp };

/// A socket per publisher and reader, with its default buffers. TCP: over 127.0.0.1 with TCP_NODELAY.
/// Throws cardan::Error: the system gives none.
Wiring wire_streams(const Cell& cell, Stream stream);

/// The publishing ends of a role: a blocking write to each reader in turn. Not thread safe.
class StreamsOut {
 public:
  /// Of the role's descriptors, those from `first` on.
  explicit StreamsOut(const RoleSlot& slot, std::uint32_t first = 0);
  void send(std::span<const std::byte> bytes) noexcept;
  /// Waits for the answer of the only reader.
  void wait_for_answer() noexcept;

 private:
  std::vector<int> readers_;
};

/// The reading ends of a role: a blocking read. With several publishers, poll picks the next one in turn.
/// Not thread safe.
class StreamsIn {
 public:
  explicit StreamsIn(const RoleSlot& slot, std::uint32_t first = 0);
  /// Shuts its ends down, so that no publisher waits for a reader that has gone while its process lives on.
  ~StreamsIn();
  StreamsIn(const StreamsIn&) = delete;
  StreamsIn& operator=(const StreamsIn&) = delete;
  /// Fills `bytes` from one publisher. False: all publishers have gone.
  bool receive(std::span<std::byte> bytes) noexcept;
  /// Answers the only publisher.
  void answer() noexcept;

 private:
  int ready() noexcept;

  std::vector<pollfd> publishers_;
  std::size_t turn_ = 0;
};

}  // namespace cardan::bench
