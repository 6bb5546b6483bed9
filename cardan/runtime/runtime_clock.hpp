// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/base/atomic.hpp"
#include "cardan/base/clock.hpp"

namespace cardan {

/// The time that components live in, in nanoseconds: the steady clock, or one that a simulation sets. Any thread; never
/// blocks.
class RuntimeClock {
 public:
  [[nodiscard]] std::int64_t now() const noexcept {
    return simulated_ ? now_.load(std::memory_order_relaxed) : steady_now();
  }
  [[nodiscard]] bool simulated() const noexcept { return simulated_; }
  /// The time itself; null: it is the steady clock's.
  [[nodiscard]] const Atomic<std::int64_t>* simulated_now() const noexcept { return simulated_ ? &now_ : nullptr; }
  /// From now on the time stands still at `ns` until it is set again. Before the runtime starts, then by its
  /// simulation.
  void simulate(std::int64_t ns) noexcept {
    simulated_ = true;
    now_.store(ns, std::memory_order_relaxed);
  }

 private:
  bool simulated_ = false;
  Atomic<std::int64_t> now_{0};
};

}  // namespace cardan
