// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::detail {

/// The rest of a publish after it has woken the subscribers of other processes, and before it wakes those in the
/// background: it hands the sample to subscribers of this process. keep() may be called. Must not publish on the same
/// stream.
struct HandOver {
  void (*call)(void* self, int slot) noexcept = nullptr;
  void* self = nullptr;
};

}  // namespace cardan::detail
