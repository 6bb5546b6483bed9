// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Publishes messages whose type is known only at run time. Players and bridges use it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "cardan/arena.hpp"
#include "cardan/detail/deadline.hpp"
#include "cardan/detail/duration.hpp"
#include "cardan/detail/loaned_slot.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/detail/publisher_end.hpp"

namespace cardan {

class AnyLoan;

namespace detail {
[[nodiscard]] Filled take_out(AnyLoan& loan) noexcept;
/// As typed(). The message is zeroed.
[[nodiscard]] AnyLoan untyped(LoanedSlot slot, const AnyMessageType& type) noexcept;
}  // namespace detail

/// A slot that is being filled, as Loan<T>.
/// Thread safety: one owner at a time, on any thread. Never blocks, allocates nothing.
class AnyLoan {
 public:
  AnyLoan() noexcept = default;

  explicit operator bool() const noexcept { return static_cast<bool>(slot_); }
  /// The message's fixed struct, zeroed, with the bytes that its type lays out. Null if the loan is empty.
  [[nodiscard]] std::byte* message() const noexcept { return static_cast<std::byte*>(slot_.message()); }
  /// The storage of the message's vectors and strings. Null if the type has none. Bind the message to it before filling
  /// them: `bind(layout, loan.message(), *loan.arena())` (src/messages/layout_cdr.hpp).
  [[nodiscard]] shm::Arena* arena() const noexcept { return slot_ ? arena_ : nullptr; }
  /// As Loan<T>::soon().
  void soon() noexcept { slot_.soon(); }
  /// As Loan<T>::set_source_time().
  void set_source_time(std::int64_t ns) noexcept { slot_.source_ns = ns; }
  /// As Loan<T>::rests_on().
  void rests_on(const detail::SampleBlock& sample) noexcept { slot_.rests_on(sample); }
  /// The same of a sample that may be gone. Chains, which only components publish, do not get it.
  void rests_on(const detail::Basis& basis) noexcept { slot_.named.add(basis); }
  /// Returns the slot unpublished.
  void reset() noexcept { slot_.reset(); }

 private:
  friend detail::Filled detail::take_out(AnyLoan& loan) noexcept;
  friend AnyLoan detail::untyped(detail::LoanedSlot slot, const AnyMessageType& type) noexcept;
  AnyLoan(detail::LoanedSlot slot, const AnyMessageType& type) noexcept;

  detail::LoanedSlot slot_;
  shm::Arena* arena_ = nullptr;
};

/// Publishes messages of a type that the program was not compiled with.
/// Thread safety and cost: as Publisher<T>.
class AnyPublisher {
 public:
  /// As Publisher<T>'s constructor. `type.hash` must be correct, because subscribers trust it.
  AnyPublisher(const std::string& topic, AnyMessageType type, const TopicOptions& topic_options,
               const PublisherOptions& options = {})
      : end_(topic, std::move(type), topic_options, options) {}

  /// Returns a free slot with a zeroed message. Empty when all loans are out, and in a child of fork(). Wait-free.
  [[nodiscard]] AnyLoan loan() noexcept { return detail::untyped(end_.loan(), end_.type()); }

  /// As Publisher<T>::publish().
  bool publish(AnyLoan&& loan) noexcept { return loan && detail::PublisherEnd::publish(detail::take_out(loan)); }

  /// Waits until the next publish() would not have to wait for reliable subscribers. Demotes no subscriber. Returns
  /// false if that is not the case within `timeout`. For a publisher that prefers to wait rather than lose samples, and
  /// that checks now and then whether to continue waiting.
  /// Call it on the publishing thread; blocks.
  [[nodiscard]] bool wait_for_readers(std::chrono::nanoseconds timeout) noexcept {
    return end_.wait_for_room(detail::deadline_after(timeout));
  }

  /// Messages published so far. Any thread.
  [[nodiscard]] std::uint64_t published() const noexcept { return end_.published(); }
  /// Subscribers attached now (observers are not counted). Any thread; takes a mutex.
  [[nodiscard]] std::size_t subscribers() const { return end_.subscribers(); }
  [[nodiscard]] const std::string& topic() const noexcept { return end_.topic(); }
  /// As given to the constructor.
  [[nodiscard]] const AnyMessageType& type() const noexcept { return end_.type(); }

 private:
  detail::PublisherEnd end_;
};

namespace detail {

inline Filled take_out(AnyLoan& loan) noexcept {
  const shm::Arena* arena = loan.arena();
  return loan.slot_.release(arena == nullptr ? 0 : arena->used);
}

inline AnyLoan untyped(LoanedSlot slot, const AnyMessageType& type) noexcept { return {std::move(slot), type}; }

}  // namespace detail

inline AnyLoan::AnyLoan(detail::LoanedSlot slot, const AnyMessageType& type) noexcept : slot_(std::move(slot)) {
  if (!slot_) return;
  std::memset(slot_.message(), 0, type.bytes);
  if (!type.has_arena) return;
  arena_ = new (slot_.arena()) shm::Arena;
  arena_->place(slot_.payload(), slot_.payload_capacity());
}

}  // namespace cardan
