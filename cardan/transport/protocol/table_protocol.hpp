// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/transport/protocol/order_table.hpp"

/// Who is attached: a table in the publishing process that its helper thread writes and its publishing thread reads.
///
///   helper thread                                   publishing thread
///   A2 end := i + 1                                 E1/E4 epoch := odd
///   A1 entry[i] := subscriber, then the answer        D4 end?  D2 entry[i]?  looks at its page (D3, W4)
///   A1 entry[i] := none                             E2    epoch := even
///   E3 epoch?  even, or another one later: nobody looks at the page any more, so it may be unmapped (I6)
namespace cardan::protocol {

/// `Handle{}` stands for an entry without a subscriber.
template <class Env, class Handle, std::uint32_t kEntries>
class Table {
 public:
  /// Publishing thread, inside: calls `f(index, handle)` for each subscriber. Wait-free.
  template <class F>
  void for_each(F&& f) const noexcept {
    const std::uint32_t used = Env::template load<Site::D4>(end);
    for (std::uint32_t i = 0; i < used; ++i)
      if (const Handle handle = Env::template load<Site::D2>(entry[i]); handle != Handle{}) f(i, handle);
  }
  /// Publishing thread: whether the entry still is this subscriber's.
  [[nodiscard]] bool is(std::uint32_t index, Handle handle) const noexcept {
    return Env::template load<Site::D2>(entry[index]) == handle;
  }

  /// Publishing thread: a liar, whose connection is closed, does not count any more. The helper thread will clear() it.
  void expel(std::uint32_t index) noexcept { Env::template store<Site::A1>(entry[index], Handle{}); }

  /// Helper thread: from here on its holds and waits count. Before the subscriber is answered.
  void enter(std::uint32_t index, Handle handle) noexcept {
    if (used_ < index + 1) Env::template store<Site::A2>(end, used_ = index + 1);
    Env::template store<Site::A1>(entry[index], handle);
  }
  /// Helper thread: takes the subscriber out. Returns the epoch for has_passed(). `barrier` is a full barrier on the
  /// publishing thread's side too, where that one enters by a plain store (Inside).
  template <class Barrier>
  [[nodiscard]] std::uint64_t clear(std::uint32_t index, Barrier&& barrier) noexcept {
    Env::template store<Site::A1>(entry[index], Handle{});
    barrier();
    return Env::template load<Site::E3>(epoch);
  }
  /// Helper thread: whether the publishing thread has been outside since clear() returned `then`.
  [[nodiscard]] bool has_passed(std::uint64_t then) const noexcept {
    return then % 2 == 0 || Env::template load<Site::E3>(epoch) != then;
  }

  // In the order in which publish() touches them.
  typename Env::template Word<std::uint64_t> epoch{};
  typename Env::template Word<std::uint32_t> end{};
  typename Env::template Word<Handle> entry[kEntries]{};

 private:
  std::uint32_t used_ = 0;  ///< what `end` holds; helper thread
};

/// Marks the publishing thread as inside, so that the helper knows when nothing that it took out can still be looked
/// at. `count` is the publishing thread's copy of the epoch.
template <class Env>
class Inside {
 public:
  /// `by_store`: a plain store, where the helper can order it from its side (expedited_barrier()): a locked instruction
  /// would wait here for the message's own stores.
  Inside(typename Env::template Word<std::uint64_t>& epoch, std::uint64_t& count, bool by_store) noexcept
      : epoch_(epoch), count_(count) {
    ++count_;
    if (by_store) {
      Env::template store<Site::E4>(epoch_, count_);
      Env::compiler_fence();
    } else {
      Env::template add<Site::E1>(epoch_, std::uint64_t{1});
    }
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { Env::template store<Site::E2>(epoch_, ++count_); }

 private:
  typename Env::template Word<std::uint64_t>& epoch_;
  std::uint64_t& count_;
};

}  // namespace cardan::protocol
