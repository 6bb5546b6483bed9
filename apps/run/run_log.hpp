// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/base/log.hpp"
#include "cardan/system/launcher/supervisor.hpp"

namespace cardan::apps {

/// What `cardan run` itself has to say, in the merged log as the lines of its processes are: also what the library says
/// in this process, on any thread, as long as this object lives. All else is for the thread of the merged log.
class OwnLines {
 public:
  using OnLine = std::function<void(const launcher::LogLine&)>;

  explicit OwnLines(OnLine on_line);
  OwnLines(const OwnLines&) = delete;
  OwnLines& operator=(const OwnLines&) = delete;
  ~OwnLines();

  void say(LogLevel level, const std::string& text) const;
  /// What other threads have said since the last call.
  void pump();

 private:
  static constexpr std::size_t kWaiting = 1024;  ///< lines; more are left out and counted
  struct Line {
    LogLevel level;
    std::int64_t wall_ns;
    std::string text;
  };
  void give(const Line& line) const;

  OnLine on_line_;
  std::mutex mutex_;
  std::vector<Line> waiting_;
  std::uint64_t left_out_ = 0;
};

}  // namespace cardan::apps
