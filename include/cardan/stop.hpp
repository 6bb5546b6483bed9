// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/detail/stop_flag.hpp"

namespace cardan {

/// Makes SIGINT and SIGTERM request a stop: every wait() then returns empty with Reason::Stopped. A second signal ends
/// the process at once, unless it is the echo of the first (SignalEcho). Set-up; call once, early.
void stop_on_signals();

/// The same for SIGHUP, which says that the terminal has closed; under nohup it stays ignored. However often it comes,
/// it is one request: the shell sends it, and the kernel too. Set-up.
void stop_on_hang_up();

/// Requests a stop from the program itself. Any thread; never blocks.
void request_stop() noexcept;

namespace detail {
/// For tests that continue after a stop.
void clear_stop() noexcept;
}  // namespace detail

/// Whether a stop was requested. Any thread; never blocks.
inline bool stopping() noexcept { return detail::stop_is_requested(); }

}  // namespace cardan
