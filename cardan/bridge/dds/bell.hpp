// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/base/atomic.hpp"
#include "cardan/base/fd.hpp"

namespace cardan::bridge::dds {

/// Wakes the bridge's thread from any of Cyclone's. Any thread; does not block.
class Bell {
 public:
  /// Throws Error (Limit).
  Bell();
  void ring() noexcept;
  /// Whether it has rung since the last call; at the first call it has. Call it before looking at what it rang for.
  [[nodiscard]] bool answer() noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  Fd fd_;
  Atomic<bool> rung_{true};
};

}  // namespace cardan::bridge::dds
