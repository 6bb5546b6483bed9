// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/publisher_area.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "cardan/error.hpp"
#include "src/transport/endpoint/backing.hpp"

namespace cardan::detail {
namespace {

using layout::align_up;

constexpr std::uint64_t kMaxSchema = 16U << 20;  // of a message definition; a subscriber copies it

/// offset + count · stride ≤ bytes, without overflow.
bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t stride, std::uint64_t bytes) {
  return offset <= bytes && (stride == 0 || count <= (bytes - offset) / stride);
}

Error wrong_layout(const std::string& what) {
  return {ErrorCode::Incompatible, "the publisher's memory is not laid out as Cardan's: " + what,
          "it is another version, or not an honest Cardan process"};
}

/// Checks that no part is larger than in a correct publisher's own layout. All sums have been checked before.
void check_proportions(const layout::Header& h, std::size_t bytes) {
  const std::uint64_t payload = align_up(h.payload_bytes, layout::kPage);
  const std::uint64_t before_slots =
      4 * layout::kPage + align_up(h.schema_bytes, layout::kPage) + std::uint64_t{h.depth} * sizeof(std::uint64_t);
  if (h.schema_bytes > kMaxSchema || h.message_bytes > layout::kMaxPayload || h.message_offset > layout::kPage ||
      h.slots_offset > before_slots)
    throw wrong_layout("the part before the slots is too large");
  const std::uint64_t record =
      align_up(layout::end_of_record(h.message_offset, h.message_bytes, h.chain_entries), layout::kRecord);
  if (h.slot_stride > record + payload || h.payload_stride > record + payload)
    throw wrong_layout("slots too far apart");
  if (bytes > h.slots_offset + 2 * layout::kPage + std::uint64_t{h.max_slots} * (record + payload))
    throw wrong_layout("larger than its slots need");
}

/// The location of slots `from` to `to` (exclusive).
Ranges slots_from(const layout::Header& h, std::uint32_t from, std::uint32_t to) {
  const std::uint64_t count = to - from;
  return {{h.slots_offset + from * h.slot_stride, count * h.slot_stride},
          {h.payload_offset + from * h.payload_stride, (count - 1) * h.payload_stride + h.payload_bytes}};
}

}  // namespace

layout::Header checked_header(const std::byte* area, std::size_t bytes) {
  const auto wrong = [](const std::string& what) { return wrong_layout(what); };
  layout::Header h{};
  if (bytes < 2 * layout::kPage) throw wrong("too small");
  std::memcpy(&h, area, sizeof(h));
  if (h.magic != layout::kMagic) throw wrong("not a Cardan area");
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
  if (h.chain_entries > layout::kMaxChainEntries ||
      layout::end_of_record(h.message_offset, h.message_bytes, h.chain_entries) > h.slot_stride)
    throw wrong("chain entries");
  if (h.payload_offset % layout::kLine != 0 || h.payload_stride % layout::kLine != 0 ||
      h.payload_bytes > h.payload_stride || !fits(h.payload_offset, h.max_slots - 1, h.payload_stride, bytes) ||
      !fits(h.payload_offset + (h.max_slots - 1) * h.payload_stride, 1, h.payload_bytes, bytes))
    throw wrong("payload");
  if (!fits(h.schema_offset, 1, h.schema_bytes, bytes)) throw wrong("schema");
  check_proportions(h, bytes);
  h.topic.back() = '\0';
  h.type_name.back() = '\0';
  return h;
}

std::size_t most_payload(std::size_t max_bytes) noexcept {
  const std::size_t bytes = std::min(max_bytes, layout::kMaxPayload);
  return align_up(bytes, bytes >= layout::kPageAlignedFrom ? layout::kPage : layout::kRecord);
}

SlotsThere slots_there(const layout::Header& h, const layout::Hot& hot, std::uint32_t known, int fd,
                       uid_t whose) noexcept {
  const std::uint32_t committed = std::min(hot.committed.load(std::memory_order_acquire), h.max_slots);
  if (committed <= known || fd < 0) return {std::max(committed, known)};
  try {
    const Backed backed = all_backed_in_time(fd, slots_from(h, known, committed), whose);
    return {backed == Backed::Yes ? committed : known, backed != Backed::NotAnswered};
  } catch (const std::bad_alloc&) {
    return {known, false};
  }
}

PublisherArea PublisherArea::map(Fd fd, std::size_t bytes, bool foreign, uid_t whose) {
  PublisherArea area{map_read_only(fd, bytes), {}, 0, {}};
  const auto need = [&](const Ranges& ranges) {
    const Backed backed = foreign                        ? all_backed_in_time(fd.get(), ranges, whose)
                          : all_backed(fd.get(), ranges) ? Backed::Yes
                                                         : Backed::No;
    if (backed == Backed::No) throw wrong_layout("no memory backs it");
    if (backed == Backed::NotAnswered)
      throw Error(ErrorCode::Limit,
                  fmt::format("it is not known whether memory backs it: {}, or another process, delays the query",
                              socket::name_of_user(whose)),
                  "no action needed: it is queried again");
  };
  need({{0, sizeof(layout::Header)}});
  area.header = checked_header(area.mapping.data(), area.mapping.size());
  const layout::Header& h = area.header;
  need({{0, h.slots_offset},
        {h.schema_offset, h.schema_bytes},  // these at any place that the header names
        {h.front_offset, layout::kLine},
        {h.hot_offset, sizeof(layout::Hot)},
        {h.ring_offset, h.depth * sizeof(std::uint64_t)}});
  area.slots = std::min(area.hot().committed.load(std::memory_order_acquire), h.max_slots);
  if (area.slots == 0) throw wrong_layout("it has no slots");
  need(slots_from(h, 0, area.slots));
  if (foreign) area.fd = BoundFd(std::move(fd));
  return area;
}

void PublisherArea::check(const ReaderContract& contract) const {
  if (header.type_hash != contract.type_hash || header.message_bytes != contract.message_bytes ||
      header.message_offset % std::max<std::size_t>(contract.alignment, 8) != 0)
    throw Error(ErrorCode::Incompatible, "the publisher announces messages of our type, but its memory has another one",
                "it is not an honest Cardan process");
  if (header.payload_bytes > most_payload(contract.max_bytes))
    throw Error(
        ErrorCode::Incompatible,
        fmt::format("its messages may have {} payload bytes, but this reader's topic allows {} (max_bytes)",
                    header.payload_bytes, contract.max_bytes),
        fmt::format("use the same topic options on both sides: max_bytes = {} at the reader", header.payload_bytes));
}

void PublisherArea::prefault(std::size_t most) const noexcept {
  const std::size_t records = std::min(most, header.slots_offset + slots * header.slot_stride);
  prefault_read_only(mapping, 0, records);
  if (layout::payloads_apart(header.payload_bytes) && records < most)
    prefault_read_only(mapping, header.payload_offset,
                       std::min(most - records, (slots - 1) * header.payload_stride + header.payload_bytes));
}

}  // namespace cardan::detail
