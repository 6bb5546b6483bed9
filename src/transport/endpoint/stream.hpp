// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cardan/clock.hpp"
#include "cardan/detail/basis.hpp"
#include "src/base/area.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/warm.hpp"
#include "src/transport/endpoint/publisher_area.hpp"
#include "src/transport/endpoint/refusals.hpp"
#include "src/transport/endpoint/stream_rhythm.hpp"
#include "src/transport/protocol/bell_protocol.hpp"
#include "src/transport/protocol/layout.hpp"
#include "src/transport/protocol/slot_protocol.hpp"

namespace cardan::detail {

/// An origin from another process's pages, in our clock. kUnknownOrigin also for what cannot be true, such as an origin
/// after the publication. For any stored value, the sum does not overflow.
[[nodiscard]] inline std::int64_t our_origin(std::int64_t stored, std::int64_t time_shift,
                                             std::int64_t publish_ns) noexcept {
  if (stored <= 0 || stored > (std::int64_t{1} << 61)) return kUnknownOrigin;
  const std::int64_t origin = stored + time_shift;
  return origin > 0 && origin <= publish_ns ? origin : kUnknownOrigin;
}

/// One publisher's stream as one subscriber sees it: the publisher's pages (read-only), the subscriber's own page, and
/// the resources that are released when the last sample is gone. References are counted: the subscriber's list, each
/// sample and each sleeping thread hold one.
class alignas(layout::kLine) Stream {
 public:
  /// Lost: our attachment is gone, so nothing is held for us, and it is not known yet whether the publisher lives. From
  /// Misbehaved on nothing is taken.
  enum class End : std::uint8_t { Running, Left, Died, Misbehaved, Lost };

  struct Parts {
    std::byte* area = nullptr;  ///< the publisher's pages
    std::size_t area_bytes = 0;
    std::optional<layout::Header> header{};  ///< checked already; empty: to be read and checked
    std::uint32_t slots = 0;                 ///< slots that are there
    BoundFd area_fd{};                       ///< for finding slots that come later; only of another user's area
    uid_t area_owner = socket::kUnmapped;    ///< that user
    const layout::Bell* bell = nullptr;
    layout::SubscriberPage* page = nullptr;
    std::shared_ptr<void> keep;      ///< owns what the pointers above need
    std::function<void()> on_gone;   ///< called when the last reference is dropped; any thread
    std::uint64_t cursor = 0;        ///< where to start
    std::uint64_t owed_from = 0;     ///< last publication before the attach: earlier losses are not counted
    std::int64_t time_shift_ns = 0;  ///< added to the publisher's steady stamps (another time namespace)
    std::string peer_name;
    std::uint64_t tag = 0;  ///< by which the subscriber knows it, if it was attached by name
    int peer_pid = 0;
    bool foreign = false;  ///< the publisher belongs to another user
  };
  /// Room for one stream next to its subscriber's own memory. It saves fetching a page at each wake-up.
  struct Room;
  /// In `room`, or on the heap if that is taken. The room must outlive the stream.
  static Stream* create(Parts parts, Room& room);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;

