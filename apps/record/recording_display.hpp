// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "apps/terminal/output.hpp"
#include "cardan/recorder.hpp"

namespace cardan::apps {

/// The display on standard output while a recorder runs: on a terminal a table that is drawn over the last one.
class RecordingDisplay {
 public:
  struct Options {
    bool json = false;   ///< nothing is shown
    bool table = false;  ///< on a terminal
  };
  RecordingDisplay(record::Recorder& recorder, Options options);

  void show_beginning();
  /// To be called often. False: nobody reads the table any more.
  bool refresh();
  /// Lines that stay, on a terminal in place of the table.
  [[nodiscard]] std::string above(const std::string& text);

 private:
  record::Recorder& recorder_;
  bool json_, live_;
  bool quiet_;  ///< without a table, nothing says yet why no message comes
  record::RecorderReport last_;
  LiveBlock block_;
  std::chrono::steady_clock::time_point begun_, shown_;
};

}  // namespace cardan::apps
