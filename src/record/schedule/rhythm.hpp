// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/messages/cycle_hint.hpp"
#include "src/record/schedule/estimate.hpp"

namespace cardan::record::schedule {

/// The rhythm that one application's hints show: how often it starts, how long it computes, and whether it does so now.
/// Takes nothing on trust; times are nanoseconds of one steady clock. One thread; does not block, allocates nothing.
class Rhythm {
 public:
  enum class Heard : std::uint8_t {
    News,
    Nothing,  ///< known already
    Absurd,   ///< no honest Cycle says that; nothing was learned
  };
  Heard hear(const CycleHint& hint, std::int64_t now) noexcept;

  /// False when it has been silent for several of its periods: it has ended, or hangs.
  [[nodiscard]] bool alive(std::int64_t now) const noexcept { return now - stamp_ <= patience(); }
  [[nodiscard]] bool busy() const noexcept { return busy_; }
  /// From start to start: as learned, before that as the application announces; 0: not known.
  [[nodiscard]] std::int64_t period() const noexcept { return learned() ? period_.mean : stated_ns_; }
  /// Whether the next start can be predicted from the last ones.
  [[nodiscard]] bool regular() const noexcept;

  /// Of an idle one: until when writes do not disturb it, `margin` before its next start. In the past: it is about to
  /// start.
  [[nodiscard]] std::int64_t quiet_until(std::int64_t now, std::int64_t margin) const noexcept;
  /// Of an idle one that is about to start: when it will have started, or skipped this cycle.
  [[nodiscard]] std::int64_t begun_by(std::int64_t now) const noexcept;
  /// Of a busy one: when it should be through; later than now.
  [[nodiscard]] std::int64_t busy_until(std::int64_t now) const noexcept;

  /// Whether its period leaves no time for writing that ends `margin` before the next start.
  [[nodiscard]] bool never_idles(std::int64_t margin) const noexcept {
    return learned() && work_.count != 0 && period_.mean - work_.mean <= margin;
  }

  // Learned values, for reports.
  [[nodiscard]] const Estimate& intervals() const noexcept { return period_; }
  [[nodiscard]] const Estimate& work() const noexcept { return work_; }
  /// How far the starts were from their predictions.
  [[nodiscard]] const Estimate& misses() const noexcept { return misses_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Begin of the newest cycle.
  [[nodiscard]] std::int64_t begin() const noexcept { return begin_ns_; }

 private:
  [[nodiscard]] bool learned() const noexcept { return period_.count >= 2; }
  [[nodiscard]] std::int64_t patience() const noexcept;
  [[nodiscard]] std::int64_t tolerance() const noexcept;
  [[nodiscard]] std::int64_t due(std::int64_t now) const noexcept;
  [[nodiscard]] bool follows(const CycleHint& hint) const noexcept;
  void learn_interval(const CycleHint& hint) noexcept;
  void learn_work(const CycleHint& hint) noexcept;

  std::uint64_t count_ = 0;
  std::uint64_t worked_ = 0;  ///< number of the last cycle in work_
  std::int64_t begin_ns_ = 0;
  std::int64_t stamp_ = 0;  ///< of its last sign of life
  std::int64_t stated_ns_ = 0;
  bool busy_ = false;
  int strange_ = 0;  ///< intervals in a row that are nothing like the mean
  Estimate period_;
  Estimate work_;
  Estimate misses_;
};

}  // namespace cardan::record::schedule
