// SPDX-License-Identifier: Apache-2.0
// `cardan record --in FOLDER --last S`: a flight recorder that continues after each event.
#pragma once

#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "cardan/recorder.hpp"

namespace cardan::apps {

struct RecordEventsOptions {
  record::RecorderOptions recorder{};  ///< with `keep_last`, without a path
  std::string folder{};                ///< of the files
  std::string name{};                  ///< that files begin with
  std::vector<std::string> on{};       ///< as RecordTrigger
  std::chrono::nanoseconds after{};    ///< of an event: from its beginning on
  double seconds = 0;                  ///< 0: until a signal
  bool json = false;
  int ready_fd = -1;  ///< of `cardan run`; −1: none
};

/// Records until a signal. Each event is one file in the folder. Returns the exit code. Throws Error as Recorder and
/// RecordTrigger.
[[nodiscard]] int record_events(const RecordEventsOptions& options);

/// "FOLDER/NAME_20261127-021500" of a time, with a number where files in the folder begin so already. Makes the folder.
/// Throws Error as make_output_folder().
[[nodiscard]] std::string recording_stem(const std::string& folder, const std::string& name, std::time_t when);

/// SIGRTMIN+1: an event begins.
[[nodiscard]] bool take_trigger_signal() noexcept;
void listen_to_trigger_signal();

}  // namespace cardan::apps
