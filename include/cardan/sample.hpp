// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/duration.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/detail/sample_clock.hpp"
#include "cardan/message.hpp"

namespace cardan {

template <class T>
class Sample;

namespace detail {
/// Takes over one reference.
template <class T>
Sample<T> sample_of(SampleBlock* block) noexcept;
/// The sample keeps its reference.
template <class T>
SampleBlock* block_of(const Sample<T>& sample) noexcept;
}  // namespace detail

/// A published message, read-only, in the publisher's memory. It is shared like a `shared_ptr`: copies are cheap and
/// may pass between threads. It stays immutable until the last copy is dropped, even after the end of its subscriber
/// and the death of its publisher. Between components of one process T may be any type.
/// Thread safety: as shared_ptr. Never blocks, allocates nothing.
template <class T>
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

  /// Drops this copy; the sample is empty afterwards.
  void reset() noexcept {
    if (block_ != nullptr) detail::drop(std::exchange(block_, nullptr));
  }
  explicit operator bool() const noexcept { return block_ != nullptr; }
  const T* operator->() const noexcept { return get(); }
  const T& operator*() const noexcept { return *get(); }
  /// Null for an empty sample.
  [[nodiscard]] const T* get() const noexcept {
    return block_ == nullptr ? nullptr : static_cast<const T*>(block_->message);
  }

  // Each of these is 0 for an empty sample.
  /// Number of this publication in its stream, from 1.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return block_ == nullptr ? 0 : block_->sequence; }
  /// Publications of this stream that this subscriber lost just before this one.
  [[nodiscard]] std::uint64_t missed() const noexcept { return block_ == nullptr ? 0 : block_->missed; }
  /// Steady clock, nanoseconds, just before the publication. In a simulation: the simulation's clock.
  [[nodiscard]] std::int64_t publish_time() const noexcept { return block_ == nullptr ? 0 : block_->publish_ns; }
  /// The publisher's own stamp (set_source_time), nanoseconds of the clock that the publisher chose. 0: none.
  [[nodiscard]] std::int64_t source_time() const noexcept { return block_ == nullptr ? 0 : block_->source_ns; }
  /// Steady clock, nanoseconds: the oldest publication on which this one rests, through all components that handed it
  /// on; its own publish_time() if it rests on none. 0: not known, because another user's sample is among its grounds,
  /// or it is time 0 of a simulation. (docs/chains.md)
  [[nodiscard]] std::int64_t origin_time() const noexcept { return block_ == nullptr ? 0 : block_->origin(); }
  /// Time since origin_time(): how old the information is. Empty: not known. In callbacks of a simulation: by the
  /// simulation's clock.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> origin_age() const noexcept {
    const std::int64_t origin = origin_time();
    if (origin == 0) return std::nullopt;
    return std::chrono::nanoseconds{detail::sample_clock_now() - origin};
  }
  /// Time since the publication, by the steady clock. In callbacks of a simulation: by the simulation's clock.
  [[nodiscard]] std::chrono::nanoseconds age() const noexcept {
    return std::chrono::nanoseconds{block_ == nullptr ? 0 : detail::sample_clock_now() - block_->publish_ns};
  }

 private:
  template <class U>
  friend Sample<U> detail::sample_of(detail::SampleBlock* block) noexcept;
  template <class U>
  friend detail::SampleBlock* detail::block_of(const Sample<U>& sample) noexcept;
  explicit Sample(detail::SampleBlock* block) noexcept : block_(block) {}
  detail::SampleBlock* block_ = nullptr;
};

namespace detail {
template <class T>
Sample<T> sample_of(SampleBlock* block) noexcept {
  return Sample<T>(block);
}
template <class T>
SampleBlock* block_of(const Sample<T>& sample) noexcept {
  return sample.block_;
}

template <class T>
struct ObjectBlock : OwnBlock {
  std::shared_ptr<const T> object;
};
}  // namespace detail

