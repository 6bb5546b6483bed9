// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/detail/atomic.hpp"

namespace cardan::detail {

extern Atomic<bool> stop_requested;

/// The flag of stopping() of stop.hpp. Any thread; never blocks.
inline bool stop_is_requested() noexcept { return stop_requested.load(std::memory_order_relaxed); }

}  // namespace cardan::detail
