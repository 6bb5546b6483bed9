// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "cardan/component_options.hpp"
#include "src/runtime/executor/callback.hpp"

namespace cardan::detail {

/// Calls on a grid of absolute times of the runtime's clock: no drift.
class TimerCallback final : public Callback {
 public:
  TimerCallback(std::string name, Group& group, Strand& strand, int priority, std::int64_t period_ns,
                const TimerOptions& options, std::function<void()> call)
      : Callback(std::move(name), group, strand, priority),
        period_ns_(period_ns),
        delay_ns_(options.delay.count() > 0 ? options.delay.count() : period_ns),
        overrun_(options.overrun),
        call_(std::move(call)) {}

  [[nodiscard]] std::int64_t period_ns() const noexcept { return period_ns_; }

  // With the group's lock.
  void begin(std::int64_t now) noexcept { due_ns_ = now + delay_ns_; }
  [[nodiscard]] std::int64_t due() const noexcept { return due_ns_; }
  /// Its time has come: counts the calls that are due, and moves on along the grid.
  void expire(std::int64_t now) noexcept {
    const std::int64_t periods = (now - due_ns_) / period_ns_ + 1;
    if (pending_ == 0) was_due_ns_ = due_ns_;
    due_ns_ += periods * period_ns_;
    const auto late = static_cast<std::uint64_t>(pending_ != 0 ? periods : periods - 1);
    if (overrun_ == Overrun::Skip && late != 0) statistics().overruns.fetch_add(late, std::memory_order_relaxed);
    pending_ = overrun_ == Overrun::Skip ? 1 : pending_ + periods;
    statistics().queued.store(static_cast<std::uint32_t>(pending_), std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool pending() const noexcept override { return pending_ != 0; }
  void pick(std::int64_t now) noexcept override {
    --pending_;
    statistics().queued.store(static_cast<std::uint32_t>(pending_), std::memory_order_relaxed);
    statistics().waiting.add(std::max<std::int64_t>(0, now - was_due_ns_));  // a timer's jitter
    was_due_ns_ += period_ns_;
  }
  void invoke() override { call_(); }

  std::int64_t period_ns_;
  std::int64_t delay_ns_;
  Overrun overrun_;
  std::function<void()> call_;
  std::int64_t due_ns_ = 0;
  std::int64_t was_due_ns_ = 0;
  std::int64_t pending_ = 0;
};

}  // namespace cardan::detail
