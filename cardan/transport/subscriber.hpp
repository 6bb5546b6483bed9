// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/transport/discovery/process.hpp"
#include "cardan/transport/endpoint/subscriber_core.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/sample.hpp"
#include "cardan/transport/topic.hpp"
#include "cardan/types/message.hpp"

namespace cardan {

namespace detail {
template <Message T>
constexpr AdoptFunction adopt_function_of() {
  if constexpr (shm::has_vectors<T>)
    return [](void* copy, const void* shared, const std::byte* payload, std::size_t bytes) noexcept {
      return shm::adopt(*static_cast<T*>(copy), static_cast<const T*>(shared), payload, bytes);
    };
  else
    return nullptr;
}
}  // namespace detail

/// Of a type that is not a message: says so, in one sentence.
template <class T>
class Subscriber {
  static_assert(
      detail::kIsMessage<T>,
      "a cardan::Subscriber takes messages: write CARDAN_MESSAGE(Type, \"my_msgs/msg/Type\", all, its, fields) "
      "after the struct, in the header that publisher and subscriber include");

 public:
  explicit Subscriber(const Topic<T>&, SubscriberOptions = {}) {}
  // What programs call, so that nothing more is said.
  const T* take() noexcept;
  template <class... Arguments>
  const T* wait(const Arguments&...) noexcept;
};

/// Receives messages of type T from every publisher of a topic.
/// Thread safety: take() and wait() by up to `threads` threads at once; the rest by any. take() is lock-free, allocates
/// nothing and makes no system call; wait() blocks.
template <Message T>
class Subscriber<T> {
 public:
  /// Attaches to the publishers that are there; later ones join by themselves. Throws Error: Incompatible, Refused,
  /// NoMemory, Limit, Unavailable, InvalidArgument, Forked. Set-up; blocks for about 1 ms, at most 1 s when a peer does
  /// not answer.
  explicit Subscriber(const Topic<T>& topic, SubscriberOptions options = {})
      : process_(detail::Process::of(options.domain)),
        core_(detail::SubscriberCore::create(topic.name, detail::message_type_of<T>(), detail::adopt_function_of<T>(),
                                             topic.options, std::move(options))) {
    try {
      process_.add(core_);
    } catch (...) {
      core_->drop_reference();
      throw;
    }
  }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber() {
    if (is_forked_child()) return;
    process_.remove(core_);
    core_->drop_reference();
  }

  /// The next sample (depth 1: the freshest), or empty when there is nothing new (reason() None) or it cannot be had
  /// (Limit, Forked).
  [[nodiscard]] Sample<T> take() noexcept { return detail::sample_of<T>(core_->take()); }
  /// Waits for the next sample; empty: reason() says why. Blocks.
  [[nodiscard]] Sample<T> wait() noexcept { return detail::sample_of<T>(core_->wait(0)); }
  /// The same with a time limit.
  [[nodiscard]] Sample<T> wait(std::chrono::nanoseconds timeout) noexcept {
    return detail::sample_of<T>(core_->wait(steady_now() + timeout.count()));
  }
  /// A private copy of the freshest publication, whoever took it; holds nothing, slows nobody, and counts as no take.
  /// False: there is none, or the publisher was faster than the copy several times in a row. Allocates when `into` is
  /// too small; throws Error (Forked).
  bool copy_latest(ObservedSample& into) { return core_->copy_latest(into); }
  /// Why the last take() or wait() of this subscriber was empty.
  [[nodiscard]] Reason reason() const noexcept { return core_->reason(); }
  /// The next event that has not been read; at most 256 are kept. Takes a mutex.
  [[nodiscard]] std::optional<Event> event() { return core_->next_event(); }
  /// A descriptor for poll, epoll, asyncio, Qt…: readable when a sample or an event is there. Take until empty, then
  /// poll again. Throws Error (Limit) at the first call.
  [[nodiscard]] int fd() { return core_->fd(); }

  [[nodiscard]] std::uint64_t missed() const { return core_->missed(); }  ///< lost since the attach, exactly
  [[nodiscard]] std::uint64_t received() const { return core_->received(); }
  [[nodiscard]] std::uint64_t bad() const { return core_->bad(); }  ///< checksum mismatches and malformed messages
  [[nodiscard]] std::size_t publishers() const noexcept { return core_->streams(); }
  /// Time spent spinning so far: what `spin_then_block`, `prewake` and `anticipate` cost.
  [[nodiscard]] std::chrono::nanoseconds spun() const { return std::chrono::nanoseconds{core_->spin_ns()}; }
  [[nodiscard]] const std::string& topic() const noexcept { return core_->topic(); }

  /// For wait_any().
  [[nodiscard]] detail::SubscriberCore& core() const noexcept { return *core_; }

 private:
  detail::Process& process_;
  detail::SubscriberCore* core_;
};

template <class T>
Subscriber(const Topic<T>&) -> Subscriber<T>;
template <class T>
Subscriber(const Topic<T>&, SubscriberOptions) -> Subscriber<T>;

}  // namespace cardan
