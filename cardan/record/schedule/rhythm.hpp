// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/messages/cycle_hint.hpp"
#include "cardan/record/schedule/estimate.hpp"

namespace cardan::record::schedule {

/// What one application's hints have told: how often it begins, how long it computes, and whether it does so now. Takes
/// nothing on trust; times are nanoseconds of one steady clock. One thread; does not block, allocates nothing.
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
  /// From begin to begin: as learned, before that as the application says; 0: nobody knows.
  [[nodiscard]] std::int64_t period() const noexcept { return learned() ? period_.mean : stated_ns_; }
  /// Whether the next begin can be told from the last ones.
  [[nodiscard]] bool regular() const noexcept;

  /// Of an idle one: until when writes disturb it not, `margin` before its next begin. In the past: it is about to
  /// begin.
  [[nodiscard]] std::int64_t quiet_until(std::int64_t now, std::int64_t margin) const noexcept;
  /// Of an idle one that is about to begin: when it will have begun, or left this cycle out.
  [[nodiscard]] std::int64_t begun_by(std::int64_t now) const noexcept;
  /// Of a busy one: when it should be through; later than now.
  [[nodiscard]] std::int64_t busy_until(std::int64_t now) const noexcept;

  /// Whether nothing of its period is left to write in, `margin` before the next begin.
  [[nodiscard]] bool never_idles(std::int64_t margin) const noexcept {
    return learned() && work_.count != 0 && period_.mean - work_.mean <= margin;
  }

  // What was learned, for reports.
  [[nodiscard]] const Estimate& intervals() const noexcept { return period_; }
  [[nodiscard]] const Estimate& work() const noexcept { return work_; }
  /// How far the begins lay from where the last ones had let them be expected.
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
