// SPDX-License-Identifier: Apache-2.0
// The reference: what handing a pointer to another thread costs at least, with what the standard library offers.
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/runtime/workload.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench {
namespace {

using Frame = std::vector<std::byte>;

struct Mailbox {
  std::mutex mutex;
  std::condition_variable filled;
  std::shared_ptr<const Frame> frame;
  std::size_t number = 0;
  bool closed = false;
};

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set);
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // as the workers of Cardan
}

void put(Mailbox& box, std::shared_ptr<const Frame> frame, std::size_t number) {
  {
    const std::lock_guard lock(box.mutex);
    box.number = number;
    box.frame = std::move(frame);
  }
  box.filled.notify_one();
}

void read(Mailbox& from, Mailbox* echo, std::vector<std::int64_t>& received, int cpu) {
  pin(cpu);
  for (;;) {
    std::unique_lock lock(from.mutex);
    from.filled.wait(lock, [&] { return from.frame != nullptr || from.closed; });
    if (from.frame == nullptr) return;
    const std::shared_ptr<const Frame> frame = std::move(from.frame);
    const std::size_t n = from.number;
    lock.unlock();
    received[n] = now_ns();
    if (echo != nullptr) put(*echo, frame, n);
  }
}

}  // namespace

RuntimeSamples run_handover(const RuntimeCell& cell, const RuntimeBenchOptions& options) {
  RuntimeStamps stamps(cell, options);
  std::vector<Mailbox> boxes(cell.readers);
  Mailbox echo;
  std::vector<std::thread> readers;
  for (std::uint32_t r = 0; r < cell.readers; ++r)
    readers.emplace_back(
        [&, r] { read(boxes[r], cell.echo ? &echo : nullptr, stamps.received[r], options.reader_cpu); });
  std::thread publisher([&] {
    pin(options.publisher_cpu);
    const auto frame = std::make_shared<const Frame>(cell.bytes, std::byte{1});
    std::int64_t due = now_ns() + 20'000'000;
    for (std::size_t n = 0; n < options.frames; ++n, due += options.interval_ns) {
      sleep_until(due);
      stamps.sent[n] = now_ns();
      for (Mailbox& box : boxes) put(box, frame, n);
      if (!cell.echo) continue;
      std::unique_lock lock(echo.mutex);
      const auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(due + options.interval_ns));
      if (!echo.filled.wait_until(lock, until, [&] { return echo.frame != nullptr; })) continue;
      stamps.back[echo.number] = now_ns();
      echo.frame.reset();
    }
    sleep_until(due);
    for (Mailbox& box : boxes) {
      {
        const std::lock_guard lock(box.mutex);
        box.closed = true;
      }
      box.filled.notify_one();
    }
  });
  publisher.join();
  for (auto& r : readers) r.join();
  return stamps.evaluate(cell, options);
}

}  // namespace cardan::bench
