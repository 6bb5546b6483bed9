// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/detail/atomic.hpp"

namespace cardan {

namespace detail {
/// Each call on the hot path looks at these first: they share a line.
struct alignas(64) ProcessFlags {
  Atomic<bool> forked_child{false};
  Atomic<std::uint32_t> tracing{0};  ///< 0: off (docs/protocols/trace.md)
};
extern ProcessFlags process_flags;
}  // namespace detail

/// True in a child of fork() of a process that had used Cardan. Any thread; never blocks.
inline bool is_forked_child() noexcept { return detail::process_flags.forked_child.load(std::memory_order_relaxed); }

/// Throws Error (Forked) in such a child.
void refuse_forked_child();

}  // namespace cardan
