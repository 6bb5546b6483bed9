// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/transport/report.hpp"
#include "bench/transport/run.hpp"

namespace cardan::bench {

/// A single operation of Cardan that no row shows by itself: measured once a round, pooled over the rounds.
class Operation {
 public:
  Operation(std::string name, Task task, std::uint32_t endpoints, std::uint32_t count, std::string detail);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Empty: measured; else what went wrong.
  std::string run(const TransportOptions& options, const std::string& run_dir, QuietSignals& signals);
  /// Nothing when it was never measured.
  void add_figures(std::vector<Figure>& figures) const;

 private:
  std::string name_;
  Task task_;
  std::uint32_t endpoints_;
  std::uint32_t count_;
  std::string detail_;
  std::vector<double> samples_;
  std::vector<double> attaching_, memory_;  ///< Discover: ms until all are attached after the listing; KiB of a topic
};

/// loan + publish with 1 and 50 polling subscribers, attach, 1 to 1000 topics.
std::vector<Operation> all_operations();

}  // namespace cardan::bench
