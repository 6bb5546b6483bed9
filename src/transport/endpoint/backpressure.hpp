// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/topic.hpp"
#include "src/transport/endpoint/publisher_table.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {

/// How publications wait for reliable subscribers (reliable_protocol.hpp), and when they no longer do.
/// Publishing thread, inside (PublisherTable::enter). Blocks until the subscribers have moved on, or the time is over.
class Backpressure {
 public:
  explicit Backpressure(const TopicOptions& options) noexcept
      : depth_(options.depth), timeout_ns_(options.reliable_timeout.count()) {}

  /// Waits until publication `n` overwrites nothing that a reliable subscriber still needs. Demotes those that let it
  /// time out, and returns false then.
  bool wait(PublisherTable& table, layout::Hot& hot, std::uint64_t n) const noexcept;
  /// Waits until wait() would not have to. Returns false at `until` (steady clock).
  bool wait_for_room(PublisherTable& table, layout::Hot& hot, std::uint64_t n, std::int64_t until) const noexcept;

 private:
  void lose_patience(Patience& patience) const noexcept;

  std::uint32_t depth_;
  std::int64_t timeout_ns_;
};

}  // namespace cardan::detail
