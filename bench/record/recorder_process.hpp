// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/record/measure.hpp"

namespace cardan::bench::recording {

/// A recorder's report when it has ended.
struct RecorderResult {
  std::vector<std::string> files{};
  nlohmann::json words{};  ///< of one of ours: its report
  CpuTime cpu{};
};

/// A recorder that is measured, and the sensors where they belong to its process. Not to be shared by threads; the
/// functions throw Error as Actor's do.
class RecorderProcess {
 public:
  virtual ~RecorderProcess() = default;
  virtual void await_ready() = 0;
  virtual void go() = 0;
  virtual void end() = 0;
  virtual RecorderResult result(std::int64_t until, const Look& look) = 0;
  [[nodiscard]] virtual int pid() const = 0;
  /// The maker of the messages; nullptr: the sensors that publish through Cardan.
  [[nodiscard]] virtual Actor* sensors() { return nullptr; }
};

/// nullptr for a peer that records nothing. Throws Error.
[[nodiscard]] std::unique_ptr<RecorderProcess> start_recorder(const RunSpec& spec, const Setting& setting);

/// Why ROS 1's recorder cannot be measured; empty: it can.
[[nodiscard]] std::string why_no_rosbag();
[[nodiscard]] std::unique_ptr<RecorderProcess> start_rosbag(const RunSpec& spec, const Setting& setting);

}  // namespace cardan::bench::recording
