// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cardan/memory/fd.hpp"
#include "examples/street/demo.hpp"
#include "examples/street/host_load.hpp"
#include "examples/street/measurements.hpp"
#include "examples/street/processes.hpp"
#include "examples/street/report.hpp"
#include "examples/street/view.hpp"

namespace cardan::street {

/// A file in memory that a child writes a picture to.
[[nodiscard]] Fd make_memory_file(const char* name);
[[nodiscard]] std::vector<unsigned char> contents(const Fd& file);

/// SIGINT, SIGTERM and SIGHUP end a run in order; how often one came since the program began.
void catch_signals();
[[nodiscard]] int signals_caught() noexcept;

/// The five processes over one transport, from their start to their end.
class Run {
 public:
  Run(const DemoOptions& options, Transport transport, std::string socket_folder, View& view);

  /// Starts them, measures for `seconds` from when all are ready, ends them. False: something failed, `failure()` says
  /// what and what to do; the figures up to there stand. A signal ends it early and is no failure.
  bool go(double seconds);

  [[nodiscard]] Figures figures() const { return measurements_.figures(); }
  [[nodiscard]] const Inputs& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// How long was measured, in seconds; 0 when it never came to that.
  [[nodiscard]] double measured() const noexcept { return measured_; }
  /// A sentence when other programs disturbed the figures, else "".
  [[nodiscard]] const std::string& disturbed() const noexcept { return disturbed_; }
  [[nodiscard]] Fd& people_picture() noexcept { return pictures_[0]; }
  [[nodiscard]] Fd& obstacles_picture() noexcept { return pictures_[1]; }

 private:
  void start(Role role);
  void on_note(std::size_t index, const Note& note);
  bool watch(double seconds);
  [[nodiscard]] bool all_ready() const noexcept;
  [[nodiscard]] double own_cpu_seconds();
  void show(std::int64_t now, double of_seconds);

  const DemoOptions& options_;
  Transport transport_;
  std::string socket_folder_;
  View& view_;
  Processes processes_;
  std::vector<Role> started_;
  std::array<bool, kRoles> ready_{};
  std::uint64_t image_width_ = 0;
  Measurements measurements_;
  Inputs inputs_;
  std::array<Fd, 2> pictures_;
  std::string failure_;
  std::string disturbed_;
  HostLoad load_before_;
  double own_before_ = 0;
  std::int64_t begun_ = 0;
  double measured_ = 0;
  std::array<double, kRoles> cpu_before_{};
  std::array<double, kRoles> cpu_percent_{};
  std::int64_t cpu_time_ = 0;
};

}  // namespace cardan::street
