// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/rotation.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "cardan/clock.hpp"

namespace cardan::record {
namespace {

/// Files in a row that failed before anything was written to them.
constexpr int kMostFailures = 3;

}  // namespace

Rotation::Rotation(const RecorderOptions& options, const DiskProbe& probe, IoQueue& queue, const RecordedTopics& topics)
    : options_(options),
      topics_(topics),
      rule_(options.split_bytes, options.split_time),
      files_(options, probe, queue) {}

void Rotation::begin() { current_ = files_.first(); }

void Rotation::start(std::int64_t now) noexcept {
  rule_.begin_file(now);
  synced_ns_ = now;
}

void Rotation::switch_if_due(std::int64_t now) {
  if (!rule_.should_split(current_->bytes() - carried_bytes_, now) && current_->error() == 0) return;
  files_.prepare_next();
  auto next = files_.next();
  if (next == nullptr) return;
  rule_.begin_file(now);
  carried_bytes_ = 0;
  files_.note_carried(0);
  closing_.push_back(std::exchange(current_, std::move(next)));
}

void Rotation::write_carried(std::unique_ptr<Batch> batch, std::int64_t now) {
  const std::uint64_t before = current_->bytes();
  current_->write(std::move(batch), {}, now);
  carried_bytes_ += current_->bytes() - before;
  files_.note_carried(carried_bytes_);
}

void Rotation::completed(const DiskDone& done, const Segment::Listener& listener) {
  Segment* owner = current_.get();
  for (const auto& segment : closing_)
    if (segment->number() == Segment::number_of(done)) owner = segment.get();
  owner->completed(done, listener);
}

void Rotation::go_on(const Segment::Listener& listener) {
  for (const auto& segment : closing_) segment->go_on(listener);
  current_->go_on(listener);
}

void Rotation::look_after(std::int64_t now) {
  files_.look_after(*current_, now);
  if (current_->error() != 0) {
    if (!goes_on_after_failure()) return;
    if (failure_.empty()) switch_if_due(now);  // else the recording ends with this one
  } else if (rule_.requested()) {
    switch_if_due(now);
  } else if (options_.sync_interval.count() > 0 && now - synced_ns_ >= options_.sync_interval.count()) {
    synced_ns_ = now;
    current_->sync();
    files_.drop_cache(*current_);
  }
  look_after_room();
  if (const std::string failure = files_.failure(); !failure.empty()) fail(failure);
  for (auto segment = closing_.begin(); segment != closing_.end();) {
    if (!(*segment)->quiet()) {
      ++segment;
      continue;
    }
    finish(std::move(*segment));
    segment = closing_.erase(segment);
  }
  forget_before(now - options_.keep_last.count());
}

/// False: the current file's failure has just ended the recording.
bool Rotation::goes_on_after_failure() {
  if (std::exchange(failed_segment_, current_->number()) == current_->number()) return true;
  ++failures_in_a_row_;
  const int error = current_->error();
  if (failures_in_a_row_ < kMostFailures && error != ENOSPC && error != EFBIG) return true;
  if (error == ENOSPC && files_.can_delete() && files_.delete_oldest()) return true;
  fail(fmt::format("cannot write {}: {}", current_->file().active_path(), std::generic_category().message(error)));
  return false;
}

void Rotation::look_after_room() {
  if (!out_of_room()) return;
  // A file that is full of what came before may be finished soon, and be the one to go.
  if (options_.on_full == OnFull::Stop || (closing_.empty() && !files_.can_delete()))
    fail(files_.lack() + " — make room, or record to another disk");
  else
    files_.look_again();
}

void Rotation::finish(std::unique_ptr<Segment> segment) {
  committed_in_finished_ += segment->committed_bytes();
  files_.finish(std::move(segment), topics_.losses());
}

void Rotation::finish_all() {
  closing_.push_back(std::move(current_));
  for (auto& segment : closing_) finish(std::move(segment));
  closing_.clear();
  files_.finish_all();
  if (failure_.empty()) failure_ = files_.failure();
}

// Of a flight recorder that was not triggered: a file is deleted when all its samples are older than the time to keep.
void Rotation::forget_before(std::int64_t oldest_ns) {
  if (options_.keep_last.count() == 0 || keeps_everything_) return;
  while (files_.oldest_ended_ns() < oldest_ns && files_.delete_oldest()) {
  }
}

void Rotation::forget_all() { forget_before(steady_now()); }

void Rotation::fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

std::string Rotation::active_path() const {
  return current_ != nullptr ? current_->file().active_path() : std::string();
}

std::uint64_t Rotation::committed_bytes() const noexcept {
  std::uint64_t bytes = committed_in_finished_ + (current_ != nullptr ? current_->committed_bytes() : 0);
  for (const auto& segment : closing_) bytes += segment->committed_bytes();
  return bytes;
}

}  // namespace cardan::record
