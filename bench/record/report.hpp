// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/record/rows.hpp"
#include "bench/record/summary.hpp"
#include "bench/transport/host.hpp"

namespace cardan::bench::recording {

/// The parts of the report besides the rows.
struct RecordCircumstances {
  Host host{};
  std::string file_system{};
  std::string fio_version{};
  std::vector<std::string> fio_commands{};
  double steal_percent = 0;
  bool interrupted = false;
  std::vector<std::string> left_out{};  ///< sentences: what is not here, or was not measured
  std::vector<std::string> failures{};  ///< sentences: what did not run
};

/// Tables for people, one for each part, and the verdicts.
[[nodiscard]] std::string to_table(const Rows& rows, const RecordCircumstances& circumstances);
/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const Rows& rows, const RecordCircumstances& circumstances);

}  // namespace cardan::bench::recording
