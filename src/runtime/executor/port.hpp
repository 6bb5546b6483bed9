// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cardan/detail/basis.hpp"
#include "cardan/detail/sample_block.hpp"
#include "src/runtime/executor/callback.hpp"
#include "src/runtime/executor/group.hpp"

namespace cardan::detail {

/// Which sample a callback failed on.
struct FailedOn {
  std::uint64_t sequence = 0;
  std::int64_t publish_ns = 0;
  std::uint32_t times = 1;  ///< it was given again after a restart, and failed again
};
inline constexpr std::size_t kMostFailedOn = 64;         ///< of an input that are remembered
inline constexpr std::uint32_t kFailuresToLeaveOut = 2;  ///< on one sample: once may be due to something else

/// An input of a component: a bounded queue of samples that keeps the freshest, and the callback that is called for
/// each. Without a callback it just keeps the newest one for latest().
class Port final : public Callback {
 public:
  using Call = std::function<void(SampleBlock*)>;  ///< takes over the reference

  Port(std::string name, Group& group, Strand& strand, int priority, std::uint32_t capacity, std::uint32_t keeps,
       Call call)
      : Callback(std::move(name), group, strand, priority),
        call_(std::move(call)),
        capacity_(capacity),
        keeps_(keeps),
        ring_(std::make_unique<Entry[]>(capacity)) {}
  ~Port() override { clear(); }

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  /// Samples that it can hold: its queue, the one in its callback, and what the component keeps.
  [[nodiscard]] std::uint32_t held_at_most() const noexcept { return at_once_ ? 1 : capacity_ + 1 + keeps_; }

  /// A sample has come, at `now`. `offer(callback, add)` is Group::offer or a variant that wakes no worker. Adds a
  /// reference of its own. Any thread.
  template <class Offer>
  void push(SampleBlock& block, std::int64_t now, Offer&& offer) noexcept {
    block.references.fetch_add(1, std::memory_order_relaxed);
    if (at_once_) return take_now(block, now);
    SampleBlock* pushed_out = nullptr;
    offer(*this, [&]() noexcept { pushed_out = put(block, now); });
    if (pushed_out != nullptr) drop(pushed_out);  // not under the lock: it may be the last of a big object
  }
  /// Whether samples are given to a callback; else they are there for latest().
  [[nodiscard]] bool calls() const noexcept { return call_ != nullptr; }
  /// The newest sample, with a reference for the caller; null: none yet. Any thread.
  [[nodiscard]] SampleBlock* latest() noexcept {
    return group().with_lock([this]() noexcept -> SampleBlock* {
      if (count_ == 0) return nullptr;
      SampleBlock* block = ring_[(first_ + count_ - 1) % capacity_].block;
      block->references.fetch_add(1, std::memory_order_relaxed);
      return block;
    });
  }
  /// Its callback has just failed. On the thread that ran it.
  void note_failure();
  /// The samples that it failed on, newest last, and its predecessor's; while its group pauses.
  [[nodiscard]] const std::vector<FailedOn>& failed_on() const noexcept { return failed_on_; }
  /// Its predecessor failed on these: of those that it did twice it is given none, however often they come, and
  /// they are counted as skipped. Before it is added to a channel.
  void remember_failures(std::vector<FailedOn> samples);
  /// This one neither. Before it is added to a channel.
  void leave_out(const FailedOn& sample) { leaves_out_.push_back(sample); }
  /// Publications of its component do not rest on its samples (InputOptions::rests_on). Before it is added to a
  /// channel.
  void leave_basis() noexcept { rests_on_ = false; }
  [[nodiscard]] bool rests_on() const noexcept { return rests_on_; }
  /// Nothing waits here: the thread that brings a sample calls the callback, perhaps several at the same time. It must
  /// not throw. Before it is added to a channel.
  void take_at_once() noexcept { at_once_ = true; }
  [[nodiscard]] bool at_once() const noexcept { return at_once_; }
  [[nodiscard]] const SampleBlock* trigger() const noexcept override { return picked_; }
  /// Gives up the oldest sample that waits; false: none does. Any thread.
  bool give_up_oldest() noexcept;
  void clear() noexcept;

 private:
  struct Entry {
    SampleBlock* block = nullptr;
    std::int64_t arrived_ns = 0;
  };

  SampleBlock* put(SampleBlock& block, std::int64_t now) noexcept;
  void take_now(SampleBlock& block, std::int64_t now) noexcept;
  [[nodiscard]] bool leaves_out(const SampleBlock& block) const noexcept;
  void note_age(const SampleBlock& block, std::int64_t now) noexcept;
  SampleBlock* pop() noexcept;
  [[nodiscard]] bool pending() const noexcept override { return count_ != 0 && call_ != nullptr; }
  void pick(std::int64_t now) noexcept override;
  void invoke() override {
    if (picked_ == nullptr) return;
    if (CallbackBasis* basis = CallbackBasis::here(); basis != nullptr && rests_on_) basis->triggered_by(*picked_);
    call_(std::exchange(picked_, nullptr));
  }
  void show_last(const SampleBlock& block) noexcept {
    statistics().last_sequence.store(block.sequence, std::memory_order_relaxed);
    statistics().last_publish_ns.store(block.publish_ns, std::memory_order_relaxed);
  }
  void show_queued() noexcept { statistics().queued.store(count_, std::memory_order_relaxed); }

  Call call_;
  std::uint32_t capacity_;
  std::uint32_t keeps_;
  std::unique_ptr<Entry[]> ring_;  // with the group's lock
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  SampleBlock* picked_ = nullptr;
  bool rests_on_ = true;
  bool at_once_ = false;
  std::vector<FailedOn> failed_on_;
  std::vector<FailedOn> leaves_out_;  ///< constant once samples come
};

}  // namespace cardan::detail
