// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/recorder_loop.hpp"

#include <algorithm>

#include "cardan/clock.hpp"
#include "cardan/stop.hpp"
#include "src/base/futex.hpp"
#include "src/transport/endpoint/waiting.hpp"

namespace cardan::record {
namespace {

constexpr std::size_t kQueueEntries = 256;
/// How long what has been taken may still go to the disk when the recording ends.
constexpr std::int64_t kLastWrites = 30'000'000'000;

}  // namespace

RecorderLoop::RecorderLoop(const RecorderOptions& options, const DiskProbe& probe, Requests& requests,
                           LatestReport& latest)
    : requests_(requests),
      scheduler_(options.schedule),
      queue_(make_io_queue(probe, kQueueEntries)),
      rotation_(options, probe, *queue_, topics_),
      batches_(options, [&requests] { requests.poke(); }),
      issuer_(options, *queue_, scheduler_, topics_, batches_, rotation_),
      statistics_(options),
      intake_(options, topics_, batches_, scheduler_, [&requests] { requests.poke(); }),
      reporter_({.options = options,
                 .probe = probe,
                 .requests = requests,
                 .queue = *queue_,
                 .scheduler = scheduler_,
                 .topics = topics_,
                 .rotation = rotation_,
                 .batches = batches_,
                 .issuer = issuer_,
                 .intake = intake_},
                statistics_, latest) {
  rotation_.begin();
  now_ = steady_now();
  rotation_.start(now_);
  reporter_.start(now_);
  intake_.look_at_wall_clock();
  reporter_.publish(now_);
}

void RecorderLoop::run(const std::function<void()>& ready) {
  bool told = false;
  while (goes_on()) {
    turn(false);
    if (!told && intake_.looked_ns() != 0) {
      told = true;
      reporter_.publish(now_);
      ready();
    }
    sleep();
  }
  if (!told) ready();
  end();
}

void RecorderLoop::turn(bool at_the_end) {
  now_ = steady_now();
  intake_.adopt_topics();
  intake_.take_all(now_, requests_.paused());
  batches_.close_old(now_);
  batches_.collect_packed();
  issuer_.issue(now_, at_the_end);
  issuer_.collect(now_);
  note_requests();
  rotation_.look_after(now_);
  topics_.take_back(rotation_.take_lost());
  if (!reporter_.due(now_)) return;
  intake_.look_at_wall_clock();
  reporter_.publish(now_);
}

void RecorderLoop::note_requests() {
  if (requests_.take_split()) rotation_.split();
  if (requests_.triggered()) rotation_.keep_everything();
}

void RecorderLoop::sleep() {
  // Nothing tells when writes are done. While all that waits is under way, only slots and heads wait for that: each
  // look costs the applications a piece of a CPU, so there are few. When more waits than may be under way, the disk
  // does.
  constexpr std::int64_t kWriting = 4'000'000;
  constexpr std::int64_t kPressed = 1'000'000;
  constexpr std::int64_t kIdle = 20'000'000;  // new topics, files, the clock
  std::int64_t until = now_ + kIdle;
  const auto no_later_than = [&until](std::int64_t at) { until = std::min(until, at); };
  if (queue_->under_way() != 0 || !batches_.ready().empty())
    no_later_than(now_ + (issuer_.pressed() ? kPressed : kWriting));
  if (issuer_.look_again_ns() != 0) no_later_than(issuer_.look_again_ns());
  no_later_than(batches_.next_close_ns());
  const futex::Watch own = requests_.watch();
  if (!goes_on()) return;
  if (stopping()) {
    // The process must stop, and nothing sleeps on bells any more; our owner will stop us too.
    futex::wait(*own.word, own.expected, now_ + kPressed);
  } else {
    // A topic that has samples which it cannot take would end each sleep at once.
    awake_for_.clear();
    for (const auto& topic : topics_)
      if (!topic->is_full()) awake_for_.push_back(&topic->subscriber());
    if (awake_for_.size() != topics_.size()) no_later_than(now_ + kPressed);
    detail::sleep_on(awake_for_, {}, until, false, own);
  }
}

void RecorderLoop::end() {
  turn(true);  // what has come until now
  intake_.stop(now_, requests_.paused());
  write_what_is_left();
  batches_.finish_packing();
  const bool failed = rotation_.current().error() != 0 || !rotation_.failure().empty();  // also: the disk is full
  drop_everything(failed ? LossCause::DiskFailed : LossCause::DiskSlow);
  while (queue_->under_way() != 0) {  // their bytes are ours until they have completed
    queue_->wait(0);
    issuer_.collect(now_);
  }
  intake_.leave();
  rotation_.finish_all();
  topics_.take_back(rotation_.take_lost());
  note_requests();  // a trigger may come while files end
  rotation_.forget_all();
  reporter_.publish(now_);
}

void RecorderLoop::write_what_is_left() {
  batches_.close_all(now_);
  const std::int64_t until = steady_now() + kLastWrites;
  while (!nothing_left() && rotation_.current().error() == 0 && !rotation_.out_of_room() && steady_now() < until) {
    now_ = steady_now();
    batches_.collect_packed();
    issuer_.issue(now_, true);
    batches_.close_all(now_);
    queue_->wait(steady_now() + 10'000'000);
    issuer_.collect(now_);
    if (reporter_.due(now_)) reporter_.publish(now_);  // it may take long: compression, a slow disk
  }
}

/// Samples that have been taken and cannot be written any more.
void RecorderLoop::drop_everything(LossCause cause) {
  topics_.lose_frames(cause);
  for (const Batches::Ready& ready : batches_.ready()) topics_.lose(ready.shares, cause);
  batches_.drop_ready();
}

bool RecorderLoop::nothing_left() const noexcept {
  return batches_.nothing_left() && queue_->under_way() == 0 && !topics_.frames_wait();
}

}  // namespace cardan::record
