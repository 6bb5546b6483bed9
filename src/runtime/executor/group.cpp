// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/group.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <future>
#include <limits>

#include "cardan/detail/basis.hpp"
#include "cardan/detail/sample_clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/base/futex.hpp"
#include "src/runtime/executor/signal_stack.hpp"
#include "src/runtime/executor/timer_callback.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {
namespace {
// In the thread's static memory: a signal handler reads it, and two stores in each call should cost no call themselves.
[[gnu::tls_model("initial-exec")]] thread_local constinit const Callback* running_here = nullptr;
}  // namespace

const Callback* running_callback() noexcept { return running_here; }

std::string thread_name(const GroupOptions& group, std::uint32_t index) {
  constexpr std::size_t kMost = 15;  // bytes that the kernel has room for
  const std::string number = group.workers > 1 ? fmt::format("-{}", index) : std::string();
  const std::string name = group.name.substr(0, group.name.find(' '));  // of a separate thread: the component
  if (group.process.empty()) return name.substr(0, kMost - number.size()) + number;
  const std::size_t room = kMost - 1 - number.size();
  const std::size_t of_name = std::min(name.size(), room - std::min(group.process.size(), room / 2));
  return group.process.substr(0, room - of_name) + "/" + name.substr(0, of_name) + number;
}

Group::Group(GroupOptions options, const RuntimeClock& clock, FailureHandler on_failure)
    : options_(std::move(options)), clock_(clock), on_failure_(std::move(on_failure)) {
  if (options_.workers > 256)
    throw Error(ErrorCode::InvalidArgument, fmt::format("group '{}': {} workers", options_.name, options_.workers),
                "use at most 256");
  if (options_.one_to_one && options_.realtime.cpus.size() < options_.workers)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("group '{}': {} workers, one to one on {} CPUs", options_.name, options_.workers,
                            options_.realtime.cpus.size()),
                "name as many CPUs as there are workers");
  idle_.reserve(options_.workers);
}

Group::~Group() { stop(); }

void Group::start() {
  for (TimerCallback* timer : timers_) timer->begin(clock_.now());
  resume();
}

