// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "cardan/memory/clock.hpp"
#include "cardan/transport/message.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/process.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/subscriber_core.hpp"
#include "cardan/transport/topic.hpp"

namespace cardan {

template <Message T>
class Subscriber;

/// A published message, read-only, in the publisher's memory: shared like a `shared_ptr` (copies are cheap and may pass
/// between threads), immutable until the last copy is dropped, also past its subscriber and its publisher's death.
/// Thread safety: as shared_ptr. Never blocks, allocates nothing.
template <Message T>
class Sample {
 public:
  Sample() noexcept = default;
  Sample(const Sample& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Sample(Sample&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Sample& operator=(Sample other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Sample() { reset(); }

  void reset() noexcept {
    if (block_ != nullptr) detail::SubscriberCore::drop(std::exchange(block_, nullptr));
  }
  explicit operator bool() const noexcept { return block_ != nullptr; }
  const T* operator->() const noexcept { return get(); }
  const T& operator*() const noexcept { return *get(); }
  [[nodiscard]] const T* get() const noexcept {
    return block_ == nullptr ? nullptr : static_cast<const T*>(block_->message);
  }

  /// Number of this publication in its stream, from 1.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return block_->sequence; }
  /// Publications of this stream that this subscriber lost just before this one.
  [[nodiscard]] std::uint64_t missed() const noexcept { return block_->missed; }
  /// Steady clock, nanoseconds, just before the publication.
  [[nodiscard]] std::int64_t publish_time() const noexcept { return block_->publish_ns; }
  /// The publisher's own stamp (set_source_time), nanoseconds of the clock that it chose; 0: none.
  [[nodiscard]] std::int64_t source_time() const noexcept { return block_->source_ns; }
  /// Time since the publication.
  [[nodiscard]] std::chrono::nanoseconds age() const noexcept {
    return std::chrono::nanoseconds{steady_now() - block_->publish_ns};
  }

 private:
  friend class Subscriber<T>;
  explicit Sample(detail::SampleBlock* block) noexcept : block_(block) {}
  detail::SampleBlock* block_ = nullptr;
};

/// Receives messages of type T from every publisher of a topic.
/// Thread safety: take() and wait() by up to `threads` threads at once; the rest by any. take() is lock-free, allocates
/// nothing and makes no system call; wait() blocks.
template <Message T>
class Subscriber {
 public:
  /// Attaches to the publishers that are there; later ones join by themselves. Throws Error: Incompatible, Refused,
  /// NoMemory, Limit, Unavailable, InvalidArgument, Forked. Set-up; blocks for about 1 ms, at most 1 s when a peer does
  /// not answer.
  explicit Subscriber(const Topic<T>& topic, SubscriberOptions options = {})
      : process_(detail::Process::of(options.domain)),
        core_(detail::SubscriberCore::create(topic.name, detail::message_type_of<T>(), adopt_function(), topic.options,
                                             std::move(options))) {
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
  [[nodiscard]] Sample<T> take() noexcept { return Sample<T>(core_->take()); }
  /// Waits for the next sample; empty: reason() says why. Blocks.
  [[nodiscard]] Sample<T> wait() noexcept { return Sample<T>(core_->wait(0)); }
  /// The same with a time limit.
  [[nodiscard]] Sample<T> wait(std::chrono::nanoseconds timeout) noexcept {
    return Sample<T>(core_->wait(steady_now() + timeout.count()));
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
  static constexpr detail::AdoptFunction adopt_function() {
    if constexpr (shm::has_vectors<T>)
      return [](void* copy, const void* shared, const std::byte* payload, std::size_t bytes) noexcept {
        return shm::adopt(*static_cast<T*>(copy), static_cast<const T*>(shared), payload, bytes);
      };
    else
      return nullptr;
  }

  detail::Process& process_;
  detail::SubscriberCore* core_;
};

template <class T>
Subscriber(const Topic<T>&) -> Subscriber<T>;
template <class T>
Subscriber(const Topic<T>&, SubscriberOptions) -> Subscriber<T>;

}  // namespace cardan
