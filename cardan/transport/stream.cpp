// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/stream.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "cardan/memory/error.hpp"

namespace cardan::detail {
namespace {

/// offset + count · stride ≤ bytes, without overflow.
bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t stride, std::uint64_t bytes) {
  return offset <= bytes && (stride == 0 || count <= (bytes - offset) / stride);
}

}  // namespace

layout::Header checked_header(const std::byte* area, std::size_t bytes) {
  const auto wrong = [](const std::string& what) {
    return Error(ErrorCode::Incompatible, "the publisher's memory is not laid out as Cardan's: " + what,
                 "it is another version, or no honest Cardan process");
  };
  layout::Header h{};
  if (bytes < 2 * layout::kPage) throw wrong("too small");
  std::memcpy(&h, area, sizeof(h));
  if (h.magic != layout::kMagic) throw wrong("no Cardan area");
  if (h.version != layout::kVersion)
    throw wrong(fmt::format("layout version {} instead of {}", h.version, layout::kVersion));
  if (h.area_bytes != bytes) throw wrong("its size");
  if (h.max_slots == 0 || h.max_slots > protocol::kMaxSlots || h.depth == 0 || h.depth > layout::kMaxDepth)
    throw wrong("slots or depth");
  if (h.payload_bytes > layout::kMaxPayload || h.message_bytes > bytes) throw wrong("message size");
  if (h.front_offset % layout::kLine != 0 || !fits(h.front_offset, 1, layout::kLine, bytes)) throw wrong("front line");
  if (h.hot_offset % layout::kLine != 0 || !fits(h.hot_offset, 1, sizeof(layout::Hot), bytes)) throw wrong("hot line");
  if (h.ring_offset % 8 != 0 || !fits(h.ring_offset, h.depth, 8, bytes)) throw wrong("ring");
  if (h.slots_offset % layout::kLine != 0 || h.slot_stride % layout::kLine != 0 ||
      h.slot_stride < sizeof(layout::SlotMeta) || !fits(h.slots_offset, h.max_slots, h.slot_stride, bytes))
    throw wrong("slots");
  if (h.message_offset < sizeof(layout::SlotMeta) || h.message_offset % 8 != 0 || h.message_offset > h.slot_stride ||
      h.message_bytes > h.slot_stride - h.message_offset)
    throw wrong("message");
  if (h.payload_offset % layout::kLine != 0 || h.payload_stride % layout::kLine != 0 ||
      h.payload_bytes > h.payload_stride || !fits(h.payload_offset, h.max_slots - 1, h.payload_stride, bytes) ||
      !fits(h.payload_offset + (h.max_slots - 1) * h.payload_stride, 1, h.payload_bytes, bytes))
    throw wrong("payload");
  if (!fits(h.schema_offset, 1, h.schema_bytes, bytes)) throw wrong("schema");
  h.topic.back() = '\0';
  h.type_name.back() = '\0';
  return h;
}

namespace {
Atomic<std::uint64_t> next_stream_id{1};
}

Stream::Stream(Parts parts, Room* room)
    : id(next_stream_id.fetch_add(1, std::memory_order_relaxed)),
      header(checked_header(parts.area, parts.area_bytes)),
      parts_(std::move(parts)),
      room_(room) {
  const std::byte* area = parts_.area;
  reliable_ = header.reliable != 0;
  page_ = parts_.page;
  bell_ = parts_.bell;
  hot_ = reinterpret_cast<const layout::Hot*>(area + header.hot_offset);
  slots_ = area + header.slots_offset;
  payloads_ = area + header.payload_offset;
  message_offset_ = header.message_offset;
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
  page().cursor.store(parts_.cursor, std::memory_order_relaxed);
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
