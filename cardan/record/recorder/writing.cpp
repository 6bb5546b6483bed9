// SPDX-License-Identifier: Apache-2.0
// From the queues into files.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/record/channel_form.hpp"
#include "cardan/record/recorder/implementation.hpp"

namespace cardan::record {
namespace {

/// A sample's parts beside its payload go through the seams; what has more of them is copied instead.
constexpr std::size_t kMostInSeam = 64 << 10;
/// A chunk's head is one block, with what stands in the sample before its payload: it is whole or not there, also where
/// the kernel ends a write between two pages.
constexpr std::size_t kMostInHead = kBlock - 128;
/// Compression holds up later samples for this time, and waiting writes hold up small ones: log
/// times within a file are in order, but nothing is lost for that.
constexpr std::int64_t kPatience = 400'000'000;
/// A queue that is this full is served before the others.
constexpr double kNearlyFull = 0.9;
/// Files in a row that failed before anything was written to them.
constexpr int kMostFailures = 3;

}  // namespace

bool Recorder::Implementation::room_for(std::uint64_t bytes) const noexcept {
  return queue_->room() >= Segment::kEntries &&
         (bytes_under_way_ == 0 || bytes_under_way_ + bytes <= options_.in_flight_bytes);
}

void Recorder::Implementation::ensure_channel(Segment& segment, TopicQueue& topic) {
  if (topic.known_in_segment == segment.number()) return;
  topic.known_in_segment = segment.number();
  const TopicSource& source = topic.source();
  const auto [schema, is_new] =
      schemas_.try_emplace(source.type + '\n' + topic.framing().schema_encoding() + '\n' + source.schema,
                           static_cast<std::uint16_t>(schemas_.size() + 1));
  if (is_new) schema_in_segment_.push_back(~std::uint64_t{0});
  std::uint64_t& last = schema_in_segment_[schema->second - std::size_t{1}];
  if (last != segment.number()) {
    last = segment.number();
    const auto text = std::as_bytes(std::span(source.schema));
    segment.add(mcap::Schema{.id = schema->second,
                             .name = source.type,
                             .encoding = topic.framing().schema_encoding(),
                             .data = mcap::Bytes(text.begin(), text.end())});
  }
  segment.add(mcap::Channel{.id = static_cast<std::uint16_t>(topic.number + 1),
                            .schema_id = schema->second,
                            .topic = source.name,
                            .message_encoding = topic.framing().message_encoding(),
                            .metadata = topic.channel_metadata()});
}

Decision Recorder::Implementation::decide() {
  constexpr int kMostHints = 1024;  // per turn: a process that floods the topic must not keep us here
  for (int i = 0; i < kMostHints; ++i) {
    const auto hint = hints_->take();
    if (!hint) break;
    scheduler_.hint(*hint, now_, hint.publish_time());
  }
  Backlog backlog{.in_flight_bytes = bytes_under_way_};
  const auto waits_since = [&backlog](std::int64_t ns) {
    backlog.oldest_ns = backlog.oldest_ns == 0 ? ns : std::min(backlog.oldest_ns, ns);
  };
  for (const ReadyBatch& ready : ready_) {
    if (ready.batch == nullptr) continue;
    backlog.bytes += ready.batch->bytes();
    waits_since(ready.opened_ns);
  }
  for (const auto& topic : topics_) {
    for (const TopicQueue::Waiting& sample : topic->waiting) backlog.bytes += sample.bytes;
    if (!topic->waiting.empty()) waits_since(topic->waiting.front().taken_ns);
    backlog.fullest_share = std::max(backlog.fullest_share, topic->fullness());
  }
  return scheduler_.decide(backlog, now_);
}

void Recorder::Implementation::issue() {
  if (segment_ == nullptr || segment_->error() != 0) return;
  pressed_ = false;
  drop_late_frames();
  Decision decision{.bytes = Decision::kAll};
  if (!ending_) decision = decide();
  look_again_ns_ = decision.look_again_ns;
  std::uint64_t issued = 0;
  while (issued < decision.bytes) {
    const std::uint64_t bytes = issue_next(decision.why == WriteReason::ForcedBySize);
    if (bytes == 0) break;
    issued += bytes;
  }
  if (issued == 0) return;
  scheduler_.issued(issued, now_);
  const std::int64_t before = steady_now();
  queue_->submit();
  const std::int64_t took = steady_now() - before;
  submit_times_.add(took);
  submit_sum_ += took;
  ++submits_;
}

Recorder::Implementation::ReadyBatch* Recorder::Implementation::oldest_batch() {
  for (ReadyBatch& ready : ready_)
    if (ready.batch != nullptr || now_ - ready.closed_ns < kPatience) return &ready;
  return nullptr;
}

TopicQueue* Recorder::Implementation::next_frame(bool fullest_first) const {
  TopicQueue* next = nullptr;
  const auto before = [fullest_first](const TopicQueue& a, const TopicQueue& b) {
    if (fullest_first && std::max(a.fullness(), b.fullness()) > kNearlyFull) return a.fullness() > b.fullness();
    return a.waiting.front().log_time < b.waiting.front().log_time;
  };
  for (const auto& topic : topics_)
    if (!topic->waiting.empty() && (next == nullptr || before(*topic, *next))) next = topic.get();
  return next;
}

// By log time, so that sequential readers of a file get its messages in order.
std::uint64_t Recorder::Implementation::issue_next(bool fullest_first) {
  TopicQueue* const frame = next_frame(fullest_first);
  ReadyBatch* const batch = oldest_batch();
  // Of equal times the frame: a batch that was opened after it goes on with later ones.
  if (batch != nullptr && (frame == nullptr || batch->first_log_time < frame->waiting.front().log_time))
    return batch->batch == nullptr ? 0 : issue_batch(*batch);
  if (frame == nullptr) return 0;
  if (room_for(frame->waiting.front().bytes)) return issue_frame(*frame);
  pressed_ = true;
  // A camera must never cost an IMU sample.
  const bool waited = batch != nullptr && batch->batch != nullptr && now_ - batch->closed_ns > kPatience;
  return waited ? issue_batch(*batch) : 0;
}

std::uint64_t Recorder::Implementation::issue_batch(ReadyBatch& one) {
  if (queue_->room() < Segment::kEntries) return 0;
  switch_file();
  if (!file_has_room(one.batch->bytes())) return 0;
  ReadyBatch ready = std::move(one);
  std::erase_if(ready_, [&ready](const ReadyBatch& other) { return other.number == ready.number; });
  for (const Share& share : ready.shares) ensure_channel(*segment_, *topics_[share.topic]);
  const std::uint64_t bytes = ready.batch->bytes();
  bytes_under_way_ += bytes;
  segment_->write(std::move(ready.batch), std::move(ready.shares), ready.oldest_publish_ns);
  return bytes;
}

void Recorder::Implementation::drop_late_frames() {
  if (options_.queue_time.count() == 0) return;
  for (const auto& topic : topics_) {
    while (!topic->waiting.empty() && now_ - topic->waiting.front().taken_ns > options_.queue_time.count()) {
      topic->lose(LossCause::DiskSlow, 1);
      topic->note_written(1, topic->waiting.front().bytes);
      --topic->held;
      topic->waiting.pop_front();
    }
  }
}

// A sample that cannot be written from where it is: a chunk of its own in its place.
void Recorder::Implementation::issue_copied(TopicQueue& topic, const TopicQueue::Waiting& sample) {
  std::unique_ptr<Batch> batch = take_batch();
  const std::uint64_t bytes = add_to(*batch, topic, sample);
  batch->close(compressors_[static_cast<std::size_t>(mcap::Compression::None)], options_.checksums);
  ensure_channel(*segment_, topic);
  bytes_under_way_ += batch->bytes();
  segment_->write(std::move(batch), {{.topic = topic.number, .messages = 1, .bytes = bytes}}, sample.publish_ns);
}

std::uint64_t Recorder::Implementation::issue_frame(TopicQueue& topic) {
  switch_file();
  if (!file_has_room(topic.waiting.front().bytes)) return 0;
  TopicQueue::Waiting next = std::move(topic.waiting.front());
  topic.waiting.pop_front();
  const detail::SampleBlock& block = *detail::block_of(next.sample);
  Framing& framing = topic.framing();
  const bool good = framing.frame(block);
  const bool aligned = reinterpret_cast<std::uintptr_t>(framing.payload().data()) % kBlock == 0;
  if (!good || !aligned || framing.prefix().size() > kMostInHead ||
      framing.prefix().size() + framing.suffix().size() > kMostInSeam) {
    topic.note_written(1, next.bytes);
    --topic.held;
    if (good)
      issue_copied(topic, next);
    else
      topic.lose(LossCause::Malformed, 1);
    return next.bytes;
  }
  ensure_channel(*segment_, topic);
  bytes_under_way_ += next.bytes;
  copied_bytes_ += framing.prefix().size() + framing.suffix().size() + framing.payload().size() % kBlock;
  segment_->write({.head = {.channel = static_cast<std::uint16_t>(topic.number + 1),
                            .sequence = static_cast<std::uint32_t>(block.sequence),
                            .log_time = next.log_time,
                            .publish_time = next.publish_time,
                            .source_time = block.source_ns},
                   .prefix = framing.prefix(),
                   .payload = framing.payload(),
                   .suffix = framing.suffix(),
                   .checksum = options_.held_checksums},
                  std::move(next.sample), {.topic = topic.number, .messages = 1, .bytes = next.bytes}, next.publish_ns);
  return next.bytes;
}

bool Recorder::Implementation::file_has_room(std::uint64_t bytes) {
  if (files_->has_room(*segment_, bytes)) return true;
  pressed_ = true;  // it is on its way, or never will be there
  return false;
}

void Recorder::Implementation::lose(const Extent& extent, LossCause cause) {
  for (const Share& share : extent.shares) {
    topics_[share.topic]->lose(cause, share.messages);
    topics_[share.topic]->note_written(share.messages, share.bytes);
  }
}

void Recorder::Implementation::collect_completions() {
  done_.clear();
  queue_->reap(done_);
  const Segment::Listener listener{
      .body_written =
          [this](Extent& extent, const DiskDone& done) {
            const std::int64_t took = done.completed_ns - done.submitted_ns;
            scheduler_.completed(extent.sample ? extent.shares[0].bytes : extent.batch->bytes(), now_);
            write_times_.add(took);
            write_sum_ += took;
            ++writes_;
            if (extent.sample) {
              --topics_[extent.shares[0].topic]->held;
              bytes_under_way_ -= extent.shares[0].bytes;
            } else {
              bytes_under_way_ -= extent.batch->bytes();
            }
          },
      .committed =
          [this](Extent& extent) {
            const std::int64_t took = steady_now() - extent.oldest_publish_ns;
            path_times_.add(took);
            path_sum_ += took;
            ++paths_;
            failures_in_a_row_ = 0;
            for (const Share& share : extent.shares) {
              topics_[share.topic]->note_recorded(share.messages, share.bytes);
              topics_[share.topic]->note_written(share.messages, share.bytes);
            }
            if (extent.batch == nullptr) return;
            extent.batch->clear();
            free_batches_.push_back(std::move(extent.batch));
          },
      .lost = [this](Extent& extent, int) { lose(extent, LossCause::DiskFailed); },
      .taken_back = [this](const Share& share) { topics_[share.topic]->take_back(share.messages, share.bytes); }};
  for (const DiskDone& done : done_) {
    Segment* owner = segment_.get();
    for (const auto& segment : closing_)
      if (segment->number() == Segment::number_of(done)) owner = segment.get();
    owner->completed(done, listener);
  }
  for (const auto& segment : closing_) segment->go_on(listener);
  if (segment_ != nullptr) segment_->go_on(listener);
  queue_->submit();  // heads
}

// To the next file, if it is time and it is there; until it is, the one that is open takes what comes.
void Recorder::Implementation::switch_file() {
  const bool full = options_.split_bytes != 0 && segment_->bytes() >= options_.split_bytes;
  const bool old = options_.split_time.count() != 0 && now_ - segment_since_ns_ >= options_.split_time.count();
  if (!full && !old && !split_wanted_ && segment_->error() == 0) return;
  files_->prepare_next();
  auto next = files_->next();
  if (next == nullptr) return;
  split_wanted_ = false;
  segment_since_ns_ = now_;
  closing_.push_back(std::exchange(segment_, std::move(next)));
}

void Recorder::Implementation::look_after_files() {
  if (split_.exchange(false)) split_wanted_ = true;
  if (segment_ != nullptr) {
    files_->look_after(*segment_, now_);
    if (segment_->error() != 0) {
      const bool new_failure = std::exchange(failed_segment_, segment_->number()) != segment_->number();
      if (new_failure) ++failures_in_a_row_;
      if (new_failure &&
          (failures_in_a_row_ >= kMostFailures || segment_->error() == ENOSPC || segment_->error() == EFBIG)) {
        const int error = segment_->error();
        if (error != ENOSPC || !files_->can_delete() || !files_->delete_oldest())
          return end(fmt::format("cannot write {}: {}", segment_->file().active_path(),
                                 std::generic_category().message(error)));
      }
      if (failure_.empty()) switch_file();  // else the recording ends with this one
    } else if (split_wanted_) {
      switch_file();
    } else if (options_.sync_interval.count() > 0 && now_ - synced_ns_ >= options_.sync_interval.count()) {
      synced_ns_ = now_;
      segment_->sync();
      files_->drop_cache(*segment_);
    }
  }
  // A file that is full of what came before may be finished soon, and be the one to go.
  if (segment_ != nullptr && files_->out_of_room(*segment_)) {
    if (options_.on_full == OnFull::Stop || (closing_.empty() && !files_->can_delete()))
      end(files_->lack());
    else
      files_->look_again();
  }
  if (const std::string failure = files_->failure(); !failure.empty()) end(failure);
  for (auto segment = closing_.begin(); segment != closing_.end();) {
    if (!(*segment)->quiet()) {
      ++segment;
      continue;
    }
    committed_closed_ += (*segment)->committed_bytes();
    files_->finish(std::move(*segment), losses());
    segment = closing_.erase(segment);
  }
  forget_old_files(false);
}

// Of a flight recorder that was not triggered: a file is deleted when all its samples are older than the time to keep.
void Recorder::Implementation::forget_old_files(bool at_the_end) {
  if (options_.keep_last.count() == 0 || triggered_.load(std::memory_order_relaxed)) return;
  const std::int64_t oldest = at_the_end ? steady_now() : now_ - options_.keep_last.count();
  while (files_->oldest_ended_ns() < oldest && files_->delete_oldest()) {
  }
}

std::vector<mcap::Metadata> Recorder::Implementation::losses() const {
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
  return {std::move(all)};
}

/// Samples that have been taken and cannot be written any more.
void Recorder::Implementation::drop_everything(LossCause cause) {
  for (const auto& topic : topics_) {
    for (const TopicQueue::Waiting& sample : topic->waiting) {
      topic->lose(cause, 1);
      topic->note_written(1, sample.bytes);
      --topic->held;
    }
    topic->waiting.clear();
  }
  for (ReadyBatch& ready : ready_) {
    Extent extent;
    extent.shares = std::move(ready.shares);
    lose(extent, cause);
  }
  ready_.clear();
}

void Recorder::Implementation::end(const std::string& why) {
  if (failure_.empty()) failure_ = why;
  stop_.store(true, std::memory_order_relaxed);
}

bool Recorder::Implementation::nothing_left() const noexcept {
  return ready_.empty() && packing_ == 0 && queue_->under_way() == 0 &&
         std::all_of(topics_.begin(), topics_.end(), [](const auto& topic) { return topic->waiting.empty(); });
}

}  // namespace cardan::record
