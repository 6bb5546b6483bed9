// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "src/transport/protocol/order_table.hpp"

/// The table of attached subscribers. It is in the publishing process: the helper thread writes it, and the publishing
/// thread reads it.
///
///   helper thread                                   publishing thread
///   A2 end := i + 1                                 E1/E4 epoch := odd
///   A1 entry[i] := subscriber, then the answer        D4 end?  D2 entry[i]?  looks at its page (D3, W4)
///   A1 entry[i] := none                             E2    epoch := even
///   E3 epoch?  even, or different later: the publishing thread no longer looks at the page; it may be unmapped (I6)
namespace cardan::protocol {

/// `Handle{}` marks an entry without a subscriber.
template <class Env, class Handle, std::uint32_t kEntries>
class Table {
 public:
  /// Publishing thread, inside (see Inside): calls `f(index, handle)` for each subscriber. Wait-free.
  template <class F>
  void for_each(F&& f) const noexcept {
    const std::uint32_t used = Env::template load<Site::D4>(end);
    for (std::uint32_t i = 0; i < used; ++i)
      if (const Handle handle = Env::template load<Site::D2>(entry[i]); handle != Handle{}) f(i, handle);
  }
  /// Publishing thread: returns whether the entry still belongs to this subscriber.
  [[nodiscard]] bool is(std::uint32_t index, Handle handle) const noexcept {
    return Env::template load<Site::D2>(entry[index]) == handle;
  }

  /// Publishing thread: removes a liar whose connection is closed, so that its holds no longer count. The helper thread
  /// will clear() the entry.
  void expel(std::uint32_t index) noexcept { Env::template store<Site::A1>(entry[index], Handle{}); }

  /// Helper thread: enters a subscriber, whose holds and waits count from now on. Call it before the answer to the
  /// subscriber.
  void enter(std::uint32_t index, Handle handle) noexcept {
    if (used_ < index + 1) Env::template store<Site::A2>(end, used_ = index + 1);
    Env::template store<Site::A1>(entry[index], handle);
  }
  /// Helper thread: removes the subscriber. Returns the epoch for has_passed(). If the publishing thread enters by a
  /// plain store (Inside), `barrier` must be a full barrier on that thread's side too.
  template <class Barrier>
  [[nodiscard]] std::uint64_t clear(std::uint32_t index, Barrier&& barrier) noexcept {
    Env::template store<Site::A1>(entry[index], Handle{});
    barrier();
    return Env::template load<Site::E3>(epoch);
  }
  /// Helper thread: returns whether the publishing thread has been outside since clear() returned `then`.
  [[nodiscard]] bool has_passed(std::uint64_t then) const noexcept {
    return then % 2 == 0 || Env::template load<Site::E3>(epoch) != then;
  }

  // Members are in the order in which publish() touches them.
  typename Env::template Word<std::uint64_t> epoch{};
  typename Env::template Word<std::uint32_t> end{};
  typename Env::template Word<Handle> entry[kEntries]{};

 private:
  std::uint32_t used_ = 0;  ///< the value of `end`; helper thread only
};

/// Marks the publishing thread as inside for the lifetime of the object. The helper thread thus knows when the
/// publishing thread can no longer look at a removed subscriber. `count` is the publishing thread's copy of the epoch.
template <class Env>
class Inside {
 public:
  /// `by_store`: enter by a plain store. This requires that the helper thread can order the store from its side
  /// (expedited_barrier()). The plain store is faster: a locked instruction would wait here for the message's own
  /// stores.
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
