// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/detail/atomic.hpp"
#include "src/transport/endpoint/stream.hpp"

namespace cardan::detail {

inline constexpr std::uint32_t kMaxStreams = 64;

/// The streams in these places, in order: `for (Stream& s : streams())`. Wait-free. The caller either prevents their
/// release (SubscriberCore::Inside), or is the helper thread.
class StreamRange {
 public:
  class Iterator {
   public:
    Iterator(const Atomic<Stream*>* at, const Atomic<Stream*>* end) noexcept : at_(at), end_(end) { settle(); }
    Stream& operator*() const noexcept { return *stream_; }
    Stream* operator->() const noexcept { return stream_; }
    Iterator& operator++() noexcept {
      ++at_;
      settle();
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return at_ == other.at_; }

   private:
    void settle() noexcept {
      while (at_ != end_ && (stream_ = at_->load(std::memory_order_seq_cst)) == nullptr) ++at_;
    }
    const Atomic<Stream*>* at_;
    const Atomic<Stream*>* end_;
    Stream* stream_ = nullptr;
  };
  StreamRange(const Atomic<Stream*>* first, std::uint32_t count) noexcept : first_(first), count_(count) {}
  [[nodiscard]] Iterator begin() const noexcept { return {first_, first_ + count_}; }
  [[nodiscard]] Iterator end() const noexcept { return {first_ + count_, first_ + count_}; }

 private:
  const Atomic<Stream*>* first_;
  std::uint32_t count_;
};

}  // namespace cardan::detail
