// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cardan::detail {

/// A separate stack for signal handlers of the calling thread (where they ask for it), so that a crash report can be
/// written when the thread's own stack has overflowed. Costs address space until it is used. Lives and ends on one
/// thread; where the kernel has no memory for it, nothing changes.
class SignalStack {
 public:
  SignalStack() noexcept;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  static constexpr std::size_t kBytes = 128 * 1024;
  void* memory_;
};

}  // namespace cardan::detail
