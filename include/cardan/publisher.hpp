// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "cardan/detail/loaned_slot.hpp"
#include "cardan/detail/publisher_end.hpp"
#include "cardan/message.hpp"
#include "cardan/sample.hpp"
#include "cardan/topic.hpp"

namespace cardan {

template <class T>
class Publisher;
template <Message T>
class Loan;

namespace detail {
template <class T>
Loan<T> typed(LoanedSlot slot) noexcept;
template <class T>
Filled take_out(Loan<T>& loan) noexcept;
}  // namespace detail

/// A slot of shared memory that is being filled. It is owned like a `unique_ptr`, published at most once
/// (`publish(std::move(loan))`), and returned when dropped. Empty (false) when the topic's `loans` are all out.
/// Thread safety: one owner at a time, on any thread. Never blocks, allocates nothing.
template <Message T>
class Loan {
 public:
  Loan() noexcept = default;

  explicit operator bool() const noexcept { return static_cast<bool>(slot_); }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  /// Null if the loan is empty.
  T* get() const noexcept { return static_cast<T*>(slot_.message()); }

  /// Call it near the end of a long fill. It wakes the subscribers that pre-wake, so that they are awake at the
  /// publication. At most one system call.
  void soon() noexcept { slot_.soon(); }
  /// The application's own stamp (wall or PTP clock, nanoseconds), which travels with the sample. 0: none.
  void set_source_time(std::int64_t ns) noexcept { slot_.source_ns = ns; }
  /// The publication rests on this sample: it is as old as the oldest of those that are named (Sample::origin_age()).
  /// In a callback of a component, what the callback was given and what it read is named already.
  template <class U>
  void rests_on(const Sample<U>& sample) noexcept {
    if (sample) slot_.rests_on(*detail::block_of(sample));
  }

 private:
  template <class U>
  friend Loan<U> detail::typed(detail::LoanedSlot slot) noexcept;
  template <class U>
  friend detail::Filled detail::take_out(Loan<U>& loan) noexcept;
  explicit Loan(detail::LoanedSlot slot) noexcept : slot_(std::move(slot)) {}

  detail::LoanedSlot slot_;
};

/// Publishes messages of type T on a topic: `auto frame = out.loan(); fill(*frame); out.publish(std::move(frame));`
/// A publisher can be moved. A moved-from publisher has no loans.
/// Thread safety: one thread at a time (any thread); two threads need two publishers. publish() is wait-free (best
/// effort), allocates nothing, and makes a system call only to wake a sleeping subscriber.
template <Message T>
class Publisher<T> {
 public:
  /// Creates the stream and announces it. Throws Error: NoMemory, Limit, Unavailable, InvalidArgument, Forked.
  /// Set-up; blocks for about 1 ms.
  explicit Publisher(const Topic<T>& topic, const PublisherOptions& options = {})
      : end_(topic.name, detail::message_type_of<T>(), topic.options, options) {}

  /// Returns a free slot with a freshly constructed T. Empty when all loans are out, and in a child of fork().
  /// Wait-free.
  [[nodiscard]] Loan<T> loan() noexcept { return detail::typed<T>(end_.loan()); }

  /// Hands the loan to every subscriber. Returns false if there is nothing to publish, or (reliable) if a subscriber
  /// was too slow; in the latter case the sample is published nevertheless.
  /// Wait-free, unless the topic is reliable; then it waits at most `reliable_timeout`.
  bool publish(Loan<T>&& loan) noexcept { return loan && detail::PublisherEnd::publish(detail::take_out(loan)); }

  /// Publishes a copy of a plain struct. Returns false as above, or when all loans are out.
  bool publish(const T& message) noexcept
    requires std::is_trivially_copyable_v<T>
  {
    Loan<T> copy = loan();
    if (!copy) return false;
    *copy = message;
    return publish(std::move(copy));
  }

  /// Messages published so far. Any thread.
  [[nodiscard]] std::uint64_t published() const noexcept { return end_.published(); }
  /// Subscribers attached now (observers are not counted). Any thread; takes a mutex.
  [[nodiscard]] std::size_t subscribers() const { return end_.subscribers(); }
  /// Switches the CRC-32C of the following frames on or off. Any thread.
  void set_checksum(bool on) noexcept { end_.set_checksum(on); }
  [[nodiscard]] const std::string& topic() const noexcept { return end_.topic(); }

 private:
  detail::PublisherEnd end_;
};

template <class T>
Publisher(const Topic<T>&) -> Publisher<T>;
template <class T>
Publisher(const Topic<T>&, PublisherOptions) -> Publisher<T>;

/// Chosen for a type that is not a message: the assertion says so in one sentence.
template <class T>
class Publisher {
  static_assert(
      detail::kIsMessage<T>,
      "a cardan::Publisher takes messages: write CARDAN_MESSAGE(Type, \"my_msgs/msg/Type\", all, its, fields) "
      "after the struct, in the header that publisher and subscriber include");

 public:
  explicit Publisher(const Topic<T>&, const PublisherOptions& = {}) {}
  // The functions that programs call, so that the compiler reports no further errors.
  T* loan() noexcept;
  bool publish(const T&) noexcept;
  template <class Loan>
  bool publish(Loan&&) noexcept;
};

namespace detail {

/// The slot with a freshly constructed T. An empty slot gives an empty loan.
template <class T>
Loan<T> typed(LoanedSlot slot) noexcept {
  if (!slot) return {};
  T* message = new (slot.message()) T;
  if constexpr (shm::has_vectors<T>) {
    auto* arena = new (slot.arena()) shm::Arena;
    arena->place(slot.payload(), slot.payload_capacity());
    shm::bind(*message, *arena);
  }
  return Loan<T>(std::move(slot));
}

/// A slot of `core` with a freshly constructed T. Empty when all loans are out. Wait-free.
template <class T>
Loan<T> loan_of(const std::shared_ptr<PublisherCore>& core) noexcept {
  return typed<T>(LoanedSlot(core));
}

/// Takes out of a loan what publish() needs. The loan is empty afterwards.
template <class T>
Filled take_out(Loan<T>& loan) noexcept {
  std::size_t payload_bytes = 0;
  if constexpr (shm::has_vectors<T>) payload_bytes = static_cast<shm::Arena*>(loan.slot_.arena())->used;
  return loan.slot_.release(payload_bytes);
}

}  // namespace detail
}  // namespace cardan
