// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "bench/helper.hpp"
#include "bench/temporary_folder.hpp"

namespace cardan::bench {

/// The path of `rosmaster`; empty: ROS 1 is not here.
[[nodiscard]] std::string find_ros_master();

/// A ROS 1 master of this run alone, on a free port of 127.0.0.1, with a folder for what it writes; gone with this
/// object. Those of a robot are not touched. Not to be shared by threads.
class RosMaster {
 public:
  /// Throws Error if none can be started. `stopped()` is asked while it starts; if it says yes, answers() is false.
  explicit RosMaster(bool (*stopped)());

  [[nodiscard]] bool answers() const noexcept { return answers_; }
  /// For the processes that talk with it.
  [[nodiscard]] const std::map<std::string, std::string>& environment() const noexcept { return environment_; }
  [[nodiscard]] int pid() const noexcept { return master_->child().pid(); }

 private:
  TemporaryFolder folder_{"cardan-bench-ros"};
  std::map<std::string, std::string> environment_;
  std::unique_ptr<Helper> master_;
  bool answers_ = false;
};

}  // namespace cardan::bench
