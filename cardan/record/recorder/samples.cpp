// SPDX-License-Identifier: Apache-2.0
// From the topics into queues and chunks.
#include <algorithm>
#include <utility>

#include "cardan/record/recorder/implementation.hpp"

namespace cardan::record {
namespace {

/// Bytes around a sample in its chunk: a message's head, and its entry in the index.
constexpr std::uint64_t kRecordBytes = mcap::kPrefixBytes + mcap::kMessageHeaderBytes + 16;

}  // namespace

void Recorder::Implementation::adopt_topics() {
  looked_before_ = scout_->looked_ns();  // what came of that look is adopted below
  for (auto& topic : scout_->take()) {
    topic->number = topics_.size();
    topics_.push_back(std::move(topic));
  }
}

void Recorder::Implementation::take_all() {
  constexpr int kMostAtOnce = 1024;  // a publisher that is faster than we are must not keep us here
  for (int i = 0; clock_ != nullptr && i < kMostAtOnce; ++i) {
    const auto time = clock_->take();
    if (!time) break;
    time_.simulated = time->clock;
  }
  // Before the simulation has said what time it is, samples have none.
  const bool paused =
      paused_.load(std::memory_order_relaxed) || (options_.simulated_clock && !time_.simulated.has_value());
  for (const auto& topic : topics_) {
    for (int i = 0; i < kMostAtOnce; ++i) {
      auto sample = topic->take(std::max(now_, last_taken_ns_), time_, paused);
      if (!sample) break;
      last_taken_ns_ = std::max(last_taken_ns_, sample->taken_ns);
      sample->log_time = in_order(sample->log_time);
      if (!topic->has_room(sample->bytes)) {
        topic->lose(LossCause::QueueFull, 1);
      } else if (topic->holds_samples() && detail::block_of(sample->sample)->payload_bytes >= options_.held_from) {
        topic->note_queued(1, sample->bytes);
        ++topic->held;
        scheduler_.arrived(sample->bytes, now_);
        topic->waiting.push_back(std::move(*sample));
        close_old_batches(true);  // what came before it stands before it
      } else {
        add_to_batch(*topic, *sample);
      }
    }
  }
}

// Clocks that are compared again differ a little. (One that is set back is another matter.)
std::uint64_t Recorder::Implementation::in_order(std::uint64_t log_time) noexcept {
  constexpr std::uint64_t kALittle = 10'000'000;
  if (log_time < last_log_time_ && last_log_time_ - log_time <= kALittle) return last_log_time_;
  return last_log_time_ = log_time;
}

std::unique_ptr<Batch> Recorder::Implementation::take_batch() {
  if (free_batches_.empty()) {
    ++batches_made_;
    return std::make_unique<Batch>();
  }
  std::unique_ptr<Batch> batch = std::move(free_batches_.back());
  free_batches_.pop_back();
  return batch;
}

/// A sample that has been framed. Its bytes in the chunk.
std::uint64_t Recorder::Implementation::add_to(Batch& batch, TopicQueue& topic, const TopicQueue::Waiting& sample) {
  const detail::SampleBlock& block = *detail::block_of(sample.sample);
  const Framing& framing = topic.framing();
  batch.add({.channel = static_cast<std::uint16_t>(topic.number + 1),
             .sequence = static_cast<std::uint32_t>(block.sequence),
             .log_time = sample.log_time,
             .publish_time = sample.publish_time,
             .source_time = block.source_ns},
            framing.prefix(), framing.payload(), framing.suffix());
  copied_bytes_ += framing.bytes();
  const std::uint64_t bytes = framing.bytes() + kRecordBytes;
  topic.note_queued(1, bytes);
  return bytes;
}

void Recorder::Implementation::add_to_batch(TopicQueue& topic, const TopicQueue::Waiting& sample) {
  if (!topic.framing().frame(*detail::block_of(sample.sample))) return topic.lose(LossCause::Malformed, 1);
  const auto compression = static_cast<std::size_t>(topic.compression().value_or(options_.compression));
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr) open.batch = take_batch();
  const std::uint64_t bytes = add_to(*open.batch, topic, sample);
  scheduler_.arrived(bytes, now_);
  open.note(topic.number, bytes, sample.publish_ns, now_);
  if (open.batch->bytes() >= options_.chunk_bytes) close_batch(compression);
}

void Recorder::Implementation::close_batch(std::size_t compression) {
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr || open.batch->empty()) return;
  std::unique_ptr<Batch> batch = std::move(open.batch);
  ready_.push_back({.shares = open.shares,
                    .oldest_publish_ns = open.oldest_publish_ns,
                    .opened_ns = open.opened_ns,
                    .closed_ns = now_,
                    .first_log_time = batch->first_time(),
                    .number = ++batches_closed_});
  open.reset();
  if (compression == static_cast<std::size_t>(mcap::Compression::None)) {
    batch->close(compressors_[compression], options_.checksums);
    ready_.back().batch = std::move(batch);
    return;
  }
  ++packing_;
  // Functions that are posted can be copied, so what they own is shared.
  const auto shared = std::make_shared<std::unique_ptr<Batch>>(std::move(batch));
  packer_->post([this, shared, compression, number = batches_closed_] {
    (*shared)->close(compressors_[compression], options_.checksums);
    {
      const std::lock_guard lock(packed_mutex_);
      packed_.emplace_back(number, std::move(*shared));
    }
    poke();
  });
}

void Recorder::Implementation::close_old_batches(bool all) {
  for (std::size_t i = 0; i < kCompressions; ++i)
    if (open_[i].batch != nullptr && (all || now_ - open_[i].opened_ns >= options_.chunk_time.count())) close_batch(i);
}

void Recorder::Implementation::collect_packed() {
  const std::lock_guard lock(packed_mutex_);
  for (auto& [number, batch] : packed_)
    for (ReadyBatch& ready : ready_)
      if (ready.number == number) ready.batch = std::move(batch);
  packing_ -= packed_.size();
  packed_.clear();
}

}  // namespace cardan::record