void Group::resume() {
  {
    const std::lock_guard lock(mutex_);  // some may still run: stop_within()
    stopping_ = false;
  }
  std::vector<std::future<void>> ready;
  sigset_t all_signals;
  sigset_t before;
  ::sigfillset(&all_signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigdelset(&all_signals, fault);
  ::pthread_sigmask(SIG_SETMASK, &all_signals, &before);  // signals belong to the application's own threads
  try {
    for (std::uint32_t i = 0; i < options_.workers; ++i) {
      if (i == workers_.size()) {
        auto made = std::make_unique<Worker>();
        const std::lock_guard lock(mutex_);  // doing() may look meanwhile
        workers_.push_back(std::move(made));
      }
      Worker& me = *workers_[i];
      if (me.thread.joinable()) continue;  // it did not stop in time
      me.ended = false;
      auto prepared = std::make_shared<std::promise<void>>();
      ready.push_back(prepared->get_future());
      me.thread = std::thread([this, &me, i, prepared] {
        const SignalStack signal_stack;
        try {
          prepare(me, i);
          prepared->set_value();
        } catch (...) {
          prepared->set_exception(std::current_exception());
          return;
        }
        work(me);
      });
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    for (auto& r : ready) r.get();
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    stop();
    throw;
  }
}

void Group::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (const auto& w : workers_) wake(*w);
  for (const auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
  // The workers themselves stay: a recent publisher may still be about to wake one.
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

bool Group::stop_within(std::chrono::nanoseconds limit) {
  const std::int64_t until = steady_now() + limit.count();
  const auto all_ended = [this] {
    return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->ended; });
  };
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (const auto& w : workers_) wake(*w);
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (all_ended()) break;
      if (steady_now() >= until) {
        stopping_ = false;  // none ends from here on
        break;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  if (all_ended()) return stop(), true;
  for (const auto& w : workers_)
    if (w->ended && w->thread.joinable()) w->thread.join();
  resume();
  return false;
}

void Group::prepare(Worker& me, std::uint32_t index) {
  ::pthread_setname_np(::pthread_self(), thread_name(options_, index).c_str());
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // the kernel's default lets ordinary threads' timers be 50 µs late
  me.thread_id.store(::gettid(), std::memory_order_relaxed);
  RealtimeOptions asked = options_.realtime;
  if (options_.one_to_one) asked.cpus = {options_.realtime.cpus[index]};
  me.report = realtime(asked);
}

std::vector<RealtimeReport> Group::realtime_reports() const {
  std::vector<RealtimeReport> all;
  for (const auto& w : workers_) all.push_back(w->report);
  return all;
}

std::vector<Group::Doing> Group::doing() const {
  std::vector<Doing> all;
  const std::lock_guard lock(mutex_);
  const auto add = [&all](const Worker& w) {
    all.push_back({w.running.load(std::memory_order_acquire), w.since.load(std::memory_order_relaxed),
                   w.thread_id.load(std::memory_order_relaxed)});
  };
  for (const auto& w : workers_) add(*w);
  add(by_hand_);
  return all;
}

// ---------------------------------------------------------------- what is ready

bool Group::runs_later(const Callback* a, const Callback* b) noexcept {
  return a->priority_ != b->priority_ ? a->priority_ < b->priority_ : a->order_ > b->order_;
}

bool Group::make_ready(Callback& c) noexcept {
  if (c.state_ != Callback::State::Idle || !c.pending()) return false;
  push_ready(c);
  return true;
}

void Group::push_ready(Callback& c) noexcept {
  c.state_ = Callback::State::Ready;
  c.order_ = order_++;
  ready_.push_back(&c);
  std::push_heap(ready_.begin(), ready_.end(), runs_later);
}

void Group::unpark(Callback& c) noexcept {
  Worker* woken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    push_ready(c);  // also with nothing left to do: the strand is held for it, and continues when it leaves
    woken = take_idle();
  }
  if (woken != nullptr) wake(*woken);
}

void Group::look_again() noexcept {
  Worker* watcher = nullptr;
  {
    const std::lock_guard lock(mutex_);
    watcher = watcher_;
  }
  if (watcher != nullptr) wake(*watcher);
}

Callback* Group::next() noexcept {
  expire_timers();
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), runs_later);
    Callback& c = *ready_.back();
    ready_.pop_back();
    c.state_ = Callback::State::Parked;  // before others can send it back
    if (!c.strand().enter(c)) continue;
    c.state_ = Callback::State::Running;
    c.pick(clock_.now());
    return &c;
  }
  return nullptr;
}

void Group::expect(const Callback&) {
  const std::lock_guard lock(mutex_);
  ready_.reserve(++callbacks_);
}

void Group::forget(Callback& callback) {
  const std::lock_guard lock(mutex_);
  --callbacks_;
  std::erase(ready_, &callback);
  std::make_heap(ready_.begin(), ready_.end(), runs_later);
}

// ---------------------------------------------------------------- timers

void Group::add(TimerCallback& timer) {
  const std::lock_guard lock(mutex_);
  timer.begin(clock_.now());
  timers_.push_back(&timer);
}

void Group::remove(TimerCallback& timer) {
  const std::lock_guard lock(mutex_);
  std::erase(timers_, &timer);
}

void Group::expire_timers() noexcept {
  if (timers_.empty()) return;
  const std::int64_t now = clock_.now();
  for (TimerCallback* timer : timers_) {
    if (timer->due() > now) continue;
    timer->expire(now);
    make_ready(*timer);
  }
}

std::int64_t Group::earliest_timer() const noexcept {
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (const TimerCallback* timer : timers_) earliest = std::min(earliest, timer->due());
  return timers_.empty() ? 0 : earliest;
}

std::int64_t Group::next_timer() const noexcept {
  const std::lock_guard lock(mutex_);
  return earliest_timer();
}

// ---------------------------------------------------------------- workers

bool Group::watches() const noexcept { return !cardan::stopping() && (!timers_.empty() || !remotes_.empty()); }

Group::Worker* Group::take_idle() noexcept {
  if (idle_.empty()) return watcher_;
  Worker* worker = idle_.back();  // the one whose caches are warmest
  idle_.pop_back();
  return worker;
}

