// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "src/transport/protocol/sides_protocol.hpp"

namespace cardan::detail {

/// A T that any thread reads without waiting while one thread changes it (src/transport/protocol/sides_protocol.hpp).
/// It exists twice, so that each change is made twice.
template <class T>
class TwoSides {
 public:
  /// Returns `look(const T&)`. Wait-free if that is; any thread.
  template <class Look>
  auto read(Look&& look) const noexcept {
    const protocol::SideRead in = protocol::enter_side(words_);
    auto result = look(std::as_const(sides_[in.side]));
    protocol::leave_side(words_, in);
    return result;
  }
  /// Calls `change(T&)` for each side. If it throws, the sides may differ, until a change that sets all. Blocks until
  /// readers have left; one thread at a time.
  template <class Change>
  void write(Change&& change) {
    protocol::change_sides(
        words_, [&](std::uint32_t side) { change(sides_[side]); },
        [](const Atomic<std::uint32_t>& inside) { wait(inside); });
  }
  /// For the thread that changes it.
  [[nodiscard]] const T& mine() const noexcept { return sides_[0]; }

 private:
  static void wait(const Atomic<std::uint32_t>& inside) noexcept {
    constexpr int kSpins = 200;  // a reader is inside for about a microsecond, unless it is preempted
    for (int i = 0; !protocol::is_left<Native>(inside); ++i) {
      if (i < kSpins)
        cpu_relax();
      else
        std::this_thread::sleep_for(std::chrono::microseconds{50});  // it may need this processor
    }
  }

  mutable protocol::SidesWords<Native> words_;
  std::array<T, 2> sides_{};
};

}  // namespace cardan::detail
