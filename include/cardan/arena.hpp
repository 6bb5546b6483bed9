// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace cardan::shm {

/// The address that lies `distance` bytes from `from`, in another object. The computation uses integers, because
/// pointer arithmetic across objects is undefined. The empty instruction is needed because an optimizer that sees
/// through the integers takes the result for a part of `from`.
[[nodiscard]] inline void* at_distance(const void* from, std::uint64_t distance) noexcept {
  std::uintptr_t address = reinterpret_cast<std::uintptr_t>(from) + distance;
  asm("" : "+r"(address));
  return reinterpret_cast<void*>(address);
}

/// The storage of all `shm::vector`s and `shm::string`s of one message: a range of bytes that is handed out from the
/// front and reclaimed as a whole. It lives in the slot, directly before the message; its bytes are the slot's payload.
/// The first piece starts exactly at the base, so that an image's pixels keep the payload's alignment. Later pieces
/// start at multiples of 64.
/// Thread safety: none, a loan has one owner. Never blocks, never throws.
struct Arena {
  static constexpr std::uint64_t kAlignment = 64;  ///< bytes, of pieces by default

  std::uint64_t capacity = 0;  ///< bytes in total
  std::uint64_t used = 0;      ///< bytes from the base to the end of the last piece
  std::int64_t base = 0;       ///< distance from this struct to the first byte

  /// Sets the location of the bytes: `storage` has `bytes` bytes and is aligned to 64.
  void place(void* storage, std::uint64_t bytes) noexcept {
    capacity = bytes;
    used = 0;
    base =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(storage) - reinterpret_cast<std::uintptr_t>(this));
  }

  /// Takes all pieces back. Vectors that point to them must not be used any more.
  void reset() noexcept { used = 0; }

  /// Bytes after the last piece.
  [[nodiscard]] std::uint64_t left() const noexcept { return used < capacity ? capacity - used : 0; }

  /// Returns a new piece of `bytes` bytes, or null when there is no room. `alignment`: of the piece relative to the
  /// base, a power of two. The base itself is aligned to 64, or to 4096 for large payloads.
  [[nodiscard]] std::byte* allocate(std::uint64_t bytes, std::uint64_t alignment = kAlignment) noexcept {
    if (used > capacity) return nullptr;
    const std::uint64_t start = (used + alignment - 1) / alignment * alignment;
    if (start > capacity || bytes > capacity - start) return nullptr;
    used = start + bytes;
    return at(start);
  }

  /// Extends the piece that ends at `end` in place. Returns false when it is not the last piece or there is no room.
  [[nodiscard]] bool extend(const std::byte* end, std::uint64_t more) noexcept {
    if (end != at(used) || used > capacity || more > capacity - used) return false;
    used += more;
    return true;
  }

  /// Whether the piece that ends at `end` is the last one.
  [[nodiscard]] bool ends_at(const std::byte* end) const noexcept { return end == at(used); }

 private:
  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return static_cast<std::byte*>(at_distance(this, static_cast<std::uint64_t>(base) + offset));
  }
};

}  // namespace cardan::shm
