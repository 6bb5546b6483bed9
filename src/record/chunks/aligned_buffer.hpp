// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "cardan/mcap/records.hpp"

namespace cardan::record {

/// The unit of disk writes: offsets, addresses and lengths are multiples of it. That of the devices' physical
/// sectors, and of a page.
inline constexpr std::uint64_t kBlock = 4096;

[[nodiscard]] constexpr std::uint64_t whole_blocks(std::uint64_t bytes) noexcept {
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

/// Bytes that the disk can be written from: they start at a block, and what follows them up to the end of their last
/// block is zero whenever it is asked for. Thread safety: like a plain struct. Never blocks.
class AlignedBuffer {
 public:
  AlignedBuffer() noexcept = default;
  explicit AlignedBuffer(std::size_t capacity) { reserve(capacity); }
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)), room_(std::exchange(other.room_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, 0);
    return *this;
  }

  [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return room_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] mcap::View view() const noexcept { return {data_.get(), size_}; }
  void clear() noexcept { size_ = 0; }

  /// Throws std::bad_alloc.
  void reserve(std::size_t bytes) {
    if (bytes <= room_) return;
    const std::size_t room = whole_blocks(std::max(bytes, 2 * size_));
    std::unique_ptr<std::byte, Free> fresh(static_cast<std::byte*>(std::aligned_alloc(kBlock, room)));
    if (fresh == nullptr) throw std::bad_alloc();
    if (size_ != 0) std::memcpy(fresh.get(), data_.get(), size_);
    data_ = std::move(fresh);
    room_ = room;
  }
  void append(mcap::View bytes) {
    reserve(size_ + bytes.size());
    if (!bytes.empty()) std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// This many zeros more.
  void append_zeros(std::size_t bytes) {
    reserve(size_ + bytes);
    if (bytes != 0) std::memset(data_.get() + size_, 0, bytes);
    size_ += bytes;
  }
  /// All bytes in whole blocks, the rest of the last one zero.
  [[nodiscard]] mcap::View blocks() noexcept {
    const std::size_t padded = whole_blocks(size_);
    if (padded != size_) std::memset(data_.get() + size_, 0, padded - size_);
    return {data_.get(), padded};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace cardan::record
