// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "cardan/types/message.hpp"

namespace cardan {

namespace detail {
struct StreamView;

/// Bytes aligned to 64, kept for the next use of the same size or less.
class AlignedBytes {
 public:
  /// Returns at least `bytes` bytes with undefined contents. Throws std::bad_alloc.
  std::byte* reserve(std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t capacity_ = 0;
};
}  // namespace detail

/// A private copy of a publication. A copy into the same object allocates only if it is larger than all copies before.
/// Thread safety: like a plain struct. Never blocks.
class ObservedSample {
 public:
  [[nodiscard]] std::uint64_t sequence() const noexcept {
    return sequence_;
  }  ///< number in its stream, from 1; 0: nothing copied yet
  [[nodiscard]] std::int64_t publish_time() const noexcept { return publish_ns_; }  ///< our steady clock, nanoseconds
  [[nodiscard]] std::int64_t source_time() const noexcept { return source_ns_; }  ///< the application's stamp; 0: none
  [[nodiscard]] std::uint64_t type_hash() const noexcept { return type_hash_; }
  /// The message's fixed struct as it was in the slot. The offsets of its vectors are relative to
  /// `payload() + message_offset()`.
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return {message_.data(), message_bytes_}; }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return {payload_.data(), payload_bytes_}; }
  /// Distance from the payload to the message in the publisher's memory, in bytes.
  [[nodiscard]] std::int64_t message_offset() const noexcept { return message_offset_; }
  /// Number of publications of this stream that were skipped before this one.
  [[nodiscard]] std::uint64_t passed_over() const noexcept { return passed_over_; }

  /// The message; its vectors point into payload(). Null if it is of another type, or malformed.
  template <Message T>
  [[nodiscard]] const T* as() noexcept {
    if (sequence_ == 0 || type_hash_ != message_traits<T>::type_hash() || message_bytes_ != sizeof(T)) return nullptr;
    auto* message = reinterpret_cast<T*>(message_.data());
    if constexpr (shm::has_vectors<T>) {
      // The address of the original if the payload were at our address. Only the distance between the two matters.
      const std::uintptr_t original =
          reinterpret_cast<std::uintptr_t>(payload_.data()) + static_cast<std::uint64_t>(message_offset_);
      if (!adopted_ && !shm::adopt(*message, reinterpret_cast<const T*>(original), payload_.data(), payload_bytes_))
        return nullptr;
      adopted_ = true;
    }
    return message;
  }

 private:
  friend struct detail::StreamView;
  friend class ObservedStream;
  detail::AlignedBytes message_, payload_;
  std::size_t message_bytes_ = 0, payload_bytes_ = 0;
  std::uint64_t sequence_ = 0, type_hash_ = 0, passed_over_ = 0;
  std::int64_t publish_ns_ = 0, source_ns_ = 0, message_offset_ = 0;
  bool adopted_ = false;
};

}  // namespace cardan
