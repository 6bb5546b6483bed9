// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cardan/placement.hpp"
#include "src/base/area.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"
#include "src/transport/protocol/layout.hpp"
#include "src/transport/protocol/slot_protocol.hpp"

namespace cardan::detail {

/// The places in a publisher's area that loan() and publish() touch.
struct SlotPlaces {
  protocol::PublisherRing<Native> ring{};
  layout::Hot* hot = nullptr;
  std::byte* payloads = nullptr;
  std::size_t payload_stride = 0;
  std::size_t payload_capacity = 0;
  std::size_t message_offset = 0;
  std::size_t message_bytes = 0;
  std::size_t chain_offset = 0;
  std::uint32_t chain_entries = 0;

  [[nodiscard]] std::byte* record(std::size_t slot) const noexcept {
    return reinterpret_cast<std::byte*>(ring.first_sequence) + slot * ring.sequence_stride;
  }
  [[nodiscard]] layout::SlotMeta& meta(std::size_t slot) const noexcept {
    return *reinterpret_cast<layout::SlotMeta*>(record(slot));
  }
  [[nodiscard]] std::byte* arena(std::size_t slot) const noexcept { return record(slot) + sizeof(layout::SlotMeta); }
  [[nodiscard]] std::byte* message(std::size_t slot) const noexcept { return record(slot) + message_offset; }
  [[nodiscard]] std::span<layout::ChainEntry> chains(std::size_t slot) const noexcept {
    return {reinterpret_cast<layout::ChainEntry*>(record(slot) + chain_offset), chain_entries};
  }
  [[nodiscard]] std::byte* payload(std::size_t slot) const noexcept { return payloads + slot * payload_stride; }
};

/// A publisher's own area: its layout, and which of its slots have memory. Subscribers see it as a PublisherArea.
/// Set-up and helper thread.
class OwnArea {
 public:
  /// Reserves the address space, and lays it out. No slot has memory yet. Throws Error (InvalidArgument, NoMemory).
  OwnArea(const PublisherContract& contract, const Placement& placement);

  /// Gives memory to the slots from `have` on, as far as there are `count`, and tells subscribers of it. Throws Error
  /// (Limit, NoMemory) with the number to change.
  void commit(std::uint32_t have, std::uint32_t count) const;
  [[nodiscard]] SlotPlaces places() const noexcept;
  [[nodiscard]] const layout::Header& header() const noexcept { return *header_; }
  [[nodiscard]] const Area& area() const noexcept { return area_; }

 private:
  Area area_;
  Placement placement_;
  layout::Header* header_ = nullptr;
};

}  // namespace cardan::detail
