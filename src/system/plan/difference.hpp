// SPDX-License-Identifier: Apache-2.0
// The steps from a system that runs one plan to one that runs another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/system/plan/plan.hpp"

namespace cardan::plan {

struct Difference {
  struct Changed {
    std::string process{};
    std::vector<std::string> why{};  ///< in words: what of it differs
    bool operator==(const Changed&) const = default;
  };
  struct Set {
    std::string process{}, component{}, parameter{};
    std::optional<config::Value> before{};  ///< absent: the plan left it to the code
    config::Value after{};
    bool operator==(const Set&) const = default;
  };
  std::vector<std::string> start{}, stop{};
  std::vector<Changed> restart{};
  std::vector<Set> set{};             ///< parameters of processes that continue
  std::vector<std::string> others{};  ///< what no process has to restart for: "the transitions between states"

  /// Both plans ask for the same.
  [[nodiscard]] bool empty() const noexcept;
  bool operator==(const Difference&) const = default;
};

/// Throws Error (InvalidArgument): the plans differ in what a system keeps as long as it runs (name, domain, realtime).
/// Log levels are not compared. Any thread; blocks for the file system, where it looks for libraries.
[[nodiscard]] Difference difference(const Plan& now, const Plan& next);

/// Throws Error (InvalidArgument) if a name in the plan is invalid or occurs twice: for a plan that comes from
/// elsewhere, and was not read from a file here. Any thread; does not block.
void refuse_unsound(const Plan& plan);

/// As JSON text, and back; from_json() throws nlohmann::json's exceptions.
[[nodiscard]] std::string to_json(const Difference& difference);
[[nodiscard]] Difference difference_from_json(const std::string& text);

}  // namespace cardan::plan
