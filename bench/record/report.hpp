// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/record/rows.hpp"
#include "bench/record/summary.hpp"
#include "bench/results/occasion.hpp"

namespace cardan::bench::recording {

/// The parts of the report besides the rows.
struct RecordCircumstances : Occasion {
  std::string file_system{};
  std::string fio_version{};
  std::vector<std::string> fio_commands{};
};

/// Tables for people, one for each part, and the verdicts.
[[nodiscard]] std::string to_table(const Rows& rows, const RecordCircumstances& circumstances);
/// docs/benchmarking.md explains each field.
[[nodiscard]] nlohmann::ordered_json to_json(const Rows& rows, const RecordCircumstances& circumstances);

}  // namespace cardan::bench::recording
