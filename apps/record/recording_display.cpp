// SPDX-License-Identifier: Apache-2.0
#include "apps/record/recording_display.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/record/record_view.hpp"

namespace cardan::apps {
namespace {

using record::RecorderReport;

std::string topics_text(const RecorderReport& report) {
  std::size_t attached = 0;
  for (const record::TopicReport& topic : report.topics) attached += topic.type.empty() ? 0U : 1U;
  return attached == 1 ? "1 topic" : fmt::format("{} topics", attached);
}

}  // namespace

RecordingDisplay::RecordingDisplay(record::Recorder& recorder, Options options)
    : recorder_(recorder),
      json_(options.json),
      live_(stdout_is_terminal() && options.table && !options.json),
      quiet_(!live_ && !options.json),
      last_(recorder.report()) {}

void RecordingDisplay::show_beginning() {
  if (!json_) {
    emit(above(fmt::format("recording into {}: {}\n", printable(last_.file), last_.mode)));
    emit(above(fmt::format("ready after {:.2f} s: {} attached; later losses are counted\n",
                           static_cast<double>(last_.ready_ns) / 1e9, topics_text(last_))));
  }
  begun_ = shown_ = std::chrono::steady_clock::now();
}

bool RecordingDisplay::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ && now - begun_ >= std::chrono::seconds(2)) {
    quiet_ = false;
    if (recorder_.report().topics.empty())
      warn("waiting: no topic that matches is published yet — cardan topic list shows the topics");
  }
  if (!live_ || now - shown_ < std::chrono::seconds(1)) return true;
  shown_ = now;
  const RecorderReport report = recorder_.report();
  const Room size = terminal_size();
  const Room room{size.columns, std::max<std::size_t>(size.rows, 4) - 1};
  if (!emit(block_.draw({}, record_lines(report, last_, room), size))) return false;
  last_ = report;
  return true;
}

std::string RecordingDisplay::above(const std::string& text) {
  return live_ ? block_.draw(text, {}, terminal_size()) : text;
}

}  // namespace cardan::apps
