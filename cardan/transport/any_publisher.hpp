// SPDX-License-Identifier: Apache-2.0
// Publishing messages of a type that is known at run time only: for players and bridges.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/transport/discovery/process.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/types/arena.hpp"

namespace cardan {

/// A message type as data: `message_type_of(layout, schema)` makes one (cardan/messages/type_layout.hpp). Its hash must
/// be that of the layout in which the messages are filled: readers compare nothing else.
using AnyMessageType = detail::MessageType;

class AnyLoan;

namespace detail {
/// As loan_of<T>; the message is zeroed.
[[nodiscard]] inline AnyLoan any_loan_of(const std::shared_ptr<PublisherCore>& core) noexcept;
[[nodiscard]] inline Filled take_out(AnyLoan& loan) noexcept;
}  // namespace detail

/// A slot that is being filled, as Loan<T>. Thread safety: one owner at a time, any thread. Never blocks, allocates
/// nothing.
class AnyLoan {
 public:
  AnyLoan() noexcept = default;
  AnyLoan(AnyLoan&& other) noexcept
      : core_(std::move(other.core_)), slot_(std::exchange(other.slot_, -1)), source_ns_(other.source_ns_) {}
  AnyLoan& operator=(AnyLoan&& other) noexcept {
    if (this != &other) {
      reset();
      core_ = std::move(other.core_);
      slot_ = std::exchange(other.slot_, -1);
      source_ns_ = other.source_ns_;
    }
    return *this;
  }
  AnyLoan(const AnyLoan&) = delete;
  AnyLoan& operator=(const AnyLoan&) = delete;
  ~AnyLoan() { reset(); }

  explicit operator bool() const noexcept { return slot_ >= 0; }
  /// The message's fixed struct, zeroed: bytes that its type lays out. Of an empty loan: null.
  [[nodiscard]] std::byte* message() const noexcept {
    return slot_ < 0 ? nullptr : static_cast<std::byte*>(core_->message(slot_));
  }
  /// The storage of its vectors and strings; null: the type has none. They have to be bound to it before they are
  /// filled: `bind(layout, loan.message(), *loan.arena())` (cardan/messages/layout_cdr.hpp).
  [[nodiscard]] shm::Arena* arena() const noexcept {
    return slot_ < 0 || !core_->type().has_arena ? nullptr : static_cast<shm::Arena*>(core_->arena(slot_));
  }
  /// As Loan<T>::soon().
  void soon() noexcept {
    if (slot_ >= 0) core_->soon();
  }
  /// As Loan<T>::set_source_time().
  void set_source_time(std::int64_t ns) noexcept { source_ns_ = ns; }
  /// Gives it back unpublished.
  void reset() noexcept {
    if (slot_ >= 0 && !is_forked_child()) core_->abandon(slot_);
    slot_ = -1;
    core_.reset();
  }

 private:
  friend AnyLoan detail::any_loan_of(const std::shared_ptr<detail::PublisherCore>& core) noexcept;
  friend detail::Filled detail::take_out(AnyLoan& loan) noexcept;
  AnyLoan(std::shared_ptr<detail::PublisherCore> core, int slot) noexcept : core_(std::move(core)), slot_(slot) {}

  std::shared_ptr<detail::PublisherCore> core_;
  int slot_ = -1;
  std::int64_t source_ns_ = 0;
};

namespace detail {

inline AnyLoan any_loan_of(const std::shared_ptr<PublisherCore>& core) noexcept {
  const int slot = core->loan();
  if (slot < 0) return {};
  std::memset(core->message(slot), 0, core->type().bytes);
  if (core->type().has_arena) {
    auto* arena = new (core->arena(slot)) shm::Arena;
    arena->place(core->payload(slot), core->payload_capacity());
  }
  return {core, slot};
}

inline Filled take_out(AnyLoan& loan) noexcept {
  const shm::Arena* arena = loan.arena();
  const std::size_t payload_bytes = arena == nullptr ? 0 : arena->used;
  const int slot = std::exchange(loan.slot_, -1);
  return {std::move(loan.core_), slot, payload_bytes, loan.source_ns_};
}

}  // namespace detail

/// Publishes messages of a type that the program was not compiled with. Thread safety and cost: as Publisher<T>.
class AnyPublisher {
 public:
  /// As Publisher<T>'s constructor. `type.hash` must be true: a reader trusts it.
  AnyPublisher(const std::string& topic, AnyMessageType type, const TopicOptions& topic_options,
               const PublisherOptions& options = {})
      : process_(detail::Process::of(options.domain)),
        core_(std::make_shared<detail::PublisherCore>(topic, std::move(type), topic_options, options)) {
    process_.add(core_);
  }
  AnyPublisher(const AnyPublisher&) = delete;
  AnyPublisher& operator=(const AnyPublisher&) = delete;
  ~AnyPublisher() {
    if (!is_forked_child()) process_.remove(core_);
  }

  /// A free slot with a zeroed message. Empty when all loans are out, or in a child of fork(). Wait-free.
  [[nodiscard]] AnyLoan loan() noexcept { return is_forked_child() ? AnyLoan{} : detail::any_loan_of(core_); }

  /// As Publisher<T>::publish().
  bool publish(AnyLoan&& loan) noexcept {
    if (!loan || is_forked_child()) return false;
    const detail::Filled filled = detail::take_out(loan);
    return filled.core->publish(filled.slot, filled.payload_bytes, filled.source_ns);
  }

  /// Waits until the next publish() would not have to wait for reliable readers; nobody is demoted for it. False: that
  /// is not so within `timeout`. For who would rather wait than lose, and wants to be asked now and then whether it
  /// still does. The publishing thread; blocks.
  [[nodiscard]] bool wait_for_readers(std::chrono::nanoseconds timeout) noexcept {
    return is_forked_child() || core_->wait_for_room(steady_now() + timeout.count());
  }

  /// Messages published so far. Any thread.
  [[nodiscard]] std::uint64_t published() const noexcept { return core_->published(); }
  /// Subscribers attached now (observers are not counted). Any thread; takes a mutex.
  [[nodiscard]] std::size_t subscribers() const { return core_->subscribers(); }
  [[nodiscard]] const std::string& topic() const noexcept { return core_->topic(); }
  [[nodiscard]] const AnyMessageType& type() const noexcept { return core_->type(); }

 private:
  detail::Process& process_;
  std::shared_ptr<detail::PublisherCore> core_;
};

}  // namespace cardan
