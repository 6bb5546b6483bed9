// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "demo/options.hpp"
#include "demo/report/host_load.hpp"
#include "demo/report/measurements.hpp"
#include "demo/report/report.hpp"
#include "demo/report/view.hpp"

namespace cardan::street {

/// SIGINT, SIGTERM and SIGHUP end a run in order; how often one came since the program began.
void catch_signals();
[[nodiscard]] int signals_caught() noexcept;

/// The five in one setup, from their start to their end.
class Run {
 public:
  Run(const DemoOptions& options, Setup setup, View& view);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run() = default;

  /// Starts them, measures for `seconds` from when all are ready, ends them. False: something failed, `failure()` says
  /// what and what to do; the figures up to there are valid. A signal ends it early and is not a failure.
  bool go(double seconds);

  [[nodiscard]] Setup setup() const noexcept { return setup_; }
  [[nodiscard]] Figures figures() const { return measurements_.figures(); }
  [[nodiscard]] const Measurements& measurements() const noexcept { return measurements_; }
  [[nodiscard]] const Inputs& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// How long was measured, in seconds; 0 when it never came to that.
  [[nodiscard]] double measured() const noexcept { return measured_; }
  /// A clause for people when other programs disturbed the figures, else "".
  [[nodiscard]] const std::string& disturbed() const noexcept { return disturbed_; }

 protected:
  /// Runs the processes: takes their notes, and calls tick() some times a second, until that says that it is over. Ends
  /// them.
  virtual void run() = 0;
  struct Used {
    std::string process;
    double cpu_seconds = 0;
  };
  [[nodiscard]] virtual std::vector<Used> used() = 0;

  void on_note(const Note& note);
  void measure(const std::string& chain, const LatencyHistogram& ages) { measurements_.add(chain, ages); }
  void is_ready(Role role) { ready_[static_cast<std::size_t>(role)] = true; }
  [[nodiscard]] bool ready(Role role) const { return ready_[static_cast<std::size_t>(role)]; }
  /// The first failure is the cause of the others.
  void fail(const std::string& cause, const std::string& remedy = {});
  /// True: it is over, by a failure, a signal or because the time is up. Later messages are not counted: a
  /// reader that is being ended misses frames for that reason alone.
  bool tick();
  [[nodiscard]] std::int64_t begun() const noexcept { return begun_; }
  /// When folders are played from their beginning: a moment after the start. Steady clock, ns.
  [[nodiscard]] std::int64_t origin() const noexcept { return started_ + 1'000'000'000; }
  [[nodiscard]] double length() const noexcept { return length_; }
  [[nodiscard]] const DemoOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t image_width() const noexcept { return image_width_; }

 private:
  void show(std::int64_t now);
  /// The LiDAR is a UDP port to which nothing comes.
  [[nodiscard]] bool silent(std::int64_t now, bool time_is_up) const;
  [[nodiscard]] double own_cpu_seconds();

  const DemoOptions& options_;
  Setup setup_;
  View& view_;
  std::array<bool, kRoles> ready_{};
  std::uint64_t image_width_ = 0;
  Measurements measurements_;
  Inputs inputs_;
  std::string failure_, disturbed_;
  HostLoad load_before_;
  double own_before_ = 0;
  std::int64_t started_ = 0, begun_ = 0, shown_ = 0;
  bool scan_came_ = false;
  double length_ = 0, measured_ = 0;
  bool over_ = false;
  std::vector<Used> used_before_;
  std::vector<ProcessLoad> loads_;
  std::int64_t used_time_ = 0;
};

}  // namespace cardan::street
