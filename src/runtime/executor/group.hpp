// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cardan/realtime.hpp"
#include "src/runtime/executor/callback.hpp"
#include "src/runtime/executor/priority_mutex.hpp"
#include "src/runtime/executor/remote_set.hpp"
#include "src/runtime/executor/runtime_clock.hpp"

namespace cardan {

/// Threads that share the callbacks of some components.
struct GroupOptions {
  std::string name = "main";
  /// Of the threads' names in `top -H`, `perf` and crash reports, before the group's: "perception/main". Empty: none.
  std::string process{};
  /// Threads. More run more components at once; each costs a stack and, while the group is busy, a share of the CPUs.
  std::uint32_t workers = 1;
  /// CPUs, policy, priority. `cpus` empty: any.
  RealtimeOptions realtime{};
  /// Worker i runs on the i-th of `cpus` alone (CyberRT's 1to1) instead of on any of them: no migrations, and a worker
  /// waits while something more urgent has its CPU.
  bool one_to_one = false;
  /// How long an idle worker spins before it sleeps: saves the wake-up (5 to 50 µs), costs the CPU meanwhile.
  std::chrono::nanoseconds spin{0};
};

namespace detail {

/// Of a worker of the group, as its operating system shows it.
[[nodiscard]] std::string thread_name(const GroupOptions& group, std::uint32_t index);

class TimerCallback;

/// An executor: ready callbacks by priority, workers that run them, timers, and the topics of other processes that
/// a callback here reads. The thread that makes a callback ready wakes the worker that will run it: no thread polls,
/// and there is no thread in between.
///
/// Idle workers sleep on their own word, the last one to fall idle is woken first. One of them, the watcher, also
/// waits for other processes' topics and the next timer; before it runs a callback it hands the watch to another.
class Group {
 public:
  /// Called on the worker when an exception leaves a callback.
  using FailureHandler = std::function<void(Callback&, const std::string& what)>;

  Group(GroupOptions options, const RuntimeClock& clock, FailureHandler on_failure);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  /// Starts the workers. The kernel's refusals are in the reports. Throws Error (Limit, InvalidArgument). Set-up.
  void start();
  /// After stop(): continues with what is pending, the timers on their old grids. As start().
  void resume();
  /// Lets running callbacks end, and ends the workers. Blocks for as long as that takes.
  void stop() noexcept;
  /// As stop(), but for at most `limit`. False: a callback still ran then, and all continue as if nothing had been
  /// asked. Throws as start(): that could not be done.
  [[nodiscard]] bool stop_within(std::chrono::nanoseconds limit);
  [[nodiscard]] std::vector<RealtimeReport> realtime_reports() const;

  /// Changes what is pending of `callback` by `add()` under the lock, and wakes a worker for it. Any thread; never
  /// blocks longer than a few instructions of another one.
  template <class F>
  void offer(Callback& callback, F add) noexcept {
    Worker* woken = nullptr;
    {
      const std::lock_guard lock(mutex_);
      add();
      if (make_ready(callback)) woken = take_idle();
    }
    if (woken != nullptr) wake(*woken);
  }
  /// The same, without waking a worker; true: this made it ready.
  template <class F>
  bool offer_quietly(Callback& callback, F add) noexcept {
    const std::lock_guard lock(mutex_);
    add();
    return make_ready(callback);
  }
  /// Something that the group waits for is due sooner than it was (Watched::due()): the watcher, if it sleeps, looks
  /// again. As offer().
  void look_again() noexcept;
  /// The strand that `callback` was parked in is free.
  void unpark(Callback& callback) noexcept;
  /// With the lock: for callbacks that look at their own pending work.
  template <class F>
  auto with_lock(F f) const noexcept {
    const std::lock_guard lock(mutex_);
    return f();
  }

  // Set-up, before start() or while no callback of the component runs.
  void add(TimerCallback& timer);
  void remove(TimerCallback& timer);
  /// Room for one more callback; forget() takes it back and forgets it if it is ready.
  void expect(const Callback& callback);
  void forget(Callback& callback);
  [[nodiscard]] RemoteSet& remotes() noexcept { return remotes_; }

  /// Without workers: runs the most urgent ready callback on this thread; false: none is ready. One thread at a time.
  bool run_one();
  /// When the next timer is due; 0: no timer.
  [[nodiscard]] std::int64_t next_timer() const noexcept;

  /// The present work of each worker and of the caller of run_one(), for a watchdog: the callback, and since when
  /// (steady clock's nanoseconds).
  struct Doing {
    const Callback* callback;
    std::int64_t since;
    pid_t thread;  ///< 0: of run_one(), not known
  };
  /// Any thread; takes the lock.
  [[nodiscard]] std::vector<Doing> doing() const;
  [[nodiscard]] const GroupOptions& options() const noexcept { return options_; }
  [[nodiscard]] const RuntimeClock& clock() const noexcept { return clock_; }

 private:
  /// word: 0 idle or running, 1 woken, 2 asleep (only then a wake-up costs a system call).
  struct alignas(64) Worker {
    Atomic<std::uint32_t> word{0};
    Atomic<int> wake_fd{-1};  ///< ≥ 0: asleep on descriptors, this one among them
    Atomic<const Callback*> running{nullptr};
    Atomic<std::int64_t> since{0};
    Atomic<pid_t> thread_id{0};
    std::thread thread;
    bool ended = false;  ///< with the mutex: the thread leaves work()
    RealtimeReport report;
    std::exception_ptr failed;
  };

  void prepare(Worker& me, std::uint32_t index);
  void work(Worker& me) noexcept;
  static bool runs_later(const Callback* a, const Callback* b) noexcept;  ///< a heap's "less"
  bool make_ready(Callback& callback) noexcept;
  void push_ready(Callback& callback) noexcept;
  Worker* take_idle() noexcept;
  static void wake(Worker& worker) noexcept;
  void rest(Worker& me) const noexcept;
  void watch(Worker& me, std::unique_lock<PriorityMutex>& lock) noexcept;
  void receive(std::unique_lock<PriorityMutex>& lock) noexcept;
  [[nodiscard]] bool watches() const noexcept;
  void expire_timers() noexcept;
  [[nodiscard]] std::int64_t earliest_timer() const noexcept;
  Callback* next() noexcept;
  void run(Worker& me, Callback& callback, std::unique_lock<PriorityMutex>& lock) noexcept;

  GroupOptions options_;
  const RuntimeClock& clock_;
  FailureHandler on_failure_;
  mutable PriorityMutex mutex_;
  bool stopping_ = false;
  std::uint64_t order_ = 0;
  std::size_t callbacks_ = 0;
  std::vector<Callback*> ready_;  ///< a heap; has room for all
  std::vector<Worker*> idle_;
  Worker* watcher_ = nullptr;
  std::vector<TimerCallback*> timers_;
  RemoteSet remotes_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Worker by_hand_;  ///< what run_one() runs
};

template <class F>
void QuietOffer::operator()(Callback& callback, F add) noexcept {
  if (group_.offer_quietly(callback, add)) ++ready_;
}

}  // namespace detail
}  // namespace cardan