/// The message as a pointer that keeps the sample alive, for code that needs a `shared_ptr`. If the object is already
/// held by a `shared_ptr`, returns that one. Otherwise allocates the reference count.
/// Any thread; never blocks.
template <class T>
[[nodiscard]] std::shared_ptr<const T> share(const Sample<T>& sample) {
  if (!sample) return nullptr;
  if constexpr (!Message<T>) return static_cast<detail::ObjectBlock<T>*>(detail::block_of(sample))->object;
  return {sample.get(), [sample](const T*) {}};
}

/// The data that travels with a message.
struct SampleInfo {
  std::uint64_t sequence = 1;     ///< as Sample::sequence()
  std::int64_t publish_time = 0;  ///< steady clock, nanoseconds
  std::int64_t source_time = 0;   ///< the publisher's own stamp, nanoseconds; 0: none
  std::uint64_t missed = 0;       ///< as Sample::missed()
  std::int64_t origin_time = 0;   ///< steady clock, nanoseconds; 0: its publish_time
};

/// Makes a sample of an object of this process. The object lives until the last copy is dropped. For tests, for
/// replaying, and for types that are not a `Message`. Allocates one block.
/// Any thread; never blocks.
template <class T>
[[nodiscard]] Sample<T> make_sample(std::shared_ptr<const T> object, const SampleInfo& info = {}) {
  auto* block = new detail::ObjectBlock<T>;
  block->release = [](detail::SampleBlock* b) noexcept { delete static_cast<detail::ObjectBlock<T>*>(b); };
  block->references.store(1, std::memory_order_relaxed);
  block->message = object.get();
  block->sequence = info.sequence;
  block->missed = info.missed;
  block->publish_ns = info.publish_time;
  block->source_ns = info.source_time;
  block->origin_ns = info.origin_time;
  block->object = std::move(object);
  return detail::sample_of<T>(block);
}

/// Copies a sample into this process's own memory. The copy keeps no slot of the publisher, so any number of copies may
/// be kept for any time. Throws std::bad_alloc.
/// Any thread; never blocks.
template <Message T>
[[nodiscard]] Sample<T> copy_of(const Sample<T>& sample) {
  const detail::SampleBlock* from = detail::block_of(sample);
  if (from == nullptr || from->payload == nullptr) return sample;  // holds no slot
  struct alignas(64) Copy : detail::OwnBlock {
    T content{};
    std::unique_ptr<std::byte[]> bytes;
  };
  auto copy = std::make_unique<Copy>();
  copy->release = [](detail::SampleBlock* b) noexcept { delete static_cast<Copy*>(b); };
  copy->references.store(1, std::memory_order_relaxed);
  constexpr std::size_t kAlignment = 64;
  copy->bytes = std::make_unique<std::byte[]>(from->payload_bytes + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(copy->bytes.get());
  std::byte* payload = copy->bytes.get() + (kAlignment - address % kAlignment) % kAlignment;
  std::memcpy(payload, from->payload, from->payload_bytes);
  std::memcpy(static_cast<void*>(&copy->content), from->message, sizeof(T));
  if (!shm::adopt(copy->content, static_cast<const T*>(from->message), from->payload, from->payload_bytes)) return {};
  const auto distance = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(payload) -
                                                    reinterpret_cast<std::uintptr_t>(from->payload));
  detail::for_each_vector(copy->content,
                          [&](shm::VectorBase& vector, std::size_t, std::size_t) { vector.elements_moved(distance); });
  copy->message = &copy->content;
  copy->payload = payload;
  copy->payload_bytes = from->payload_bytes;
  copy->sequence = from->sequence;
  copy->missed = from->missed;
  copy->publish_ns = from->publish_ns;
  copy->source_ns = from->source_ns;
  copy->take_ground_of(*from);
  return detail::sample_of<T>(copy.release());
}

}  // namespace cardan
