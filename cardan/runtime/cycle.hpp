// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cardan/messages/cycle_hint.hpp"
#include "cardan/transport/publisher.hpp"

namespace cardan {

struct CycleOptions {
  /// How much this application's computing counts against that of others, above 0 to 1000: a recorder first keeps out
  /// of the way of the heavy ones.
  double weight = 1;
  /// Domain that the hints go to: the recorder's. Empty: $CARDAN_DOMAIN, else "default".
  std::string domain{};
};

/// Marks when an application computes, so that a recorder writes to the disk while it idles:
/// `cardan::Cycle cycle{"control", 20ms};` then, in the loop, `cycle.begin(); …; cycle.end();`, or
/// `const auto run = cycle.run();` for a block. What is waited for (the next sample, the next period) belongs outside.
///
/// Each begin and end publishes a CycleHint on `/cardan/cycles`, whether or not a recorder runs; a recorder reads hints
/// of its own user's programs, of up to 64 of these objects. Components of `cardan run` have one without any code.
/// Thread safety: begin() and end() by one thread at a time; they never block, allocate nothing, and make no system
/// call unless somebody waits for hints.
class Cycle {
 public:
  /// `name` is for reports, 1 to 64 bytes. `period`: the expected time from begin to begin, up to an hour; 0: it is
  /// learned. Throws Error: InvalidArgument, and as Publisher. Set-up; blocks for about 1 ms.
  explicit Cycle(std::string_view name, std::chrono::nanoseconds period = {}, const CycleOptions& options = {});
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;
  ~Cycle();  ///< ends a cycle that runs

  /// The computing of a cycle begins. One that runs ends here.
  void begin() noexcept;
  /// It is over. Without a begin() nothing happens.
  void end() noexcept;

  /// A cycle that lasts as long as this object.
  class [[nodiscard]] Run {
   public:
    explicit Run(Cycle& cycle) noexcept : cycle_(cycle) { cycle_.begin(); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() { cycle_.end(); }

   private:
    Cycle& cycle_;
  };
  Run run() noexcept { return Run(*this); }

  /// Cycles begun so far. The thread that calls begin().
  [[nodiscard]] std::uint64_t count() const noexcept { return hint_.count; }
  [[nodiscard]] std::string_view name() const noexcept { return hint_.name; }

 private:
  void over(std::int64_t now) noexcept;

  CycleHint hint_;  ///< as it is published next
  Publisher<CycleHint> hints_;
};

}  // namespace cardan
