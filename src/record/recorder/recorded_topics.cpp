// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/recorded_topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cardan/mcap/before_start.hpp"
#include "src/record/metadata.hpp"

namespace cardan::record {
namespace {

/// A queue that is this full is served before the others.
constexpr double kNearlyFull = 0.9;

void lose_first_frame(TopicQueue& topic, LossCause cause) {
  topic.lose(cause, 1);
  topic.note_written(1, topic.waiting.front().bytes);
  --topic.held;
  topic.waiting.pop_front();
}

}  // namespace

void RecordedTopics::adopt(List found) {
  for (auto& topic : found) {
    topic->number = topics_.size();
    topics_.push_back(std::move(topic));
  }
}

void RecordedTopics::note(const ClockStep& step) {
  constexpr std::size_t kMostSteps = 1000;  // a clock that is set all the time
  if (clock_steps_.size() < kMostSteps) clock_steps_.push_back(step);
}

TopicQueue* RecordedTopics::next_frame(bool fullest_first) const {
  TopicQueue* next = nullptr;
  const auto before = [fullest_first](const TopicQueue& a, const TopicQueue& b) {
    if (fullest_first && std::max(a.fullness(), b.fullness()) > kNearlyFull) return a.fullness() > b.fullness();
    return a.waiting.front().log_time < b.waiting.front().log_time;
  };
  for (const auto& topic : topics_)
    if (!topic->waiting.empty() && (next == nullptr || before(*topic, *next))) next = topic.get();
  return next;
}

bool RecordedTopics::frames_wait() const noexcept {
  return std::any_of(topics_.begin(), topics_.end(), [](const auto& topic) { return !topic->waiting.empty(); });
}

void RecordedTopics::lose(const std::vector<Share>& shares, LossCause cause) {
  for (const Share& share : shares) {
    topics_[share.topic]->lose(cause, share.messages);
    topics_[share.topic]->note_written(share.messages, share.bytes);
  }
}

void RecordedTopics::take_back(const std::vector<Share>& shares) {
  for (const Share& share : shares) topics_[share.topic]->take_back(share.messages, share.bytes);
}

void RecordedTopics::lose_frames_before(std::int64_t oldest_ns) {
  for (const auto& topic : topics_)
    while (!topic->waiting.empty() && topic->waiting.front().taken_ns < oldest_ns)
      lose_first_frame(*topic, LossCause::DiskSlow);
}

void RecordedTopics::lose_frames(LossCause cause) {
  for (const auto& topic : topics_)
    while (!topic->waiting.empty()) lose_first_frame(*topic, cause);
}

std::vector<mcap::Metadata> RecordedTopics::losses() const {
  mcap::Metadata all{.name = "cardan.losses"};
  for (const auto& topic : topics_) {
    const TopicReport report = topic->report();
    std::string text = fmt::format("recorded {}", report.recorded);
    for (std::size_t i = 0; i < kLossCauses; ++i)
      if (report.lost[i] != 0) text += fmt::format(", {} {}", to_string(static_cast<LossCause>(i)), report.lost[i]);
    if (report.left_out != 0) text += fmt::format(", left out {}", report.left_out);
    std::string key = report.topic;  // one whose type changed is there twice
    if (all.metadata.contains(key)) key += " (" + report.type + ")";
    if (all.metadata.contains(key)) key += " " + type_hash_text(topic->source().type_hash);
    all.metadata[key] = text;
  }
  std::vector<mcap::Metadata> records{std::move(all)};
  mcap::Metadata publishers{.name = mcap::kPublishersName};
  for (const auto& topic : topics_)
    if (topic->publishers() > 1) publishers.metadata[topic->source().name] = std::to_string(topic->publishers());
  if (!publishers.metadata.empty()) records.push_back(std::move(publishers));
  mcap::Metadata steps{.name = "cardan.clock_steps"};
  for (const ClockStep& step : clock_steps_) steps.metadata[std::to_string(step.log_time)] = std::to_string(step.by_ns);
  if (!steps.metadata.empty()) records.push_back(std::move(steps));
  return records;
}

}  // namespace cardan::record
