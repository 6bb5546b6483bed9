// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "cardan/transport/discovery/process.hpp"
#include "cardan/transport/endpoint/publisher_core.hpp"
#include "cardan/transport/topic.hpp"
#include "cardan/types/message.hpp"

namespace cardan {

namespace detail {
template <Message T>
MessageType message_type_of() {
  using Traits = message_traits<T>;
  return {std::string(Traits::type_name()),
          std::string(Traits::schema()),
          Traits::type_hash(),
          sizeof(T),
          alignof(T),
          shm::has_vectors<T>,
          sizeof(shm::Arena)};
}
}  // namespace detail

template <Message T>
class Loan;

namespace detail {
/// A slot of `core` with a freshly constructed T; empty when all loans are out. Wait-free.
template <Message T>
Loan<T> loan_of(const std::shared_ptr<PublisherCore>& core) noexcept;
/// What publish() needs of a loan; the loan is empty afterwards.
struct Filled {
  std::shared_ptr<PublisherCore> core;
  int slot;
  std::size_t payload_bytes;
  std::int64_t source_ns;
};
template <Message T>
Filled take_out(Loan<T>& loan) noexcept;
}  // namespace detail

/// A slot of shared memory that is being filled: owned like a `unique_ptr`, published at most once
/// (`publish(std::move(loan))`), given back when dropped. Empty (false) when the topic's `loans` are all out. Thread
/// safety: one owner at a time, any thread. Never blocks, allocates nothing.
template <Message T>
class Loan {
 public:
  Loan() noexcept = default;
  Loan(Loan&& other) noexcept
      : core_(std::move(other.core_)), slot_(std::exchange(other.slot_, -1)), source_ns_(other.source_ns_) {}
  Loan& operator=(Loan&& other) noexcept {
    if (this != &other) {
      give_back();
      core_ = std::move(other.core_);
      slot_ = std::exchange(other.slot_, -1);
      source_ns_ = other.source_ns_;
    }
    return *this;
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() { give_back(); }

  explicit operator bool() const noexcept { return slot_ >= 0; }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  T* get() const noexcept { return slot_ < 0 ? nullptr : static_cast<T*>(core_->message(slot_)); }

  /// Near the end of a long fill: wakes the readers that pre-wake, so that they are awake when it is published. At most
  /// one system call.
  void soon() noexcept {
    if (slot_ >= 0) core_->soon();
  }
  /// The application's own stamp (wall or PTP clock, nanoseconds) that travels with the sample; 0: none.
  void set_source_time(std::int64_t ns) noexcept { source_ns_ = ns; }

 private:
  template <Message U>
  friend Loan<U> detail::loan_of(const std::shared_ptr<detail::PublisherCore>& core) noexcept;
  template <Message U>
  friend detail::Filled detail::take_out(Loan<U>& loan) noexcept;
  Loan(std::shared_ptr<detail::PublisherCore> core, int slot) noexcept : core_(std::move(core)), slot_(slot) {}
  void give_back() noexcept {
    if (slot_ >= 0 && !is_forked_child()) core_->abandon(slot_);
    slot_ = -1;
  }

  std::shared_ptr<detail::PublisherCore> core_;
  int slot_ = -1;
  std::int64_t source_ns_ = 0;
};

namespace detail {
template <Message T>
Loan<T> loan_of(const std::shared_ptr<PublisherCore>& core) noexcept {
  const int slot = core->loan();
  if (slot < 0) return {};
  T* message = new (core->message(slot)) T;
  if constexpr (shm::has_vectors<T>) {
    auto* arena = new (core->arena(slot)) shm::Arena;
    arena->place(core->payload(slot), core->payload_capacity());
    shm::bind(*message, *arena);
  }
  return Loan<T>(core, slot);
}
template <Message T>
Filled take_out(Loan<T>& loan) noexcept {
  const int slot = std::exchange(loan.slot_, -1);
  std::shared_ptr<PublisherCore> core = std::move(loan.core_);
  std::size_t payload_bytes = 0;
  if constexpr (shm::has_vectors<T>) payload_bytes = static_cast<shm::Arena*>(core->arena(slot))->used;
  return {std::move(core), slot, payload_bytes, loan.source_ns_};
}
}  // namespace detail

/// Of a type that is not a message: says so, in one sentence.
template <class T>
class Publisher {
  static_assert(
      detail::kIsMessage<T>,
      "a cardan::Publisher takes messages: write CARDAN_MESSAGE(Type, \"my_msgs/msg/Type\", all, its, fields) "
      "after the struct, in the header that publisher and subscriber include");

 public:
  explicit Publisher(const Topic<T>&, const PublisherOptions& = {}) {}
  // What programs call, so that nothing more is said.
  T* loan() noexcept;
  bool publish(const T&) noexcept;
  template <class Loan>
  bool publish(Loan&&) noexcept;
};

/// Publishes messages of type T on a topic: `auto frame = out.loan(); fill(*frame); out.publish(std::move(frame));`
/// Thread safety: one thread at a time (any thread); two threads make two publishers. publish() is wait-free (best
/// effort), allocates nothing, and makes a system call only to wake who sleeps.
template <Message T>
class Publisher<T> {
 public:
  /// Creates the stream and announces it. Throws Error: NoMemory, Limit, Unavailable, InvalidArgument, Forked. Set-up;
  /// blocks for about 1 ms.
  explicit Publisher(const Topic<T>& topic, const PublisherOptions& options = {})
      : process_(detail::Process::of(options.domain)),
        core_(
            std::make_shared<detail::PublisherCore>(topic.name, detail::message_type_of<T>(), topic.options, options)) {
    process_.add(core_);
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  ~Publisher() {
    if (!is_forked_child()) process_.remove(core_);
  }

  /// A free slot with a freshly constructed T. Empty when all loans are out, or in a child of fork(). Wait-free.
  [[nodiscard]] Loan<T> loan() noexcept { return is_forked_child() ? Loan<T>{} : detail::loan_of<T>(core_); }

  /// Hands the loan to every subscriber. False: nothing to publish, or (reliable) somebody was too slow; it is
  /// published all the same. Wait-free unless the topic is reliable, which waits at most `reliable_timeout`.
  bool publish(Loan<T>&& loan) noexcept {
    if (!loan || is_forked_child()) return false;
    const detail::Filled filled = detail::take_out(loan);
    return filled.core->publish(filled.slot, filled.payload_bytes, filled.source_ns);
  }

  /// Publishes a copy of a plain struct. False as above, or when all loans are out.
  bool publish(const T& message) noexcept
    requires std::is_trivially_copyable_v<T>
  {
    Loan<T> copy = loan();
    if (!copy) return false;
    *copy = message;
    return publish(std::move(copy));
  }

  /// Messages published so far. Any thread.
  [[nodiscard]] std::uint64_t published() const noexcept { return core_->published(); }
  /// Subscribers attached now (observers are not counted). Any thread; takes a mutex.
  [[nodiscard]] std::size_t subscribers() const { return core_->subscribers(); }
  /// Switches the CRC-32C of the following frames on or off. Any thread.
  void set_checksum(bool on) noexcept { core_->set_checksum(on); }
  [[nodiscard]] const std::string& topic() const noexcept { return core_->topic(); }

 private:
  detail::Process& process_;
  std::shared_ptr<detail::PublisherCore> core_;
};

template <class T>
Publisher(const Topic<T>&) -> Publisher<T>;
template <class T>
Publisher(const Topic<T>&, PublisherOptions) -> Publisher<T>;

}  // namespace cardan
