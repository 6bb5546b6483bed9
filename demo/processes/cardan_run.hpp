// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardan/subscriber.hpp"
#include "demo/processes/crash.hpp"
#include "demo/run.hpp"
#include "demo/topics.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::street {

/// A run of `cardan run demo/street.json`, watched by the demo.
class CardanRun : public Run {
 public:
  /// `folder`: for the pictures. `setup`: five processes or one.
  CardanRun(const DemoOptions& options, Setup setup, std::string folder, View& view)
      : Run(options, setup, view), folder_(std::move(folder)) {}

  [[nodiscard]] const std::optional<Crash>& crash() const noexcept { return crash_; }
  /// Files with what was found; made when the run ends.
  [[nodiscard]] std::string camera_picture() const { return folder_ + "/camera.png"; }
  [[nodiscard]] std::string obstacles_picture() const { return folder_ + "/obstacles.png"; }
  /// Folder with the calibration of the sensors; "": none.
  [[nodiscard]] const std::string& calibration() const noexcept { return options().calibration; }

 private:
  void run() override;
  [[nodiscard]] std::vector<Used> used() override;
  /// "component/parameter=value", as `--set`.
  [[nodiscard]] std::vector<std::string> parameters() const;
  void look();
  void crash_if_due();
  /// The ages at the ends of the chains so far. Empty if a process does not answer.
  [[nodiscard]] std::map<std::string, LatencyHistogram> ages();

  std::string folder_;
  std::unique_ptr<Subscriber<Note>> notes_;
  std::unique_ptr<launcher::Supervisor> supervisor_;
  std::unique_ptr<host::ControlClient> control_;
  std::optional<std::map<std::string, LatencyHistogram>> ages_before_;  ///< when the measurement began
  std::string launcher_error_;                                          ///< its first
  std::map<std::string, std::deque<std::string>> last_errors_;          ///< lines, by process
  std::int64_t crashed_at_ = 0;
  bool told_to_stop_ = false;
  std::optional<Crash> crash_;
};

}  // namespace cardan::street
