// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/issuer.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/mcap/before_start.hpp"
#include "src/transport/endpoint/stream.hpp"

namespace cardan::record {
namespace {

/// A sample's parts besides its payload go through the seams; a sample with more of them is copied instead.
constexpr std::size_t kMostInSeam = 64 << 10;
/// A chunk's head is one block, with the part of the sample before its payload: it is whole or not there, also where
/// the kernel ends a write between two pages.
constexpr std::size_t kMostInHead = kBlock - 128;

}  // namespace

Issuer::Issuer(const RecorderOptions& options, IoQueue& queue, Scheduler& scheduler, RecordedTopics& topics,
               Batches& batches, Rotation& rotation)
    : options_(options),
      queue_(queue),
      scheduler_(scheduler),
      topics_(topics),
      batches_(batches),
      rotation_(rotation),
      hints_(std::make_unique<Subscriber<CycleHint>>(kCycles, SubscriberOptions{.domain = options.domain})) {}

Decision Issuer::decide(std::int64_t now) {
  constexpr int kMostHints = 1024;  // per turn: a process that floods the topic must not keep us here
  for (int i = 0; i < kMostHints; ++i) {
    const auto hint = hints_->take();
    if (!hint) break;
    scheduler_.hint(*hint, now, hint.publish_time());
  }
  Backlog backlog{.in_flight_bytes = bytes_under_way_};
  const auto waits_since = [&backlog](std::int64_t ns) {
    backlog.oldest_ns = backlog.oldest_ns == 0 ? ns : std::min(backlog.oldest_ns, ns);
  };
  for (const Batches::Ready& ready : batches_.ready()) {
    if (ready.batch == nullptr) continue;
    backlog.bytes += ready.batch->bytes();
    waits_since(ready.opened_ns);
  }
  for (const auto& topic : topics_) {
    for (const TopicQueue::Waiting& sample : topic->waiting) backlog.bytes += sample.bytes;
    if (!topic->waiting.empty()) waits_since(topic->waiting.front().taken_ns);
    backlog.fullest_share = std::max(backlog.fullest_share, topic->fullness());
  }
  return scheduler_.decide(backlog, now);
}

void Issuer::issue(std::int64_t now, bool all) {
  if (rotation_.current().error() != 0) return;
  pressed_ = false;
  if (options_.queue_time.count() != 0) topics_.lose_frames_before(now - options_.queue_time.count());
  Decision decision{.bytes = Decision::kAll};
  if (!all) decision = decide(now);
  look_again_ns_ = decision.look_again_ns;
  std::uint64_t issued = 0;
  while (issued < decision.bytes) {
    const std::uint64_t bytes = issue_next(decision.why == WriteReason::ForcedBySize, now);
    if (bytes == 0) break;
    issued += bytes;
  }
  if (issued == 0) return;
  scheduler_.issued(issued, now);
  const std::int64_t before = steady_now();
  queue_.submit();
  submits_.add(steady_now() - before);
}

// By log time, so that sequential readers of a file get its messages in order.
std::uint64_t Issuer::issue_next(bool fullest_first, std::int64_t now) {
  TopicQueue* const frame = topics_.next_frame(fullest_first);
  Batches::Ready* const batch = batches_.oldest(now);
  // Of equal times the frame: a batch that was opened after it continues with later ones.
  if (batch != nullptr && (frame == nullptr || batch->first_log_time < frame->waiting.front().log_time))
    return batch->batch == nullptr ? 0 : issue_batch(*batch, now);
  if (frame == nullptr) return 0;
  if (room_for(frame->waiting.front().bytes)) return issue_frame(*frame, now);
  pressed_ = true;
  // A camera must never cost an IMU sample.
  const bool waited = batch != nullptr && batch->batch != nullptr && now - batch->closed_ns > Batches::kPatience;
  return waited ? issue_batch(*batch, now) : 0;
}

bool Issuer::room_for(std::uint64_t bytes) const noexcept {
  return queue_.room() >= Segment::kEntries &&
         (bytes_under_way_ == 0 || bytes_under_way_ + bytes <= options_.in_flight_bytes);
}

bool Issuer::file_has_room(std::uint64_t bytes) {
  if (rotation_.has_room(bytes)) return true;
  pressed_ = true;  // it is on its way, or never will be there
  return false;
}

/// The topics' last samples before the file: late readers of a topic would have been given it, and so are readers of
/// this file.
void Issuer::carry_over() {
  Segment& segment = rotation_.current();
  carried_into_ = segment.number();
  carried_.clear();
  std::vector<const KeptMessage*> messages;
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t start = batches_.first_log_time();
  for (const auto& topic : topics_) {
    if (!topic->waiting.empty()) start = std::min(start, topic->waiting.front().log_time);
    const std::size_t before = messages.size();
    topic->kept.list(messages);
    if (messages.size() == before) continue;
    channels_.ensure(segment, *topic);
    counts[topic->source().name] += messages.size() - before;
  }
  if (messages.empty()) return;
  std::sort(messages.begin(), messages.end(), [](const KeptMessage* a, const KeptMessage* b) {
    return std::tie(a->head.log_time, a->head.channel, a->stream, a->head.sequence) <
           std::tie(b->head.log_time, b->head.channel, b->stream, b->head.sequence);
  });
  for (auto& batch : batches_.of(messages)) carried_.push_back(std::move(batch));
  segment.add(mcap::before_start_record({.start = start,
                                         .last = messages.back()->head.log_time,
                                         .chunks = carried_.size(),
                                         .messages = std::move(counts)}));
}

bool Issuer::begin_file(std::int64_t now) {
  rotation_.switch_if_due(now);
  if (rotation_.current().number() != carried_into_) carry_over();
  while (!carried_.empty()) {
    const std::uint64_t bytes = carried_.front()->bytes();
    if (!room_for(bytes)) pressed_ = true;
    if (!room_for(bytes) || !file_has_room(bytes)) return false;
    bytes_under_way_ += bytes;
    scheduler_.issued(bytes, now);
    rotation_.write_carried(std::move(carried_.front()), now);
    carried_.pop_front();
  }
  return true;
}

std::uint64_t Issuer::issue_batch(Batches::Ready& one, std::int64_t now) {
  if (queue_.room() < Segment::kEntries || !begin_file(now)) return 0;
  if (!file_has_room(one.batch->bytes())) return 0;
  Batches::Ready ready = batches_.take(one);
  for (KeptMessage& kept : ready.batch->take_kept())
    topics_[kept.head.channel - std::size_t{1}].kept.add(std::move(kept));
  Segment& segment = rotation_.current();
  for (const Share& share : ready.shares) channels_.ensure(segment, topics_[share.topic]);
  if (ready.causes_bytes != 0) channels_.ensure_causes(segment);
  const std::uint64_t bytes = ready.batch->bytes();
  bytes_under_way_ += bytes;
  segment.write(std::move(ready.batch), std::move(ready.shares), ready.oldest_publish_ns);
  return bytes;
}

// A sample that cannot be written from where it is: a separate chunk in its place.
void Issuer::issue_copied(TopicQueue& topic, const TopicQueue::Waiting& sample) {
  Batches::Single single = batches_.alone(topic, sample);
  for (KeptMessage& kept : single.batch->take_kept()) topic.kept.add(std::move(kept));
  Segment& segment = rotation_.current();
  channels_.ensure(segment, topic);
  bytes_under_way_ += single.batch->bytes();
  segment.write(std::move(single.batch), {{.topic = topic.number, .messages = 1, .bytes = single.bytes}},
                sample.publish_ns);
}

/// A sample that has been framed.
void Issuer::keep(TopicQueue& topic, const TopicQueue::Waiting& sample) {
  const detail::SampleBlock& block = *detail::block_of(sample.sample);
  const Framing& framing = topic.framing();
  const Keep keep = topic.kept.keep(block.stream->id, framing.bytes(), sample.publish_ns);
  KeptMessage kept{.head = {.channel = static_cast<std::uint16_t>(topic.number + 1),
                            .sequence = static_cast<std::uint32_t>(block.sequence),
                            .log_time = sample.log_time,
                            .publish_time = sample.publish_time,
                            .source_time = block.source_ns},
                   .stream = keep.stream,
                   .whole = keep.whole};
  if (keep.whole)
    for (const mcap::View part : {framing.prefix(), framing.payload(), framing.suffix()})
      kept.data.insert(kept.data.end(), part.begin(), part.end());
  topic.kept.add(std::move(kept));
}

std::uint64_t Issuer::issue_frame(TopicQueue& topic, std::int64_t now) {
  if (!begin_file(now)) return 0;
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
  keep(topic, next);
  Segment& segment = rotation_.current();
  channels_.ensure(segment, topic);
  bytes_under_way_ += next.bytes;
  copied_bytes_ += framing.prefix().size() + framing.suffix().size() + framing.payload().size() % kBlock;
  segment.write({.head = {.channel = static_cast<std::uint16_t>(topic.number + 1),
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

void Issuer::collect(std::int64_t now) {
  done_.clear();
  queue_.reap(done_);
  const Segment::Listener told = listener(now);
  for (const DiskDone& done : done_) rotation_.completed(done, told);
  rotation_.go_on(told);
  queue_.submit();  // heads
}

Segment::Listener Issuer::listener(std::int64_t now) {
  return {.body_written = [this, now](Extent& extent, const DiskDone& done) { note_written(extent, done, now); },
          .committed = [this](Extent& extent) { note_committed(extent); },
          .lost = [this](Extent& extent, int) { topics_.lose(extent.shares, LossCause::DiskFailed); },
          .taken_back = [this](const Share& share) { topics_[share.topic].take_back(share.messages, share.bytes); }};
}

void Issuer::note_written(const Extent& extent, const DiskDone& done, std::int64_t now) {
  const std::uint64_t bytes = extent.sample ? extent.shares[0].bytes : extent.batch->bytes();
  scheduler_.completed(bytes, now);
  writes_.add(done.completed_ns - done.submitted_ns);
  if (extent.sample) --topics_[extent.shares[0].topic].held;
  bytes_under_way_ -= bytes;
}

void Issuer::note_committed(Extent& extent) {
  paths_.add(steady_now() - extent.oldest_publish_ns);
  rotation_.note_committed();
  for (const Share& share : extent.shares) {
    topics_[share.topic].note_recorded(share.messages, share.bytes);
    topics_[share.topic].note_written(share.messages, share.bytes);
  }
  if (extent.batch != nullptr) batches_.give_back(std::move(extent.batch));
}

}  // namespace cardan::record
