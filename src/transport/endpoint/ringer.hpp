// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/transport/endpoint/attached.hpp"
#include "src/transport/endpoint/hand_over.hpp"
#include "src/transport/endpoint/helper_time.hpp"
#include "src/transport/endpoint/publisher_table.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {

/// A ring of another user's bell wakes at most this many of its threads: twice kForeignThreads, because some may have
/// left without being awake yet.
inline constexpr int kForeignWakes = 2 * kForeignThreads;

/// A publisher's rings, of bells (bell_protocol.hpp) and of descriptors, and which of them the publishing thread leaves
/// to the helper thread. The cost of a publish must not depend on what another user does with its own bell and
/// descriptors: thousands of threads may sleep on the bell, and hundreds of epolls may watch the descriptors.
class Ringer {
 public:
  // Publishing thread, inside (PublisherTable::enter):
  /// Wakes the subscribers that wait for a publication. Runs `here` before it wakes those in the background.
  void wake(PublisherTable& table, layout::Hot& hot, HandOver here, int slot) noexcept;
  /// Wakes subscribers that pre-wake, before publication `n`. One system call if there are any.
  void prewake(PublisherTable& table, layout::Hot& hot, std::uint64_t n) noexcept;

  /// Helper thread: rings what was left to it: the descriptors of followers, and the bells and descriptors of other
  /// users, these at most once a millisecond for each user, and as long as it has `time` left. Returns false if some
  /// must wait for a millisecond more.
  static bool ring_for_others(const std::vector<std::unique_ptr<Attached>>& attached, HelperTime& time,
                              std::int64_t now);

 private:
  struct Sleepers;
  void ring(BellLine& bell, PublisherTable& table, layout::Hot& hot) noexcept;
  void ring_descriptor(Attached& a, const layout::SubscriberPage& page, PublisherTable& table,
                       layout::Hot& hot) noexcept;
  void ring_followers(PublisherTable& table, layout::Hot& hot) noexcept;

  std::uint64_t round_ = 0;
  Attached* follower_ = nullptr;  ///< the first one that this round must ring
  bool several_followers_ = false;
  std::uint32_t prewakes_in_window_ = 0;
  std::int64_t prewake_window_ = 0;
};

}  // namespace cardan::detail
