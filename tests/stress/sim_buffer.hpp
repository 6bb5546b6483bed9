// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cardan::test {

/// The double buffer of the SIM paper (§III-B, C) as it is printed: fill the back buffer, set length, frame number and
/// time, flip `idx`; a reader acquires `idx`, compares the frame number with its last, and copies that many elements
/// out. "A reader either copies the new complete frame or the previously published one — never a torn frame", says
/// §III-C; this shows it torn.
template <std::size_t Words>
struct SimBuffer {
  alignas(64) std::atomic<int> idx{0};
  std::uint64_t published_length = 0;
  std::uint64_t frame[2]{};
  std::int64_t time_stamp[2]{};
  alignas(64) std::uint64_t data[2][Words]{};

  /// `fill(words, number)` writes the frame.
  template <class Fill>
  void write(std::int64_t now, Fill fill) {
    const int front = idx.load(std::memory_order_relaxed);
    const int back = 1 - front;
    const std::uint64_t number = frame[front] + 1;
    fill(data[back], number);
    published_length = Words;
    frame[back] = number;
    time_stamp[back] = now;
    idx.store(back, std::memory_order_release);
  }

  /// Copies the newest frame; its number, or 0 when it is the last one.
  std::uint64_t read(std::uint64_t last, std::uint64_t* out) const {
    const int front = idx.load(std::memory_order_acquire);
    const std::uint64_t number = frame[front];
    if (number == last) return 0;
    std::memcpy(out, data[front], published_length * sizeof(std::uint64_t));
    return number;
  }
};

}  // namespace cardan::test
