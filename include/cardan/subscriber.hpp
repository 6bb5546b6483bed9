// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "cardan/detail/duration.hpp"
#include "cardan/detail/subscriber_end.hpp"
#include "cardan/message.hpp"
#include "cardan/sample.hpp"
#include "cardan/topic.hpp"

namespace cardan {

template <class T>
class Subscriber;

namespace detail {
struct EndOf;
template <class T>
constexpr AdoptFunction adopt_function_of();
}  // namespace detail

/// Receives messages of type T from every publisher of a topic. A subscriber can be moved. A moved-from subscriber may
/// only be assigned to or destroyed.
/// Thread safety: up to `threads` threads may call take() and wait() at once; any thread may call the rest. take() is
/// lock-free, allocates nothing and makes no system call; wait() blocks.
template <Message T>
class Subscriber<T> {
 public:
  /// Attaches to the publishers that are there. Later publishers are attached automatically. Throws Error:
  /// Incompatible, Refused, NoMemory, Limit, Unavailable, InvalidArgument, Forked.
  /// Set-up; blocks for about 1 ms, at most 1 s when a peer does not answer.
  explicit Subscriber(const Topic<T>& topic, SubscriberOptions options = {})
      : end_(topic.name, detail::message_type_of<T>(), detail::adopt_function_of<T>(), topic.options,
             std::move(options)) {}

  /// Returns the next sample (depth 1: the freshest). Empty when there is nothing new (reason() is None) or it is not
  /// available (Limit, Forked).
  [[nodiscard]] Sample<T> take() noexcept { return detail::sample_of<T>(end_.take()); }
  /// Waits for the next sample. If it is empty, reason() says why. Blocks.
  [[nodiscard]] Sample<T> wait() noexcept { return detail::sample_of<T>(end_.wait()); }
  /// As above, with a time limit.
  [[nodiscard]] Sample<T> wait(std::chrono::nanoseconds timeout) noexcept {
    return detail::sample_of<T>(end_.wait(timeout));
  }
  /// Makes a private copy of the freshest publication, even if it was taken before. It holds no slot, slows down no
  /// publisher, and does not count as a take. Returns false if there is none, or if the publisher was faster than the
  /// copy several times in a row. Allocates if `into` is too small. Throws Error (Forked).
  bool copy_latest(ObservedSample& into) { return end_.copy_latest(into); }
  /// Why the last take() or wait() of this subscriber was empty.
  [[nodiscard]] Reason reason() const noexcept { return end_.reason(); }
  /// Returns the next event that has not been read. At most 256 are kept. Takes a mutex.
  [[nodiscard]] std::optional<Event> event() { return end_.event(); }
  /// Returns a descriptor for poll, epoll, asyncio, Qt… It is readable when a sample or an event is there. Take until
  /// empty, then poll again. Throws Error (Limit) at the first call.
  [[nodiscard]] int fd() { return end_.fd(); }

  /// Samples lost since the attach, exact.
  [[nodiscard]] std::uint64_t missed() const { return end_.missed(); }
  /// Samples that take() and wait() returned.
  [[nodiscard]] std::uint64_t received() const { return end_.received(); }
  /// Publications that were not returned: their checksum did not match, or they were malformed.
  [[nodiscard]] std::uint64_t bad() const { return end_.bad(); }
  /// Publishers attached now.
  [[nodiscard]] std::size_t publishers() const noexcept { return end_.publishers(); }
  /// Time spent spinning so far: the cost of `spin_then_block`, `prewake` and `anticipate`.
  [[nodiscard]] std::chrono::nanoseconds spun() const { return end_.spun(); }
  [[nodiscard]] const std::string& topic() const noexcept { return end_.topic(); }

 private:
  friend struct detail::EndOf;
  detail::SubscriberEnd end_;
};

template <class T>
Subscriber(const Topic<T>&) -> Subscriber<T>;
template <class T>
Subscriber(const Topic<T>&, SubscriberOptions) -> Subscriber<T>;

/// Chosen for a type that is not a message: the assertion says so in one sentence.
template <class T>
class Subscriber {
  static_assert(
      detail::kIsMessage<T>,
      "a cardan::Subscriber takes messages: write CARDAN_MESSAGE(Type, \"my_msgs/msg/Type\", all, its, fields) "
      "after the struct, in the header that publisher and subscriber include");

 public:
  explicit Subscriber(const Topic<T>&, const SubscriberOptions& = {}) {}
  // The functions that programs call, so that the compiler reports no further errors.
  const T* take() noexcept;
  template <class... Arguments>
  const T* wait(const Arguments&...) noexcept;
};

namespace detail {

template <class T>
constexpr AdoptFunction adopt_function_of() {
  if constexpr (shm::has_vectors<T>)
    return [](void* copy, const void* shared, const std::byte* payload, std::size_t bytes) noexcept {
      return shm::adopt(*static_cast<T*>(copy), static_cast<const T*>(shared), payload, bytes);
    };
  else
    return nullptr;
}

}  // namespace detail
}  // namespace cardan
