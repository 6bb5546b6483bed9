// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/system/plan/plan.hpp"

namespace cardan::apps {

struct ApplyOptions {
  std::string file{};
  plan::PlanOptions changes{};  ///< `domain`: of the system that runs
  std::string json{};           ///< file for a summary
  bool yes = false;             ///< do not ask
  bool check = true;            ///< find out what the components declare
};

/// `cardan run --apply FILE`: the exit code.
int apply_plan(const ApplyOptions& options);

}  // namespace cardan::apps
