// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/topic.hpp"
#include "src/base/area.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/socket.hpp"
#include "src/transport/protocol/layout.hpp"

/// A publisher's area as a subscriber receives it, and the checks that precede every access. Nothing in the area is
/// trusted. Set-up only, except slots_there().
namespace cardan::detail {

/// A stamp that another process wrote, in our clock. For any stored value, sums and differences with the result do not
/// overflow.
constexpr std::int64_t our_time(std::int64_t theirs, std::int64_t shift) {
  return (theirs < 0 || theirs > (std::int64_t{1} << 61) ? 0 : theirs) + shift;
}

/// A copy of a publisher's header in which every number has been checked against the area's real size, and the size
/// against what that number of slots needs. Throws Error (Incompatible).
layout::Header checked_header(const std::byte* area, std::size_t bytes);

/// The payload capacity that a publisher may have if its subscriber's contract says `max_bytes`: the capacity that a
/// publisher with this contract reserves. 0 bytes stay 0.
[[nodiscard]] std::size_t most_payload(std::size_t max_bytes) noexcept;

struct SlotsThere {
  std::uint32_t count;
  bool answered = true;  ///< false: there may be more slots; whether memory backs them is not known yet
};
/// How many slots, from the first on, a subscriber may read: those below `committed`, which is read once. `fd` ≥ 0:
/// only slots backed by memory, because reading a hole allocates it, at the subscriber's cost. The first `known` are
/// known to be there.
/// Any thread. Without a descriptor it makes no system call; with one it may block as all_backed_in_time() does.
[[nodiscard]] SlotsThere slots_there(const layout::Header& header, const layout::Hot& hot, std::uint32_t known, int fd,
                                     uid_t whose = socket::kUnmapped) noexcept;

/// The contract to which a subscriber agreed.
struct ReaderContract {
  std::uint64_t type_hash;
  std::size_t message_bytes;
  std::size_t alignment;
  std::size_t max_bytes;
};

/// A publisher's area that was mapped and checked. The descriptor is kept if the publisher belongs to another user:
/// slots that it commits later are checked before they are read.
struct PublisherArea {
  Mapping mapping;
  layout::Header header;
  std::uint32_t slots;            ///< slots that are there
  BoundFd fd;                     ///< of another user's area; otherwise empty
  Access access = Access::Owner;  ///< as its process tells an observer; Owner if it does not

  /// Maps and checks. `whose`: the user, if it is another one. Throws Error (Incompatible, System; Limit: it could not
  /// be found out now whether memory backs it, which says nothing about the area).
  static PublisherArea map(Fd fd, std::size_t bytes, bool foreign, uid_t whose = socket::kUnmapped);
  /// Throws Error (Incompatible) unless the area fits the subscriber's contract.
  void check(const ReaderContract& contract) const;
  /// Faults in the slots that are there, up to `most` bytes.
  void prefault(std::size_t most) const noexcept;

  [[nodiscard]] const layout::Hot& hot() const noexcept {
    return *reinterpret_cast<const layout::Hot*>(mapping.data() + header.hot_offset);
  }
};

}  // namespace cardan::detail