void Group::wake(Worker& worker) noexcept {
  if (worker.word.exchange(1, std::memory_order_acq_rel) != 2) return;
  if (const int fd = worker.wake_fd.load(std::memory_order_acquire); fd >= 0)
    ::eventfd_write(fd, 1);
  else
    futex::wake(worker.word, 1);
}

void Group::rest(Worker& me) const noexcept {
  if (options_.spin.count() > 0) {
    const std::int64_t until = steady_now() + options_.spin.count();
    for (std::uint32_t turn = 1; me.word.load(std::memory_order_acquire) == 0; ++turn) {
      cpu_relax();
      if (turn % 16 == 0 && steady_now() >= until) break;
    }
  }
  std::uint32_t idle = 0;
  if (!me.word.compare_exchange_strong(idle, 2, std::memory_order_acq_rel)) return;
  const trace::Asleep asleep;
  while (me.word.load(std::memory_order_acquire) == 2) futex::wait(me.word, 2);
}

void Group::watch(Worker& me, std::unique_lock<PriorityMutex>& lock) noexcept {
  watcher_ = &me;
  me.wake_fd.store(remotes_.wake_fd(), std::memory_order_relaxed);
  me.word.store(2, std::memory_order_relaxed);  // under the lock: a thread that wakes us took it after us
  const std::int64_t until = earliest_timer();
  lock.unlock();
  remotes_.sleep({&me.word, 2}, until, options_.spin.count());
  lock.lock();
  me.wake_fd.store(-1, std::memory_order_relaxed);
  receive(lock);
  watcher_ = nullptr;
}

void Group::receive(std::unique_lock<PriorityMutex>& lock) noexcept {
  if (remotes_.empty()) return;
  lock.unlock();
  std::size_t ready_now = remotes_.take_all(*this);
  lock.lock();
  // This thread runs the first one itself.
  for (; ready_now > 1 && !idle_.empty(); --ready_now) wake(*take_idle());
}

void Group::work(Worker& me) noexcept {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (watcher_ == nullptr && !remotes_.empty()) {  // no one else checks while all are busy
      watcher_ = &me;                                // one at a time, or samples would overtake each other
      receive(lock);
      watcher_ = nullptr;
    }
    if (Callback* c = next()) {
      run(me, *c, lock);
    } else if (stopping_) {
      break;
    } else if (watcher_ == nullptr && watches()) {
      watch(me, lock);
    } else {
      me.word.store(0, std::memory_order_relaxed);
      idle_.push_back(&me);
      lock.unlock();
      rest(me);
      lock.lock();
      std::erase(idle_, &me);
    }
  }
  me.ended = true;
}

void Group::run(Worker& me, Callback& c, std::unique_lock<PriorityMutex>& lock) noexcept {
  Worker* successor = watcher_ == nullptr && !idle_.empty() && watches() ? take_idle() : nullptr;
  lock.unlock();
  if (successor != nullptr) wake(*successor);
  c.cycle_.begin();
  const SampleClock samples_age_by(clock_.simulated_now());
  CallbackBasis basis;
  const std::int64_t begun = steady_now();
  me.since.store(begun, std::memory_order_relaxed);
  me.running.store(&c, std::memory_order_release);
  running_here = &c;
  trace::note_begin(begun, c);
  CallbackStatistics& statistics = c.statistics();
  statistics.calls.store(statistics.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const auto failed = [&](const char* what) noexcept {
    statistics.failures.fetch_add(1, std::memory_order_relaxed);
    if (on_failure_) on_failure_(c, what);
  };
  try {
    c.invoke();
  } catch (const std::exception& e) {
    failed(e.what());
  } catch (...) {
    failed("an exception that is not a std::exception");
  }
  const std::int64_t worked = steady_now() - begun;
  statistics.running.add(worked);
  trace::note_end(begun + worked, c);
  c.cycle_.end(worked);
  running_here = nullptr;
  me.running.store(nullptr, std::memory_order_release);
  c.strand().leave();
  lock.lock();
  c.state_ = Callback::State::Idle;
  make_ready(c);  // more work is pending; this thread continues with the most urgent callback
}

bool Group::run_one() {
  std::unique_lock lock(mutex_);
  Callback* c = next();
  if (c == nullptr) return false;
  run(by_hand_, *c, lock);
  return true;
}

}  // namespace cardan::detail
