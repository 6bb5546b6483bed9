// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cardan/detail/atomic.hpp"
#include "cardan/detail/basis.hpp"

namespace cardan::layout {
struct ChainEntry;
}

namespace cardan::detail {

/// Copies a message's fixed struct out of shared memory and makes its vectors point into the payload, with checks.
/// Returns false if it is malformed.
using AdoptFunction = bool (*)(void* private_copy, const void* shared, const std::byte* payload,
                               std::size_t payload_bytes) noexcept;

class SubscriberCore;
class Stream;

/// The block to which a Sample<T> points: counted references to a message. A subscriber's blocks lie in its pool; the
/// message's fixed struct follows the block if it had to be copied out and checked. For other blocks `release` says how
/// they are freed.
struct SampleBlock {
  Atomic<std::uint32_t> references{0};
  std::uint32_t slot = 0;
  SubscriberCore* owner = nullptr;
  Stream* stream = nullptr;
  const void* message = nullptr;
  const std::byte* payload = nullptr;
  std::uint64_t payload_bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t missed = 0;
  std::int64_t publish_ns = 0;
  std::int64_t source_ns = 0;
  std::int64_t origin_ns = 0;                  ///< steady clock, the oldest publication that it rests on; 0: its own
  std::uint64_t stream_id = 0;                 ///< of its publisher; 0: none
  bool is_private = false;                     ///< an OwnBlock that only this process can find
  bool foreign = false;                        ///< of another user, who may say what he likes
  std::uint8_t chain_count = 0;                ///< of `chains`
  std::uint32_t chain_from = 0;                ///< ChainRole::key() of its topic, if a chain begins there; or 0
  const layout::ChainEntry* chains = nullptr;  ///< what it rests on of chains, in its slot
  std::unique_ptr<const ChainGrounds> own_chains{};  ///< the same of an object of this process; not a subscriber's
  void (*release)(SampleBlock* block) noexcept = nullptr;  ///< null: a subscriber's block

  /// Steady clock, nanoseconds; 0: not known.
  [[nodiscard]] std::int64_t origin() const noexcept {
    return origin_ns == kUnknownOrigin ? 0 : origin_ns != 0 ? origin_ns : publish_ns;
  }
  /// The origin of publications that rest on it. Another user's word is not handed on.
  [[nodiscard]] std::int64_t basis_ns() const noexcept {
    if (foreign) return kUnknownOrigin;
    return origin_ns != 0 ? origin_ns : publish_ns;
  }
};

static_assert(sizeof(SampleBlock) <= 128, "each take touches it: two cache lines");

/// A block that this process made itself: of an object, of a slot of its own publisher, or of a copy.
struct OwnBlock : SampleBlock {
  /// If it `is_private`: the nearest cause that others can find, as Basis::shared_stream.
  std::uint64_t cause_stream = 0, cause_sequence = 0;

  /// It has the same content as another sample, so that it rests on the same. Throws std::bad_alloc.
  void take_ground_of(const SampleBlock& other);
};

void give_back_taken(SampleBlock* block) noexcept;

/// Drops one reference. Any thread; never blocks.
inline void drop(SampleBlock* block) noexcept {
  if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block->release == nullptr)
    give_back_taken(block);
  else
    block->release(block);
}

}  // namespace cardan::detail
