// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/results/measurement.hpp"
#include "bench/results/statistics.hpp"
#include "bench/transport/options.hpp"
#include "bench/transport/run.hpp"

namespace cardan::bench {

/// Latencies over all runs, with the confidence of the mean over the runs.
struct Latency {
  Summary pooled;
  std::optional<std::pair<double, double>> ci95;
};

/// Figures of a contender divided by those of blocking `raw` in the same run: the median of these over the runs.
struct Ratio {
  double transport_p50 = 0, transport_p99 = 0, end_to_end_p50 = 0, last_p50 = 0;
  double handing_beyond_us = 0;  ///< not a ratio: how much longer loan + publish take, p50
};

/// One line of the result: a contender in a cell, over all its runs.
struct Row {
  Contender contender;
  Cell cell;
  std::uint32_t runs = 0;
  std::uint64_t sent = 0, lost = 0, torn = 0, refused = 0;
  Latency transport_us, end_to_end_us, spread_us;
  Latency handing_us;
  std::optional<Latency> last_us;  ///< several readers only
  double publisher_cpu_us = 0, reader_cpu_us = 0;
  double reader_cpu_percent = 0, waiting_cpu_percent = 0;
  double achieved_rate_hz = 0;
  double steal_percent = 0, other_load_percent = 0;
  bool stolen = false;  ///< a run stayed above the limit of steal in all its repetitions
  std::optional<Ratio> ratio_to_raw;
  std::vector<double> transport_p50_by_run;
};

/// All that was measured: a run's place tells which runs of different contenders belong together.
class Results {
 public:
  struct Entry {
    std::uint32_t run = 0;
    RunResult result;
    bool stolen = false;
  };

  explicit Results(const TransportOptions& options);

  void add(std::size_t cell, std::size_t contender, Entry entry);
  /// Rows in the order of cells, then contenders; without those that have no run.
  [[nodiscard]] std::vector<Row> rows() const;
  /// The same with the samples, in the form of all results. `asked_runs`: rounds that the user asked for.
  [[nodiscard]] std::vector<Measurement> measurements(std::uint32_t asked_runs) const;

 private:
  [[nodiscard]] const std::vector<Entry>& entries(std::size_t cell, std::size_t contender) const;
  [[nodiscard]] std::optional<Ratio> ratio(std::size_t cell, std::size_t contender) const;

  std::vector<Contender> contenders_;
  std::vector<Cell> cells_;
  std::vector<std::vector<Entry>> entries_;
};

}  // namespace cardan::bench
