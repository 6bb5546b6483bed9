// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/stream.hpp"

#include <new>

namespace cardan::detail {
namespace {
Atomic<std::uint64_t> next_stream_id{1};
}

Stream::Stream(Parts parts, Room* room)
    : id(next_stream_id.fetch_add(1, std::memory_order_relaxed)),
      header(parts.header ? *parts.header : checked_header(parts.area, parts.area_bytes)),
      parts_(std::move(parts)),
      room_(room) {
  const std::byte* area = parts_.area;
  reliable_ = header.reliable != 0;
  foreign_ = parts_.foreign;
  attached_ns_ = steady_now();
  page_ = parts_.page;
  bell_ = parts_.bell;
  hot_ = reinterpret_cast<const layout::Hot*>(area + header.hot_offset);
  slots_ = area + header.slots_offset;
  payloads_ = area + header.payload_offset;
  message_offset_ = header.message_offset;
  chain_offset_ = layout::chain_offset(header.message_offset, header.message_bytes);
  chain_entries_ = static_cast<std::uint8_t>(header.chain_entries);
  payload_stride_ = header.payload_stride;
  payload_capacity_ = header.payload_bytes;
  time_shift_ns_ = parts_.time_shift_ns;
  const auto* front = reinterpret_cast<const Atomic<std::uint64_t>*>(area + header.front_offset);
  ring = {front,
          reinterpret_cast<const Atomic<std::uint64_t>*>(area + header.ring_offset),
          &reinterpret_cast<const layout::SlotMeta*>(slots_)->sequence,
          header.slot_stride,
          header.depth,
          header.max_slots};
  slots_there_.store(detail::slots_there(header, *hot_, parts_.slots, parts_.area_fd.get(), parts_.area_owner).count,
                     std::memory_order_relaxed);
  page().cursor.store(parts_.cursor, std::memory_order_relaxed);
}

Stream::More Stream::find_more_slots(std::uint32_t seen) const noexcept {
  const std::uint32_t known = slots_there();
  std::uint32_t before = known;
  std::atomic_thread_fence(std::memory_order_acquire);  // after the word that names the slot, whichever word that was
  const SlotsThere there = detail::slots_there(header, *hot_, known, parts_.area_fd.get(), parts_.area_owner);
  while (before < there.count && !slots_there_.compare_exchange_weak(before, there.count, std::memory_order_relaxed)) {
  }
  return slots_there() > seen ? More::Yes : there.answered ? More::No : More::NotKnown;
}

void Stream::describe_lines(WarmSet& lines) const noexcept {
  lines.add_range(this, &notify_fd);
  lines.add(ring.latest);
  lines.add(&page().waiting);
  lines.add(&page().cursor);
  lines.add(page().hold.data());
  lines.add(page().latency.data(), 3 * layout::kLine);  // up to some 100 µs
}

Stream* Stream::create(Parts parts, Room& room) {
  if (room.taken.exchange(true, std::memory_order_acq_rel)) return new Stream(std::move(parts), nullptr);
  try {
    return new (room.bytes.data()) Stream(std::move(parts), &room);
  } catch (...) {
    room.taken.store(false, std::memory_order_release);
    throw;
  }
}

Stream::~Stream() {
  parts_.keep.reset();
  if (parts_.on_gone) parts_.on_gone();
}

void Stream::drop_reference() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Room* room = room_;
  if (room == nullptr) {
    delete this;
    return;
  }
  this->~Stream();
  room->taken.store(false, std::memory_order_release);
}

}  // namespace cardan::detail
