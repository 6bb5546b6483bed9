// SPDX-License-Identifier: Apache-2.0
// From the topics into queues and chunks.
#include <utility>

#include "cardan/record/recorder/implementation.hpp"

namespace cardan::record {
namespace {

/// What stands around a sample in its chunk: a message's head, and its place in the index.
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
      auto sample = topic->take(now_, time_, paused);
      if (!sample) break;
      if (!topic->has_room(sample->bytes)) {
        topic->lose(LossCause::QueueFull, 1);
      } else if (topic->holds_samples() && detail::block_of(sample->sample)->payload_bytes >= options_.held_from) {
        topic->note_queued(1, sample->bytes);
        ++topic->held;
        scheduler_.arrived(sample->bytes, now_);
        topic->waiting.push_back(std::move(*sample));
      } else {
        add_to_batch(*topic, *sample);
      }
    }
  }
}

void Recorder::Implementation::add_to_batch(TopicQueue& topic, const TopicQueue::Waiting& sample) {
  const detail::SampleBlock& block = *detail::block_of(sample.sample);
  Framing& framing = topic.framing();
  if (!framing.frame(block)) return topic.lose(LossCause::Malformed, 1);
  const auto compression = static_cast<std::size_t>(topic.compression().value_or(options_.compression));
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr) {
    if (free_batches_.empty()) {
      open.batch = std::make_unique<Batch>();
      ++batches_made_;
    } else {
      open.batch = std::move(free_batches_.back());
      free_batches_.pop_back();
    }
  }
  open.batch->add({.channel = static_cast<std::uint16_t>(topic.number + 1),
                   .sequence = static_cast<std::uint32_t>(block.sequence),
                   .log_time = sample.log_time,
                   .publish_time = sample.publish_time,
                   .source_time = block.source_ns},
                  framing.prefix(), framing.payload(), framing.suffix());
  copied_bytes_ += framing.bytes();
  const std::uint64_t bytes = framing.bytes() + kRecordBytes;
  topic.note_queued(1, bytes);
  scheduler_.arrived(bytes, now_);
  open.note(topic.number, bytes, sample.publish_ns, now_);
  if (open.batch->bytes() >= options_.chunk_bytes) close_batch(compression);
}

void Recorder::Implementation::close_batch(std::size_t compression) {
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr || open.batch->empty()) return;
  ReadyBatch ready{std::move(open.batch), open.shares, open.oldest_publish_ns, open.opened_ns};
  open.reset();
  if (compression == static_cast<std::size_t>(mcap::Compression::None)) {
    ready.batch->close(compressors_[compression], options_.checksums);
    ready_.push_back(std::move(ready));
    return;
  }
  ++packing_;
  // Functions that are posted can be copied, so what they own is shared.
  const auto shared = std::make_shared<ReadyBatch>(std::move(ready));
  packer_->post([this, shared, compression] {
    shared->batch->close(compressors_[compression], options_.checksums);
    {
      const std::lock_guard lock(packed_mutex_);
      packed_.push_back(std::move(*shared));
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
  for (ReadyBatch& ready : packed_) ready_.push_back(std::move(ready));
  packing_ -= packed_.size();
  packed_.clear();
}

}  // namespace cardan::record
