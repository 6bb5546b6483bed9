// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/detail/atomic.hpp"

namespace cardan {

namespace detail {
extern Atomic<bool> forked_child;
}

/// True in a child of fork() of a process that had used Cardan. Any thread; never blocks.
inline bool is_forked_child() noexcept { return detail::forked_child.load(std::memory_order_relaxed); }

/// Throws Error (Forked) in such a child.
void refuse_forked_child();

}  // namespace cardan
