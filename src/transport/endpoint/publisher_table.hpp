// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "src/base/barrier.hpp"
#include "src/base/warm.hpp"
#include "src/transport/endpoint/admission.hpp"
#include "src/transport/endpoint/attached.hpp"
#include "src/transport/protocol/table_protocol.hpp"

namespace cardan::detail {

/// The subscribers of a publisher (table_protocol.hpp). The publishing thread reads it, the helper thread changes it.
class PublisherTable {
 public:
  using Entries = protocol::Table<Native, Attached*, kMaxSubscribers>;

  // Publishing thread:
  /// While the result lives, no subscriber that this thread may look at is unmapped.
  [[nodiscard]] protocol::Inside<Native> enter() noexcept { return {entries_.epoch, epoch_, has_expedited_barrier()}; }
  [[nodiscard]] Entries& entries() noexcept { return entries_; }
  [[nodiscard]] bool any_prewake() const noexcept { return prewaking_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool any_reliable() const noexcept { return reliable_.load(std::memory_order_relaxed) != 0; }
  /// Closes a liar's connection, which it sees before its samples change. False: it has none.
  bool cut_off(Attached& liar) noexcept;
  void demote(Attached& slow) noexcept;
  /// Leaves rings to the helper thread. Returns whether it had to wake it.
  bool ask_helper() noexcept;

  // Helper thread, with the publisher's mutex:
  /// Finds a place for the subscriber. Throws Error (Limit). `room`: slots that the topic has for subscribers.
  void admit(Attached& subscriber, const PublisherContract& contract, std::uint32_t room);
  /// Enters an admitted subscriber. From then on its holds count.
  Attached* add(std::unique_ptr<Attached> subscriber);
  /// Removes the subscriber. Returns the number of slots that it announced. Its memory is freed by collect().
  std::uint32_t remove(const Attached* subscriber);
  /// Frees removed subscribers that the publishing thread has passed. Returns false if some are left.
  bool collect();
  [[nodiscard]] const std::vector<std::unique_ptr<Attached>>& attached() const noexcept { return attached_; }
  struct Attention {
    std::vector<const Attached*> liars;
    std::vector<const Attached*> demoted;
  };
  Attention take_attention();

  // Helper thread, without the mutex:
  /// Whether rings were left to it.
  [[nodiscard]] bool take_asked() noexcept { return helper_asked_.exchange(false, std::memory_order_seq_cst); }
  void ask_again() noexcept { helper_asked_.store(true, std::memory_order_seq_cst); }
  /// Whether there are new liars or demoted subscribers.
  [[nodiscard]] bool needs_attention() const noexcept { return attention_.load(std::memory_order_acquire); }
  /// Set once, before the first publish.
  void set_poke_helper(std::function<void()> poke) { poke_helper_ = std::move(poke); }

  /// The end of what each publication touches.
  [[nodiscard]] const void* end_of_hot() const noexcept { return &entries_.entry[1]; }
  void describe_lines(WarmSet& lines) const noexcept;

 private:
  struct Leaving {
    std::unique_ptr<Attached> subscriber;
    std::uint64_t epoch;
  };
  void call_attention() noexcept;
  [[nodiscard]] std::uint32_t free_place() const noexcept;

  std::uint64_t epoch_ = 0;  ///< the value in entries_.epoch; publishing thread
  Atomic<std::uint32_t> prewaking_{0};
  Atomic<std::uint32_t> reliable_{0};
  Entries entries_;
  // In lines that a publication seldom touches:
  Atomic<bool> helper_asked_{false};
  Atomic<bool> attention_{false};
  std::function<void()> poke_helper_;
  std::vector<std::unique_ptr<Attached>> attached_;
  std::vector<Leaving> leaving_;
  Admission admission_;
};

}  // namespace cardan::detail
