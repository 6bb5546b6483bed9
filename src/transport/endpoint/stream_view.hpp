// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cardan/observer_report.hpp"
#include "src/transport/endpoint/stream.hpp"
#include "src/transport/protocol/layout.hpp"
#include "src/transport/protocol/observer_protocol.hpp"

namespace cardan::detail {

/// The facts about a publisher's area that a copy needs; every number in the header has been checked.
struct StreamView {
  const layout::Header& header;
  protocol::ReaderRing<Native> ring;
  const std::byte* slots;
  const std::byte* payloads;
  std::int64_t time_shift;
  std::size_t most;  ///< payload bytes that are copied

  [[nodiscard]] const layout::SlotMeta& meta(std::uint32_t slot) const noexcept {
    return *reinterpret_cast<const layout::SlotMeta*>(slots + slot * header.slot_stride);
  }

  using Word = Native::Word<std::uint64_t>;
  static std::size_t words(std::size_t bytes) noexcept {
    return (bytes + 7) / 8;
  }  // all regions begin at, and leave room to, multiples of 8

  [[nodiscard]] bool copy(protocol::Entry e, ObservedSample& into) const {
    const layout::SlotMeta& m = meta(e.slot);
    const std::byte* message = slots + e.slot * header.slot_stride + header.message_offset;
    const std::byte* payload = payloads + e.slot * header.payload_stride;
    constexpr auto relaxed = std::memory_order_relaxed;
    into.sequence_ = 0;
    const bool whole = protocol::observe<Native>(ring, e, [&] {
      const std::uint64_t bytes = m.payload_bytes.load(relaxed);  // read once, then checked
      if (bytes > header.payload_bytes || bytes > most) return false;
      into.publish_ns_ = our_time(m.publish_ns.load(relaxed), time_shift);
      into.source_ns_ = m.source_ns.load(relaxed);
      into.message_bytes_ = header.message_bytes;
      into.payload_bytes_ = bytes;
      auto* to_message = reinterpret_cast<std::uint64_t*>(into.message_.reserve(header.message_bytes + 8));
      auto* to_payload = reinterpret_cast<std::uint64_t*>(into.payload_.reserve(bytes + 8));
      protocol::copy_words<Native>(reinterpret_cast<const Word*>(message), to_message, words(header.message_bytes));
      protocol::copy_words<Native>(reinterpret_cast<const Word*>(payload), to_payload, words(bytes));
      return true;
    });
    if (!whole) return false;
    into.sequence_ = e.sequence;
    into.type_hash_ = header.type_hash;
    into.message_offset_ = message - payload;
    into.adopted_ = false;
    into.passed_over_ = 0;
    return true;
  }

  /// Copies the entry that `pick` returns. If the publisher takes it back meanwhile, `pick` is called again.
  template <class Pick>
  bool copy_picked(ObservedSample& into, Pick&& pick) const {
    for (int round = 0; round < 8; ++round) {
      const std::optional<protocol::Entry> e = pick();
      if (!e) return false;
      if (copy(*e, into)) return true;
    }
    return false;
  }
  bool copy_latest(ObservedSample& into, std::uint64_t after) const {
    return copy_picked(into, [&] { return protocol::newest_after<Native>(ring, after); });
  }
};

/// Copies the newest publication of a subscriber's stream with a number greater than `after`, without taking it.
/// Any thread; does not block.
bool copy_latest(const Stream& stream, ObservedSample& into, std::uint64_t after = 0);

}  // namespace cardan::detail
