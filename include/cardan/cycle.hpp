// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cardan/detail/duration.hpp"
#include "cardan/messages/cycle_hint.hpp"
#include "cardan/publisher.hpp"

namespace cardan {

/// Options of a Cycle.
struct CycleOptions {
  /// Weight of this application's computing compared with that of others, above 0 to 1000. A recorder first avoids the
  /// heavy ones.
  double weight = 1;
  /// Domain to which the hints go: the recorder's. Empty: $CARDAN_DOMAIN, or "default" if that is not set.
  std::string domain{};
};

/// Marks when an application computes, so that a recorder writes to the disk while it idles:
///
/// ```cpp
/// cardan::Cycle cycle{"control", 20ms};
/// while (…) {
///   cycle.begin();
///   …
///   cycle.end();
/// }
/// ```
///
/// For a block: `const auto run = cycle.run();`. Waiting (for the next sample, the next period) belongs outside.
///
/// Each begin() and end() publishes a CycleHint on `/cardan/cycles`, whether or not a recorder runs. A recorder reads
/// the hints of its own user's programs, of up to 64 of these objects. Components of `cardan run` have a cycle without
/// any code.
/// Thread safety: begin() and end() by one thread at a time. They never block, allocate nothing, and make no system
/// call unless a subscriber waits for hints.
class Cycle {
 public:
  /// `name` is for reports, 1 to 64 bytes. `period`: the expected time from begin() to begin(), up to an hour; 0: it is
  /// learned. Throws Error: InvalidArgument, and as Publisher.
  /// Set-up; blocks for about 1 ms.
  explicit Cycle(std::string_view name, std::chrono::nanoseconds period = {}, const CycleOptions& options = {});
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;
  ~Cycle();  ///< ends a running cycle

  /// Starts a cycle. Ends the running one, if any.
  void begin() noexcept;
  /// Ends the cycle. Does nothing without a begin().
  void end() noexcept;

  /// A cycle that lasts as long as this object.
  class [[nodiscard]] Run {
   public:
    /// begin(); the destructor calls end(). `cycle` must live longer.
    explicit Run(Cycle& cycle) noexcept : cycle_(cycle) { cycle_.begin(); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() { cycle_.end(); }

   private:
    Cycle& cycle_;
  };
  /// Starts a cycle that ends with the returned object.
  Run run() noexcept { return Run(*this); }

  /// Cycles started so far. Call it on the thread that calls begin().
  [[nodiscard]] std::uint64_t count() const noexcept { return hint_.count; }
  [[nodiscard]] std::string_view name() const noexcept { return hint_.name; }

 private:
  void over(std::int64_t now) noexcept;

  CycleHint hint_;  ///< as it will be published next
  Publisher<CycleHint> hints_;
};

}  // namespace cardan
