// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/base/area.hpp"
#include "cardan/base/bound_fd.hpp"
#include "cardan/base/socket.hpp"
#include "cardan/transport/protocol/layout.hpp"

/// A publisher's area as a reader gets it: what is checked before anything in it is looked at. Nothing in it is
/// trusted. Set-up only, but for slots_there().
namespace cardan::detail {

/// A copy of a publisher's header in which every number has been checked against the area's real size, and the size
/// against what so many slots of that size need. Throws Error (Incompatible).
layout::Header checked_header(const std::byte* area, std::size_t bytes);

/// The payload capacity that a publisher may have when its reader's contract says `max_bytes`: what a publisher with
/// this contract reserves. 0 bytes stay 0.
[[nodiscard]] std::size_t most_payload(std::size_t max_bytes) noexcept;

/// Whether memory stands behind another user's pages. The question can wait for their owner, of whom it does so for a
/// second a minute at most, and for all owners together for six seconds and a few milliseconds of each.
enum class Backed : std::uint8_t { No, Yes, NotAnswered };

struct SlotsThere {
  std::uint32_t count;
  bool answered = true;  ///< false: there may be more, and whether memory stands behind them is not known yet
};
/// How many slots from the first on a reader may look at: those below `committed`, which is read once. `fd` ≥ 0: only
/// if memory stands behind them, since to read a hole allocates it, at the reader's cost. `known` are known to be
/// there. Any thread; without a descriptor no system call, with one it may block as Backed says.
[[nodiscard]] SlotsThere slots_there(const layout::Header& header, const layout::Hot& hot, std::uint32_t known, int fd,
                                     uid_t whose = socket::kUnmapped) noexcept;

/// What a reader agreed to.
struct ReaderContract {
  std::uint64_t type_hash;
  std::size_t message_bytes;
  std::size_t alignment;
  std::size_t max_bytes;
};

/// A publisher's area that was mapped and checked. The descriptor is kept where the publisher is another user: slots
/// that it commits later are looked at before they are read.
struct PublisherArea {
  Mapping mapping;
  layout::Header header;
  std::uint32_t slots;  ///< that are there
  BoundFd fd;           ///< of another user's area; else empty

  /// Maps and checks. `whose`: the user, where it is another one. Throws Error (Incompatible, System;
  /// Limit: what stands behind it could not be learned now, which says nothing about it).
  static PublisherArea map(Fd fd, std::size_t bytes, bool foreign, uid_t whose = socket::kUnmapped);
  /// Throws Error (Incompatible) unless the area fits what the reader agreed to.
  void check(const ReaderContract& contract) const;
  /// Faults in what is there, up to `most` bytes.
  void prefault(std::size_t most) const noexcept;

  [[nodiscard]] const layout::Hot& hot() const noexcept {
    return *reinterpret_cast<const layout::Hot*>(mapping.data() + header.hot_offset);
  }
};

}  // namespace cardan::detail
