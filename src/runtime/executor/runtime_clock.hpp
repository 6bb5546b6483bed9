// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/clock.hpp"
#include "cardan/detail/atomic.hpp"

namespace cardan {

/// The time of the components, in nanoseconds: the steady clock, or a clock that a simulation sets.
/// Any thread; never blocks.
class RuntimeClock {
 public:
  [[nodiscard]] std::int64_t now() const noexcept {
    return simulated_ ? now_.load(std::memory_order_relaxed) : steady_now();
  }
  [[nodiscard]] bool simulated() const noexcept { return simulated_; }
  /// The simulated time itself. Null: the steady clock is used.
  [[nodiscard]] const Atomic<std::int64_t>* simulated_now() const noexcept { return simulated_ ? &now_ : nullptr; }
  /// Stops the clock at `ns` until it is set again. Call it before the runtime starts; after that only its simulation
  /// may.
  void simulate(std::int64_t ns) noexcept {
    simulated_ = true;
    now_.store(ns, std::memory_order_relaxed);
  }

 private:
  bool simulated_ = false;
  Atomic<std::int64_t> now_{0};
};

}  // namespace cardan
