// SPDX-License-Identifier: Apache-2.0
#include "cardan/stop.hpp"

#include <csignal>

#include "cardan/clock.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/signal_echo.hpp"

namespace cardan {

namespace {

detail::SignalEcho echo;

void on_signal(int signal) {
  if (echo.is_echo(steady_now())) return;
  if (detail::stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  detail::Process::poke_all_from_signal();
}

void on_hang_up(int /*signal*/) {
  (void)echo.is_echo(steady_now());  // what comes with it, as systemd's SIGTERM, is not one of its own
  request_stop();
}
}  // namespace

void stop_on_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void stop_on_hang_up() {
  struct sigaction before{}, action{};
  if (::sigaction(SIGHUP, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  action.sa_handler = on_hang_up;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGHUP, &action, nullptr);
}

void request_stop() noexcept {
  detail::stop_requested.store(true, std::memory_order_seq_cst);
  detail::Process::poke_all_from_signal();
}

namespace detail {
void clear_stop() noexcept { stop_requested.store(false, std::memory_order_seq_cst); }
}  // namespace detail

}  // namespace cardan
