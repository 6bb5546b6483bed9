// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan::bridge {

/// A bridge's counts of the messages of one topic in one direction, since it started.
struct TopicCounts {
  std::uint64_t carried = 0;  ///< messages that reached the other side's library, or this computer's subscribers
  std::uint64_t bytes = 0;    ///< of those, as CDR
  std::uint64_t copied = 0;   ///< bytes that the bridge copied for them
  std::uint64_t thinned = 0;  ///< left out on purpose: `max_hz`, or nobody was there
  std::uint64_t lost = 0;     ///< wanted and not carried: the bridge or the receiver was too slow
  std::uint64_t refused = 0;  ///< malformed, too large, or of another type

  TopicCounts& operator+=(const TopicCounts& more) noexcept {
    carried += more.carried;
    bytes += more.bytes;
    copied += more.copied;
    thinned += more.thinned;
    lost += more.lost;
    refused += more.refused;
    return *this;
  }
};

struct TopicReport {
  std::string topic{};   ///< on this computer
  std::string beyond{};  ///< on the other side
  std::string type{};
  bool in = false;
  std::uint64_t receivers = 0;  ///< out: receivers on the other side; in: subscribers on this computer
  TopicCounts counts{};
  std::string note{};  ///< why nothing is carried; empty: all is well
};

}  // namespace cardan::bridge
