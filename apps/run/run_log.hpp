// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/log.hpp"
#include "cardan/publisher.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/launcher/topics.hpp"

namespace cardan::apps {

/// The lines of `cardan run` itself in the merged log, like those of its processes: also the library's in this process,
/// on any thread, as long as this object lives. All else is for the thread of the merged log.
class OwnLines {
 public:
  using OnLine = std::function<void(const launcher::LogLine&)>;

  explicit OwnLines(OnLine on_line);
  OwnLines(const OwnLines&) = delete;
  OwnLines& operator=(const OwnLines&) = delete;
  ~OwnLines();

  void say(LogLevel level, const std::string& text) const;
  /// The lines of other threads since the last call.
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

/// A line of the merged log, and the process that wrote it.
struct LogWords {
  LogLevel level = LogLevel::Info;
  std::string_view component{};  ///< empty: none
  std::string_view text{};
};
/// `components`: names that count. Any thread; does not block.
[[nodiscard]] LogWords words_of(const launcher::LogLine& line, const std::set<std::string, std::less<>>& components);

/// Publishes the merged log on /cardan/log. One thread; does not block.
class PublishedLog {
 public:
  /// Throws as Publisher.
  PublishedLog(const config::Configuration& configuration, const std::string& domain);
  void add(const launcher::LogLine& line) noexcept;
  /// The components whose names count from now on.
  void know(const config::Configuration& configuration);

 private:
  std::set<std::string, std::less<>> components_;
  Publisher<LogMessage> publisher_;
};

}  // namespace cardan::apps
