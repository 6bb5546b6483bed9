// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "cardan/detail/atomic.hpp"
#include "src/base/futex.hpp"

namespace cardan::record {

/// Requests of other threads to the recorder's thread, and the word on which it sleeps. Any thread; does not block.
class Requests {
 public:
  void stop() noexcept {
    stop_.store(true, std::memory_order_relaxed);
    poke();
  }
  void pause(bool paused) noexcept {
    paused_.store(paused, std::memory_order_relaxed);
    poke();
  }
  void split() noexcept {
    split_.store(true, std::memory_order_relaxed);
    poke();
  }
  void trigger() noexcept {
    triggered_.store(true, std::memory_order_relaxed);
    poke();
  }
  /// Wakes the recorder's thread: there is something new.
  void poke() noexcept {
    poked_.fetch_add(1, std::memory_order_release);
    futex::wake(poked_, 1);
  }

  [[nodiscard]] bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool paused() const noexcept { return paused_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool triggered() const noexcept { return triggered_.load(std::memory_order_relaxed); }
  /// Whether a split was asked for since the last call.
  [[nodiscard]] bool take_split() noexcept { return split_.exchange(false); }
  /// To sleep on, until the next poke() after this call. Requests that were made before it are seen after it.
  [[nodiscard]] futex::Watch watch() const noexcept { return {&poked_, poked_.load(std::memory_order_acquire)}; }

 private:
  std::atomic<bool> stop_{false}, paused_{false}, split_{false}, triggered_{false};
  Atomic<std::uint32_t> poked_{0};
};

}  // namespace cardan::record
