// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/record/rows.hpp"

namespace cardan::bench::recording {

/// The figures by which Cardan's recorder is judged; absent: not measured in this run, or there was nothing to compare
/// with. Ratios to `rosbag2` are to the better of its rows, those of one round's neighbours (median over the rounds).
struct RecordSummary {
  std::optional<double> rate_vs_fio{};              ///< of fio's rate with io_uring and O_DIRECT
  std::optional<double> rosbag2_vs_fio_buffered{};  ///< that the peer is not a straw man
  std::optional<double> cameras{};                  ///< most that were recorded to 99.9 %
  std::optional<double> cameras_disk{};             ///< that fit into fio's rate
  std::optional<double> cameras_vs_rosbag2{};
  std::optional<double> lost{};                  ///< messages of the mix
  std::optional<double> path_time_vs_rosbag2{};  ///< in system calls on a message's way to the file, per message
  std::optional<double> cpu_per_gb_vs_rosbag2{};
  std::optional<double> memory_mib{};  ///< of the recorder's process, with eight cameras
  std::optional<double> task_std_vs_rosbag2{}, task_std_vs_alone{};
  std::optional<double> publish_p99_vs_unrecorded{}, transport_p99_vs_unrecorded{};
  /// The worst of the scenes.
  std::optional<double> pipeline_std_vs_asap{}, pipeline_std_vs_rosbag2{};
};

[[nodiscard]] RecordSummary summarize_rows(const Rows& rows);
[[nodiscard]] nlohmann::ordered_json to_json(const RecordSummary& summary);

/// A figure with its target.
struct Verdict {
  std::string what{}, wanted{}, found{};
  std::optional<bool> reached{};  ///< absent: not measured
};
[[nodiscard]] std::vector<Verdict> judge(const RecordSummary& summary);

}  // namespace cardan::bench::recording
