// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/intake.hpp"

#include <algorithm>
#include <utility>

#include "cardan/clock.hpp"
#include "src/record/metadata.hpp"

namespace cardan::record {
namespace {

/// Of one topic in one turn: a publisher that is faster than we are must not keep us there.
constexpr int kMostTaken = 1024;
/// Of the wall clock. Two looks differ by less if it was not set.
constexpr std::int64_t kLeastStep = 10'000'000;

}  // namespace

Intake::Intake(const RecorderOptions& options, RecordedTopics& topics, Batches& batches, Scheduler& scheduler,
               std::function<void()> on_news)
    : options_(options), topics_(topics), batches_(batches), scheduler_(scheduler), causes_(options.causes) {
  constexpr Topic<Clock> kClock{"/clock", {}};
  if (options.simulated_clock)
    clock_ = std::make_unique<Subscriber<Clock>>(kClock, SubscriberOptions{.domain = options.domain});
  scout_ = std::make_unique<Scout>(options, std::move(on_news));
}

void Intake::look_at_wall_clock() {
  const std::int64_t ahead = options_.wall_clock_ahead ? options_.wall_clock_ahead() : wall_clock_ahead();
  if (!noted_ahead_) {
    time_.ahead = ahead;
    noted_ahead_ = ahead;
  }
  const std::int64_t step = ahead - *noted_ahead_;
  if (step > -kLeastStep && step < kLeastStep) return;
  noted_ahead_ = ahead;
  topics_.note(ClockStep{.log_time = time_.of(steady_now()), .by_ns = step});
}

void Intake::adopt_topics() {
  looked_ns_ = scout_->looked_ns();  // what came of that look is adopted below
  topics_.adopt(scout_->take());
}

void Intake::take_clock() {
  for (int i = 0; clock_ != nullptr && i < kMostTaken; ++i) {
    const auto time = clock_->take();
    if (!time) return;
    time_.simulated = time->clock;
  }
}

void Intake::take_all(std::int64_t now, bool paused) {
  take_clock();
  // Before the simulation has said what time it is, samples have none.
  paused = paused || (options_.simulated_clock && !time_.simulated.has_value());
  for (const auto& topic : topics_) {
    for (int i = 0; i < kMostTaken; ++i) {
      auto sample = topic->take(std::max(now, last_taken_ns_), time_, paused);
      if (!sample) break;
      last_taken_ns_ = std::max(last_taken_ns_, sample->taken_ns);
      sample->log_time = order_.in_order(sample->log_time);
      put(*topic, *std::move(sample), now);
      if (causes_.is_full()) write_causes(now, false);
    }
    topic->keep_quiet(now);
  }
  write_causes(now, false);
}

void Intake::put(TopicQueue& topic, TopicQueue::Waiting&& sample, std::int64_t now) {
  if (!topic.has_room(sample.bytes)) return topic.lose(LossCause::QueueFull, 1);
  const detail::SampleBlock& block = *detail::block_of(sample.sample);
  causes_.add(block, topic.source().name, std::clamp<std::int64_t>(block.publish_ns, 0, sample.taken_ns), now);
  if (topic.holds_samples() && block.payload_bytes >= options_.held_from) {
    topic.note_queued(1, sample.bytes);
    ++topic.held;
    scheduler_.arrived(sample.bytes, now);
    topic.waiting.push_back(std::move(sample));
    batches_.close_all(now);  // earlier samples come before it
  } else if (const std::uint64_t bytes = batches_.add(topic, sample, now); bytes != 0) {
    scheduler_.arrived(bytes, now);
  }
}

void Intake::write_causes(std::int64_t now, bool all) {
  const std::int64_t stamp = std::max(now, last_taken_ns_);
  while (const auto causes = causes_.take(stamp, all)) {
    const std::vector<std::byte> bytes = cdr_of(*causes);
    if (batches_.add_causes(bytes, order_.in_order(time_.of(stamp)), now))
      scheduler_.arrived(bytes.size(), now);
    else
      causes_.leave_out(*causes);
  }
}

void Intake::stop(std::int64_t now, bool paused) {
  stopped_ns_ = now;
  take_all(now, paused);  // a queue that was full may have room since
  write_causes(now, true);
}

void Intake::leave() {
  for (const auto& topic : topics_) topic->lose_what_is_left(stopped_ns_, time_);
  last_problems_ = scout_->problems();
  scout_.reset();
}

std::map<std::string, Scout::Problem> Intake::problems() const {
  return scout_ != nullptr ? scout_->problems() : last_problems_;
}

}  // namespace cardan::record
