// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_log.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "cardan/clock.hpp"

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

LogWords words_of(const launcher::LogLine& line, const std::set<std::string, std::less<>>& components) {
  LogWords words{.level = line.level, .text = line.text};
  if (line.source == launcher::LogLine::Source::Launcher) return words;
  words.level = LogLevel::Info;
  constexpr std::string_view kLibrary = "cardan: ";  // src/base/log.cpp writes it
  constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels{{{"debug: ", LogLevel::Debug},
                                                                          {"info: ", LogLevel::Info},
                                                                          {"warning: ", LogLevel::Warning},
                                                                          {"error: ", LogLevel::Error}}};
  if (line.source != launcher::LogLine::Source::Error || !line.text.starts_with(kLibrary)) return words;
  const std::string_view after = line.text.substr(kLibrary.size());
  for (const auto& [word, level] : kLevels) {
    if (!after.starts_with(word)) continue;
    words.level = level;
    words.text = after.substr(word.size());
  }
  const auto colon = words.text.find(": ");
  if (colon == std::string_view::npos || !components.contains(words.text.substr(0, colon))) return words;
  words.component = words.text.substr(0, colon);
  words.text.remove_prefix(colon + 2);
  return words;
}

PublishedLog::PublishedLog(const config::Configuration& configuration, const std::string& domain)
    : publisher_(kLog, {.domain = domain}) {
  know(configuration);
}

void PublishedLog::know(const config::Configuration& configuration) {
  components_.clear();
  for (const auto& process : configuration.processes)
    for (const auto& component : process.components) components_.insert(component.name);
}

void PublishedLog::add(const launcher::LogLine& line) noexcept {
  auto loan = publisher_.loan();
  if (!loan) return;
  const LogWords words = words_of(line, components_);
  loan->stamp = line.wall_ns;
  loan->level = words.level;
  loan->process = FixedString<60>(line.name);
  loan->component = FixedString<60>(words.component);
  if (!loan->text.try_assign(words.text.substr(0, kMostLogText))) return;
  publisher_.publish(std::move(loan));
}

}  // namespace cardan::apps
