// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/system/launcher/child_process.hpp"

namespace cardan::apps {

/// Thrown by what waits when a stop was requested (Ctrl-C): the tour ends.
struct TourInterrupted {};

/// The place of the tour: its own folder with a run directory, so that no running system is seen or disturbed, and the
/// processes that it starts. Both end with it, whatever happens. The processes also end when the tour is killed. One
/// thread.
class Stage {
 public:
  /// Sets CARDAN_RUN_DIR for this process and those that it starts. Throws Error (Unavailable).
  Stage();
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// A path in the tour's folder.
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// Starts a process of `cardan WORDS`. Throws Error (System).
  [[nodiscard]] static std::unique_ptr<launcher::ChildProcess> start(const std::vector<std::string>& words);
  /// Gives each line that the process writes to `line` until the process ends. Returns its exit code, 128 and the
  /// signal's number after a signal. Blocks. Throws TourInterrupted.
  static int finish(launcher::ChildProcess& process, const std::function<void(std::string_view line)>& line);
  /// Asks the process to end, and kills it after five seconds. Blocks.
  static void end(std::unique_ptr<launcher::ChildProcess> process) noexcept;

  /// Starts the camera as a separate process. Throws Error (System).
  void start_camera();
  [[nodiscard]] bool camera_runs() { return camera_ && !camera_->ended(); }
  [[nodiscard]] pid_t camera() const noexcept { return camera_ ? camera_->pid() : -1; }
  /// How the camera ended, and what it said: "died by signal 9 (Killed)".
  [[nodiscard]] std::string camera_end();
  void kill_camera() noexcept { camera_->signal(9); }
  void end_camera() noexcept { end(std::move(camera_)); }

 private:
  std::string folder_;
  std::unique_ptr<launcher::ChildProcess> camera_;
};

}  // namespace cardan::apps
