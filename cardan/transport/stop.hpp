// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/memory/atomic.hpp"

namespace cardan {

/// From now on SIGINT and SIGTERM request a stop: every wait() comes back empty with Reason::Stopped. A second signal
/// ends the process at once. Set-up; call once, early.
void stop_on_signals();

/// Requests the stop from the program itself. Any thread; never blocks.
void request_stop() noexcept;

namespace detail {
extern Atomic<bool> stop_requested;
/// For tests that go on after a stop.
void clear_stop() noexcept;
}  // namespace detail

/// Whether a stop was requested. Any thread; never blocks.
inline bool stopping() noexcept { return detail::stop_requested.load(std::memory_order_relaxed); }

}  // namespace cardan
