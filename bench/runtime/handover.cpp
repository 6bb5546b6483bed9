// SPDX-License-Identifier: Apache-2.0
// The reference: what handing a pointer to another thread costs at least, with what the standard library offers.
#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/pin.hpp"
#include "bench/runtime/workload.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench {
namespace {

using Frame = std::vector<std::byte>;

/// As deep as the input of a component, so that a reader that was late gets late frames here too, and not fewer.
class Mailbox {
 public:
  struct Entry {
    std::shared_ptr<const Frame> frame;
    std::size_t number = 0;
  };

  /// Of more than the queue holds the oldest goes.
  void put(std::shared_ptr<const Frame> frame, std::size_t number) {
    std::shared_ptr<const Frame> oldest;  // let go of outside the lock
    {
      const std::lock_guard lock(mutex_);
      if (count_ == kRuntimeDepth) oldest = take_first().frame;
      entries_[(first_ + count_++) % kRuntimeDepth] = {std::move(frame), number};
    }
    filled_.notify_one();
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_one();
  }
  /// Waits; without a frame: closed, and nothing is left.
  Entry take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return count_ > 0 || closed_; });
    return count_ > 0 ? take_first() : Entry{};
  }
  /// Waits until a steady time; without a frame: that is reached.
  Entry take_until(std::int64_t ns) {
    std::unique_lock lock(mutex_);
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(ns)};
    return filled_.wait_until(lock, until, [this] { return count_ > 0; }) ? take_first() : Entry{};
  }

 private:
  Entry take_first() {
    Entry entry = std::move(entries_[first_]);
    first_ = (first_ + 1) % kRuntimeDepth;
    --count_;
    return entry;
  }

  std::mutex mutex_;
  std::condition_variable filled_;
  std::array<Entry, kRuntimeDepth> entries_;
  std::size_t first_ = 0, count_ = 0;
  bool closed_ = false;
};

void read(Mailbox& from, Mailbox* echo, std::vector<std::int64_t>& received, int cpu) {
  pin(cpu);
  for (;;) {
    Mailbox::Entry entry = from.take();
    if (entry.frame == nullptr) return;
    received[entry.number] = now_ns();
    if (echo != nullptr) echo->put(std::move(entry.frame), entry.number);
  }
}

void publish(const RuntimeCell& cell, const RuntimeBenchOptions& options, std::vector<Mailbox>& boxes, Mailbox& echo,
             RuntimeStamps& stamps) {
  pin(options.publisher_cpu);
  const auto frame = std::make_shared<const Frame>(cell.bytes, std::byte{1});
  // Between two beats the same thread takes what comes back, as the worker of a component does.
  const auto pass_time = [&](std::int64_t until) {
    if (!cell.echo) return sleep_until(until);
    for (;;) {
      const Mailbox::Entry back = echo.take_until(until);
      if (back.frame == nullptr) return;
      stamps.back[back.number] = now_ns();
      if (now_ns() >= until) return;  // a beat that is due goes first
    }
  };
  std::int64_t due = now_ns() + 20'000'000;
  for (std::size_t n = 0; n < options.frames; ++n, due += options.interval_ns) {
    if (now_ns() >= due + options.interval_ns) continue;  // late by a whole beat: all peers skip it
    pass_time(due);
    stamps.sent[n] = now_ns();
    for (Mailbox& box : boxes) box.put(frame, n);
  }
  pass_time(due + 20 * options.interval_ns);  // for what comes late
  for (Mailbox& box : boxes) box.close();
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
  std::thread publisher([&] { publish(cell, options, boxes, echo, stamps); });
  publisher.join();
  for (auto& r : readers) r.join();
  return stamps.evaluate(cell, options);
}

}  // namespace cardan::bench
