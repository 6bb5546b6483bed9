// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_log.hpp"

#include <fmt/format.h>

#include <utility>

#include "cardan/base/clock.hpp"

namespace cardan::apps {

OwnLines::OwnLines(OnLine on_line) : on_line_(std::move(on_line)) {
  set_log([this](LogLevel level, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kWaiting)
      waiting_.push_back({level, wall_now(), text});
    else
      ++left_out_;
  });
}

OwnLines::~OwnLines() {
  set_log({});
  pump();
}

void OwnLines::give(const Line& line) const {
  on_line_({.name = "cardan",
            .source = launcher::LogLine::Source::Launcher,
            .level = line.level,
            .wall_ns = line.wall_ns,
            .text = line.text});
}

void OwnLines::say(LogLevel level, const std::string& text) const { give({level, wall_now(), text}); }

void OwnLines::pump() {
  std::vector<Line> lines;
  std::uint64_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(waiting_);
    left_out = std::exchange(left_out_, 0);
  }
  for (const Line& line : lines) give(line);
  if (left_out != 0) say(LogLevel::Warning, fmt::format("{} lines of cardan run itself were left out", left_out));
}

}  // namespace cardan::apps