  [[nodiscard]] const layout::SlotMeta& meta(std::uint32_t slot) const noexcept {
    return *reinterpret_cast<const layout::SlotMeta*>(slots_ + slot * ring.sequence_stride);
  }
  [[nodiscard]] const std::byte* message(std::uint32_t slot) const noexcept {
    return slots_ + slot * ring.sequence_stride + message_offset_;
  }
  [[nodiscard]] const std::byte* payload(std::uint32_t slot) const noexcept {
    return payloads_ + slot * payload_stride_;
  }
  [[nodiscard]] bool something_new() const noexcept {
    return protocol::something_new<Native>(*ring.latest, page().cursor);
  }
  /// The publisher's words as far as they may be followed, with `slots` slots.
  [[nodiscard]] protocol::ReaderRing<Native> ring_of(std::uint32_t slots) const noexcept {
    protocol::ReaderRing<Native> r = ring;
    r.slots = slots;
    return r;
  }
  /// Slots below this number may be read. It grows when the publisher commits more, and never shrinks.
  [[nodiscard]] std::uint32_t slots_there() const noexcept { return slots_there_.load(std::memory_order_relaxed); }
  enum class More : std::uint8_t { Yes, No, NotKnown };
  /// Checks whether there are more slots than the `seen` ones by now. If not, a publisher that names a higher one is
  /// lying.
  /// Any thread; may make a system call.
  [[nodiscard]] More find_more_slots(std::uint32_t seen) const noexcept;
  [[nodiscard]] const layout::Hot& hot() const noexcept { return *hot_; }
  /// The publisher's last sign of life, in our clock. A time in the future counts as the time of the attach.
  [[nodiscard]] std::int64_t last_sign_of_life(std::int64_t now) const noexcept {
    const std::int64_t beat = our_time(hot_->heartbeat_ns);
    return beat > 0 && (beat <= now || beat <= steady_now()) ? beat : attached_ns_;
  }
  [[nodiscard]] layout::SubscriberPage& page() const noexcept { return *page_; }
  [[nodiscard]] const layout::Bell& bell() const noexcept { return *bell_; }
  /// A stamp from the publisher's pages, in our clock. For any stored value, sums with it do not overflow.
  [[nodiscard]] std::int64_t our_time(const Atomic<std::int64_t>& stamp) const noexcept {
    const std::int64_t ns = stamp.load(std::memory_order_relaxed);
    return (ns < 0 || ns > (std::int64_t{1} << 61) ? 0 : ns) + time_shift_ns_;
  }
  /// The slot's origin, in our clock. kUnknownOrigin also for what cannot be true, such as one after the publication.
  [[nodiscard]] std::int64_t origin_of(const layout::SlotMeta& slot, std::int64_t publish_ns) const noexcept {
    return our_origin(slot.origin_ns.load(std::memory_order_relaxed), time_shift_ns_, publish_ns);
  }
  /// The slot's chain entries: header.chain_entries of them.
  [[nodiscard]] const layout::ChainEntry* chains(std::uint32_t slot) const noexcept {
    return reinterpret_cast<const layout::ChainEntry*>(slots_ + slot * ring.sequence_stride + chain_offset_);
  }
  [[nodiscard]] std::uint8_t chain_entries() const noexcept { return chain_entries_; }
  [[nodiscard]] std::int64_t time_shift() const noexcept { return time_shift_ns_; }
  /// How many of the `missed` publications before number n came after the attach.
  [[nodiscard]] std::uint64_t owed(std::uint64_t n, std::uint64_t missed) const noexcept {
    return n <= parts_.owed_from + 1 ? 0 : std::min(missed, n - parts_.owed_from - 1);
  }
  [[nodiscard]] bool foreign() const noexcept { return foreign_; }
  /// The owner of another user's stream.
  [[nodiscard]] uid_t owner() const noexcept { return parts_.area_owner; }
  [[nodiscard]] const std::string& peer_name() const noexcept { return parts_.peer_name; }
  [[nodiscard]] int peer_pid() const noexcept { return parts_.peer_pid; }
  [[nodiscard]] std::uint64_t tag() const noexcept { return parts_.tag; }

  /// Capacity of one payload, and whether the publisher waits for us. The same as in the header, but in a cache line
  /// that a take reads anyway.
  [[nodiscard]] std::uint64_t payload_capacity() const noexcept { return payload_capacity_; }
  [[nodiscard]] bool reliable() const noexcept { return reliable_; }
  /// Prefetches the lines of this slot that a take reads. Any number is allowed, because a prefetch never faults.
  void warm_slot(std::uint32_t slot) const noexcept {
    __builtin_prefetch(&meta(slot));
    __builtin_prefetch(message(slot));
  }
  /// Adds the lines that a take will touch.
  void describe_lines(WarmSet& lines) const noexcept;

  // From here to `notify_fd` in the order of a take, line by line.
  protocol::ReaderRing<Native> ring{};

 private:
  mutable Atomic<std::uint32_t> slots_there_{0};  ///< `ring.slots` is the number that the header reserves

 public:
  // The helper thread writes these two; taking threads read them.
  Atomic<End> end{End::Running};
  Atomic<bool> drained{false};  ///< ended, and all its samples were taken
  Atomic<bool> aside{false};    ///< its last publication cannot be read yet (SubscriberCore::set_aside)

 private:
  bool reliable_ = false;
  bool foreign_ = false;
  std::uint8_t chain_entries_ = 0;
  Atomic<std::uint32_t> references_{1};
  layout::SubscriberPage* page_ = nullptr;
  const layout::Hot* hot_ = nullptr;
  const std::byte* slots_ = nullptr;
  const std::byte* payloads_ = nullptr;
  std::uint64_t message_offset_ = 0;
  std::uint64_t chain_offset_ = 0;
  std::uint64_t payload_stride_ = 0;
  std::uint64_t payload_capacity_ = 0;
  std::int64_t time_shift_ns_ = 0;

 public:
  StreamRhythm rhythm;

 private:
  const layout::Bell* bell_ = nullptr;

 public:
  Atomic<int> notify_fd{-1};
  Fd notify;  ///< our end of the socket pair, once fd() is in use; written by the helper thread, drained by takers
  RefusalsInARow refusals;  ///< taking threads
  /// Times in a row that another user's stream was chosen instead; taking threads.
  Atomic<std::uint32_t> passed_over{0};
  const std::uint64_t id;  ///< unique in this process: links identify a stream by it, because the stream may be gone
  const layout::Header header;

 private:
  Stream(Parts parts, Room* room);
  ~Stream();

  std::int64_t attached_ns_ = 0;
  Parts parts_;
  Room* room_;
};

struct Stream::Room {
  alignas(Stream) std::array<std::byte, sizeof(Stream)> bytes;
  Atomic<bool> taken{false};
};

}  // namespace cardan::detail
