// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cardan/messages/image.hpp"
#include "cardan/transport/topic.hpp"

namespace cardan::apps {

/// The contract of the tour's camera. The second one keeps the last eight frames instead of the freshest.
inline constexpr Topic<Image> kTourCamera{"/tour/camera", {.max_bytes = 640 * 480, .depth = 1}};
inline constexpr Topic<Image> kTourQueue{"/tour/queue", {.max_bytes = 640 * 480, .depth = 8}};

/// Where the tour plays: a run directory of its own, so that nothing of a running system is seen or disturbed, and the
/// camera's process. Both end with it. One thread.
class Stage {
 public:
  /// Sets CARDAN_RUN_DIR for this process and those that it starts. Throws Error (Unavailable).
  Stage();
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// A path in the tour's folder.
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// Starts `cardan tour --camera` as a process of its own. Throws Error (Unavailable).
  void start_camera();
  /// Ends it by this signal, and waits for its end.
  void end_camera(int signal) noexcept;
  [[nodiscard]] pid_t camera() const noexcept { return camera_; }

  /// Runs `cardan WORDS` and returns its exit code. Blocks until it ends.
  int run(const std::vector<std::string>& words);
  /// Starts `cardan WORDS`, and returns its process.
  [[nodiscard]] pid_t start(const std::vector<std::string>& words);
  /// Waits for the end of a process, and returns its exit code.
  static int finish(pid_t process) noexcept;

 private:
  std::string folder_;
  pid_t camera_ = -1;
};

/// The camera's process: 30 frames a second on both topics, until SIGTERM. Returns the exit code.
int run_tour_camera();

}  // namespace cardan::apps
