// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "cardan/detail/basis.hpp"
#include "cardan/endpoint_options.hpp"
#include "src/base/warm.hpp"
#include "src/transport/endpoint/backpressure.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/chain_role.hpp"
#include "src/transport/endpoint/hand_over.hpp"
#include "src/transport/endpoint/own_area.hpp"
#include "src/transport/endpoint/own_slots.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"
#include "src/transport/endpoint/publisher_table.hpp"
#include "src/transport/endpoint/ringer.hpp"
#include "src/transport/endpoint/trace_names.hpp"

namespace cardan::detail {

/// One publisher's stream. Its parts: OwnArea has the memory and OwnSlots knows which slot is free; PublisherTable has
/// the subscribers, Ringer wakes them, and Backpressure waits for them.
/// Thread safety: the functions of the first group belong to the publishing thread (one at a time, any thread), those
/// of the second to any thread, everything else to set-up and the helper thread.
class PublisherCore : public std::enable_shared_from_this<PublisherCore> {
 public:
  PublisherCore(std::string topic, MessageType type, const TopicOptions& options, const PublisherOptions& endpoint,
                const ChainRole& chain = {});

  // Publishing thread:
  int loan() noexcept;  ///< a slot to fill, or −1. Wait-free.
  /// Why loan() had no slot: the loans (true), or the samples that subscribers keep (false).
  [[nodiscard]] bool all_loans_are_out() const noexcept { return slots_.all_are_out(); }
  void soon() noexcept;  ///< rings subscribers that pre-wake. One system call if there are any.
  /// Of a slot that is being filled: its publication rests on this sample's grounds of chains.
  void rests_on(int slot, const SampleBlock& sample) noexcept;
  bool publish(int slot, std::size_t payload_bytes, std::int64_t source_ns, HandOver here = {},
               const Basis& named = {}) noexcept;
  /// Waits until publish() would not have to wait for reliable subscribers. Returns false at `until` (steady clock).
  bool wait_for_room(std::int64_t until) noexcept;
  /// Returns a sample of the slot for this process. The slot waits for it as for any subscriber. Call it within
  /// publish()'s hand-over, or right after it on the same thread. Null without hold_own(). Wait-free.
  SampleBlock* keep(int slot) noexcept;

  // Any thread:
  void abandon(int slot) noexcept;
  [[nodiscard]] void* message(int slot) const noexcept { return at_.message(static_cast<std::uint32_t>(slot)); }
  [[nodiscard]] void* arena(int slot) const noexcept { return at_.arena(static_cast<std::uint32_t>(slot)); }
  [[nodiscard]] std::byte* payload(int slot) const noexcept { return at_.payload(static_cast<std::uint32_t>(slot)); }
  [[nodiscard]] std::size_t payload_capacity() const noexcept { return at_.payload_capacity; }
  [[nodiscard]] std::uint64_t published() const noexcept;
  void set_checksum(bool on) noexcept { at_.hot->checksum.store(on ? 1 : 0, std::memory_order_relaxed); }
  /// `count` samples of hold_own() are not held any more. Their memory stays for later ones.
  void hold_own_less(std::uint32_t count) noexcept;

  // Helper thread and set-up:
  /// Commits the slots that the subscriber announced and enters it into the table. From then on its holds count. Throws
  /// Error (NoMemory, Limit) with the number to change.
  Attached* attach(std::unique_ptr<Attached> subscriber);
  /// Makes room for `count` more samples that this process keeps by keep(). Throws Error (NoMemory, Limit).
  void hold_own(std::uint32_t count);
  /// Removes the subscriber from the table. Its pages are freed once the publishing thread has passed a quiescent point
  /// (collect()).
  void detach(const Attached* subscriber);
  /// Frees what detach() left. Returns false while something still waits for the publishing thread.
  bool collect();
  /// Marks the stream as ended in order, which every subscriber sees.
  void close() noexcept;
  [[nodiscard]] std::uint64_t floor_for_late_joiner() const noexcept;
  [[nodiscard]] std::shared_ptr<BellLine> bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board, bool background);
  /// Calls `f(const Attached&)` for each subscriber. Takes the mutex.
  template <class F>
  void for_each_subscriber(F f) const {
    const std::lock_guard lock(mutex_);
    for (const auto& a : table_.attached()) f(*a);
  }
  [[nodiscard]] std::size_t subscribers() const;
  /// Rings what publish() left to the helper thread (Ringer::ring_for_others). `now`: steady clock, ns.
  bool ring_for_others(HelperTime& time, std::int64_t now);
  /// True if the publishing thread found subscribers that hold more than they announced, or demoted some. The helper
  /// thread handles them.
  [[nodiscard]] bool needs_attention() const noexcept { return table_.needs_attention(); }
  PublisherTable::Attention take_attention();
  /// How to wake the helper thread. Set once, before the first publish.
  void set_poke_helper(std::function<void()> poke) { table_.set_poke_helper(std::move(poke)); }
  /// Its samples reach the inputs of this runtime without the transport. Call it before Process::add().
  void belong_to(const void* runtime) noexcept { runtime_ = runtime; }
  [[nodiscard]] const void* runtime() const noexcept { return runtime_; }

  [[nodiscard]] const std::string& topic() const noexcept { return contract_.topic; }
  [[nodiscard]] const MessageType& type() const noexcept { return contract_.type; }
  [[nodiscard]] const TopicOptions& options() const noexcept { return contract_.options; }
  [[nodiscard]] const std::string& via() const noexcept { return contract_.via; }
  [[nodiscard]] const Area& area() const noexcept { return area_.area(); }
  [[nodiscard]] const layout::Header& header() const noexcept { return area_.header(); }
  [[nodiscard]] layout::Hot& hot() const noexcept { return *at_.hot; }

 private:
  void note_lines() noexcept;  ///< the lines that warm() will prefetch; helper thread
  void warm() const noexcept;
  void stamp_chains(std::size_t slot) noexcept;

  const PublisherContract contract_;
  const void* runtime_ = nullptr;
  mutable std::mutex mutex_;  ///< the helper's bookkeeping; the publishing thread never takes it
  PublisherBells bells_;
  OwnArea area_;
  const Backpressure backpressure_;
  const ChainRole chain_;
  const trace::StreamName stream_name_;
  WarmSet lines_;

  // What loan() and publish() touch, close together.
  alignas(layout::kLine) std::uint64_t sequence_ = 0;
  std::int64_t last_publish_ns_ = 0;
  const bool has_deadline_;
  bool goes_cold_ = true;  ///< the last two publications were far enough apart for caches to forget in between
  Ringer ringer_;
  const SlotPlaces at_;
  OwnSlots slots_;
  PublisherTable table_;
};

}  // namespace cardan::detail
