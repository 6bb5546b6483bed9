// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/system/launcher/child_process.hpp"

namespace cardan::bench {

/// A bridge's counts of a topic, since its start.
struct BridgeCounts {
  std::uint64_t receivers = 0, carried = 0, bytes = 0, copied = 0, lost = 0;
};

/// A `cardan bridge` that runs; gone with this object. Not to be shared by threads.
class RunningBridge {
 public:
  /// `words`: after `cardan bridge`. `run_dir`: its CARDAN_RUN_DIR. Throws Error: the program cannot be run.
  RunningBridge(const std::vector<std::string>& words, const std::string& run_dir);

  /// Listens for `ns`, or until it says something. Throws Error: it has ended.
  void listen(std::int64_t ns);
  /// Its newest report; null before the first.
  [[nodiscard]] const nlohmann::json& report() const noexcept { return report_; }
  [[nodiscard]] BridgeCounts counts(const std::string& topic, const std::string& direction) const;
  /// Seconds of CPU that it and the programs that it started have used.
  [[nodiscard]] double cpu() const;
  [[nodiscard]] int pid() const noexcept { return child_.pid(); }
  /// Tells it to end, and waits. Throws Error: it does not, or not in order (3 is: something was lost).
  void end();

 private:
  std::string kind_;
  launcher::ChildProcess child_;
  std::string said_, errors_;
  nlohmann::json report_;
};

}  // namespace cardan::bench
