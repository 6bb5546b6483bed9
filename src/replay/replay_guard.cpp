// SPDX-License-Identifier: Apache-2.0
#include "src/replay/replay_guard.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/stop.hpp"
#include "src/terminal/output.hpp"

namespace cardan::replay {
namespace {

using terminal::warn;

constexpr const char* kInCallbacks = "callbacks";
constexpr auto kLookEvery = std::chrono::milliseconds{20};

double seconds(std::chrono::nanoseconds span) { return static_cast<double>(span.count()) / 1e9; }

}  // namespace

ReplayGuard::ReplayGuard(ReplayGuardOptions options)
    : options_(std::move(options)), begun_(steady_now()), watchdog_({}, [](const host::Watchdog::Late& late) {
        warn(late.text() + (stopping() ? "" : " — Ctrl-C ends the run"));
      }) {
  enter({.what = "opening the recording and loading the components"});
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);  // signals belong to the thread of the components, also while it hangs
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "cardan-guard");
}

ReplayGuard::~ReplayGuard() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ReplayGuard::enter(Phase phase) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(phase);
  phase_.since = steady_now();
  phase_.tell_at = phase_.since + host::Watchdog::kHangs.count();
}

void ReplayGuard::begins(const std::string& component) { enter({.component = component, .what = "on_start"}); }

void ReplayGuard::watch(const Runtime* runtime) {
  if (runtime != nullptr)
    watchdog_.watch(*runtime);
  else
    watchdog_.forget();
  enter({.what = runtime != nullptr ? kInCallbacks : "ending the components"});
}

host::Watchdog::Late ReplayGuard::running(std::int64_t now) const {
  if (const auto late = watchdog_.longest()) return *late;
  return {.component = phase_.component,
          .callback = phase_.what,
          .limit = {},
          .running = std::chrono::nanoseconds{now - phase_.since},
          .thread = 0};
}

std::string ReplayGuard::text(const host::Watchdog::Late& late) {
  if (late.callback == "on_start")
    return fmt::format("component '{}' has not come back from on_start for {:.1f} s", late.component,
                       seconds(late.running));
  if (late.callback == kInCallbacks)
    return "no callback runs, but on_stop() of a component, or writing the output, has not come back";
  if (late.component.empty()) return fmt::format("{} has taken {:.1f} s", late.callback, seconds(late.running));
  return late.text();
}

/// Once something has been running for long, whether that was so at the signal or only became so since.
void ReplayGuard::acknowledge(std::int64_t now) {
  const host::Watchdog::Late late = running(now);
  if (late.running < host::Watchdog::kHangs) return;
  acknowledged_ = true;
  warn(fmt::format("ending: {}; it gets {:g} s more, and a second signal ends the run at once", text(late),
                   seconds(std::chrono::nanoseconds{asked_ + options_.grace.count() - now})));
}

void ReplayGuard::look(std::int64_t now) {
  if (stopping() && asked_ == 0) asked_ = now;
  if (asked_ != 0 && !acknowledged_) acknowledge(now);
  if (asked_ != 0 && now - asked_ >= options_.grace.count()) {
    const host::Watchdog::Late late = running(now);
    options_.give_up(late, fmt::format("{}, and did not end within {:g} s after it was asked to", text(late),
                                       seconds(options_.grace)));
  }
  if (phase_.what == kInCallbacks) {
    // A start may take long, once; it is reported, and the user can end it.
    if (!options_.limit || now - begun_ < options_.limit->count()) return;
    if (const auto late = watchdog_.longest(); late && late->running >= options_.grace)
      options_.give_up(*late,
                       fmt::format("{}, and the {:g} s of --seconds are over", text(*late), seconds(*options_.limit)));
    return;
  }
  if (now < phase_.tell_at) return;
  warn(text(running(now)) + (asked_ != 0 ? "" : " — Ctrl-C ends the run"));
  phase_.tell_at = phase_.since + 2 * (now - phase_.since);
}

void ReplayGuard::serve() noexcept {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kLookEvery, [this] { return over_; })) {
    try {
      look(steady_now());
    } catch (const std::exception& e) {  // no memory for a line
      static_cast<void>(e);
    }
  }
}

}  // namespace cardan::replay
