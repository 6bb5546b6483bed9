// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/own_area.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/random.hpp"

namespace cardan::detail {
namespace {

using layout::align_up;

/// Slots in addition to the publisher's own. They bound the number of samples that subscribers can hold, and what
/// another user's subscribers can make of its memory (half of them by announcing, all by touching them).
std::size_t spare_slots(std::size_t base, std::size_t per_slot) {
  constexpr std::size_t kBytes = 256U << 20;  // a recorder holds up to 128 MiB of a topic
  constexpr std::size_t kFewest = 32;
  constexpr std::size_t kMost = 512;
  return std::clamp(std::max(kBytes / per_slot, 4 * base), kFewest, kMost);
}

std::size_t number_of_slots(const PublisherContract& contract, std::size_t per_slot) {
  const TopicOptions& o = contract.options;
  const std::size_t base = contract.fewest_slots();
  const std::size_t slots = std::min<std::size_t>(protocol::kMaxSlots, base + spare_slots(base, per_slot));
  if (o.max_memory == 0) return slots;
  if (o.max_memory < base * per_slot)
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "topic '{}': max_memory is {} bytes, but depth {} and {} loan(s) need {} before the first subscriber",
            contract.topic, o.max_memory, o.depth, o.loans, base * per_slot),
        "raise max_memory or lower depth, loans or max_bytes");
  return std::min(slots, o.max_memory / per_slot);
}

}  // namespace

OwnArea::OwnArea(const PublisherContract& contract, const Placement& placement) : placement_(placement) {
  const MessageType& type = contract.type;
  const TopicOptions& o = contract.options;
  const std::size_t message_offset = align_up(sizeof(layout::SlotMeta) + (type.has_arena ? type.arena_bytes : 0),
                                              std::max<std::size_t>(type.alignment, 8));
  const std::size_t record =
      align_up(layout::end_of_record(message_offset, type.bytes, contract.chain_entries), layout::kRecord);
  const bool apart = layout::payloads_apart(o.max_bytes);
  const std::size_t payload = align_up(o.max_bytes, apart ? layout::kPage : layout::kRecord);
  const std::size_t slot_stride = apart ? record : record + payload;
  const std::size_t slots = number_of_slots(contract, record + payload);

  const std::size_t schema_offset = layout::kPage;
  const std::size_t front_offset = align_up(schema_offset + type.schema.size(), layout::kPage);
  const std::size_t hot_offset = front_offset + layout::kLine;
  const std::size_t ring_offset = hot_offset + sizeof(layout::Hot);
  const std::size_t slots_offset = align_up(ring_offset + o.depth * sizeof(std::uint64_t), layout::kRecord);
  const std::size_t payload_offset =
      apart ? align_up(slots_offset + slots * slot_stride, layout::kPage) : slots_offset + record;
  const std::size_t total = apart ? payload_offset + slots * payload : slots_offset + slots * slot_stride;

  area_ = Area(contract.topic, total);
  area_.commit(0, slots_offset, {});
  header_ = new (area_.data()) layout::Header{};
  auto* hot = new (area_.data() + hot_offset) layout::Hot{};
  new (area_.data() + front_offset) Atomic<std::uint64_t>{0};
  std::memcpy(area_.data() + schema_offset, type.schema.data(), type.schema.size());
  auto* ring = reinterpret_cast<Atomic<std::uint64_t>*>(area_.data() + ring_offset);
  for (std::uint32_t i = 0; i < o.depth; ++i) new (ring + i) Atomic<std::uint64_t>{0};

  layout::Header& h = *header_;
  h.version = layout::kVersion;
  h.max_slots = static_cast<std::uint32_t>(slots);
  h.depth = o.depth;
  h.pid = static_cast<std::uint32_t>(::getpid());
  h.area_bytes = area_.size();
  h.front_offset = front_offset;
  h.hot_offset = hot_offset;
  h.ring_offset = ring_offset;
  h.slots_offset = slots_offset;
  h.slot_stride = slot_stride;
  h.message_offset = message_offset;
  h.message_bytes = type.bytes;
  h.payload_offset = payload_offset;
  h.payload_stride = apart ? payload : slot_stride;
  h.payload_bytes = o.max_bytes;
  h.schema_offset = schema_offset;
  h.schema_bytes = type.schema.size();
  h.type_hash = type.hash;
  h.stream = random64();
  h.deadline_ns = o.deadline.count();
  h.lifespan_ns = o.lifespan.count();
  h.created_ns = steady_now();
  h.reliable = o.reliable ? 1 : 0;
  h.chain_entries = contract.chain_entries;
  std::strncpy(h.topic.data(), contract.topic.c_str(), h.topic.size() - 1);
  std::strncpy(h.type_name.data(), type.name.c_str(), h.type_name.size() - 1);
  h.magic = layout::kMagic;
  hot->checksum.store(o.checksum ? 1 : 0, std::memory_order_relaxed);
  hot->heartbeat_ns.store(h.created_ns, std::memory_order_relaxed);
}

SlotPlaces OwnArea::places() const noexcept {
  const layout::Header& h = *header_;
  std::byte* const data = area_.data();
  using Word = Atomic<std::uint64_t>;
  return {.ring = {reinterpret_cast<Word*>(data + h.front_offset), reinterpret_cast<Word*>(data + h.ring_offset),
                   &reinterpret_cast<layout::SlotMeta*>(data + h.slots_offset)->sequence, h.slot_stride, h.depth,
                   h.max_slots},
          .hot = reinterpret_cast<layout::Hot*>(data + h.hot_offset),
          .payloads = data + h.payload_offset,
          .payload_stride = h.payload_stride,
          .payload_capacity = h.payload_bytes,
          .message_offset = h.message_offset,
          .message_bytes = h.message_bytes,
          .chain_offset = layout::chain_offset(h.message_offset, h.message_bytes),
          .chain_entries = h.chain_entries};
}

void OwnArea::commit(std::uint32_t have, std::uint32_t count) const {
  const layout::Header& h = *header_;
  const bool apart = layout::payloads_apart(h.payload_bytes);
  if (count > h.max_slots)
    throw Error(ErrorCode::Limit,
                fmt::format("topic '{}' has room for {} slots, but {} are needed", h.topic.data(), h.max_slots, count),
                fmt::format("announce fewer holds, or set the topic's max_memory to {} bytes or more",
                            count * (h.slot_stride + (apart ? h.payload_stride : 0))));
  const std::size_t more = count - have;
  area_.commit(h.slots_offset + have * h.slot_stride, more * h.slot_stride, placement_);
  if (apart) area_.commit(h.payload_offset + have * h.payload_stride, more * h.payload_stride, placement_);
  const SlotPlaces at = places();
  for (std::uint32_t s = have; s < count; ++s) new (at.record(s)) layout::SlotMeta{};
  at.hot->committed.store(count, std::memory_order_release);
}

}  // namespace cardan::detail
