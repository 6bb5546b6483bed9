// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/batches.hpp"

#include <algorithm>
#include <limits>

#include "src/record/recorder/channels.hpp"
#include "src/transport/endpoint/stream.hpp"

namespace cardan::record {
namespace {

/// Of messages with causes: as much as some minutes of many topics have. The samples beyond have no causes in the file.
constexpr std::uint64_t kMostCauses = std::uint64_t{4} << 20;
/// Bytes around a sample in its chunk: a message's head, and its entry in the index.
constexpr std::uint64_t kRecordBytes = mcap::kPrefixBytes + mcap::kMessageHeaderBytes + 16;
constexpr auto kUncompressed = static_cast<std::size_t>(mcap::Compression::None);

}  // namespace

Batches::Batches(const RecorderOptions& options, std::function<void()> on_packed)
    : options_(options),
      on_packed_(std::move(on_packed)),
      compressors_{mcap::Compressor(mcap::Compression::None), mcap::Compressor(mcap::Compression::Lz4, options.level),
                   mcap::Compressor(mcap::Compression::Zstd, options.level)} {}

std::unique_ptr<Batch> Batches::take_free() {
  if (free_.empty()) {
    ++made_;
    return std::make_unique<Batch>();
  }
  std::unique_ptr<Batch> batch = std::move(free_.back());
  free_.pop_back();
  return batch;
}

/// A sample that has been framed. Its bytes in the chunk.
std::uint64_t Batches::copy_into(Batch& batch, TopicQueue& topic, const TopicQueue::Waiting& sample) {
  const detail::SampleBlock& block = *detail::block_of(sample.sample);
  const Framing& framing = topic.framing();
  batch.add({.channel = static_cast<std::uint16_t>(topic.number + 1),
             .sequence = static_cast<std::uint32_t>(block.sequence),
             .log_time = sample.log_time,
             .publish_time = sample.publish_time,
             .source_time = block.source_ns},
            framing.prefix(), framing.payload(), framing.suffix(),
            topic.kept.keep(block.stream->id, framing.bytes(), sample.publish_ns));
  copied_bytes_ += framing.bytes();
  const std::uint64_t bytes = framing.bytes() + kRecordBytes;
  topic.note_queued(1, bytes);
  return bytes;
}

std::uint64_t Batches::add(TopicQueue& topic, const TopicQueue::Waiting& sample, std::int64_t now) {
  if (!topic.framing().frame(*detail::block_of(sample.sample))) {
    topic.lose(LossCause::Malformed, 1);
    return 0;
  }
  const auto compression = static_cast<std::size_t>(topic.compression().value_or(options_.compression));
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr) open.batch = take_free();
  const std::uint64_t bytes = copy_into(*open.batch, topic, sample);
  open.note(topic.number, bytes, sample.publish_ns, now);
  if (open.batch->bytes() >= options_.chunk_bytes) close(compression, now);
  return bytes;
}

bool Batches::add_causes(mcap::View message, std::uint64_t log_time, std::int64_t now) {
  if (causes_bytes_ + message.size() > kMostCauses) return false;
  const auto compression = static_cast<std::size_t>(options_.compression);
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr) open.batch = take_free();
  if (open.batch->empty()) open.oldest_publish_ns = open.opened_ns = now;
  open.batch->add(
      {.channel = kCausesChannel, .sequence = ++causes_messages_, .log_time = log_time, .publish_time = log_time},
      message, {}, {});
  open.causes_bytes += message.size();
  causes_bytes_ += message.size();
  copied_bytes_ += message.size();
  if (open.batch->bytes() >= options_.chunk_bytes) close(compression, now);
  return true;
}

Batches::Single Batches::alone(TopicQueue& topic, const TopicQueue::Waiting& sample) {
  Single single{.batch = take_free()};
  single.bytes = copy_into(*single.batch, topic, sample);
  single.batch->close(compressors_[kUncompressed], options_.checksums);
  return single;
}

std::vector<std::unique_ptr<Batch>> Batches::of(const std::vector<const KeptMessage*>& messages) {
  std::vector<std::unique_ptr<Batch>> all;
  std::unique_ptr<Batch> open;
  const auto close = [&] {
    open->close(compressors_[kUncompressed], options_.checksums);
    all.push_back(std::move(open));
  };
  for (const KeptMessage* const message : messages) {
    if (open == nullptr) open = take_free();
    open->add(message->head, message->data, {}, {});
    if (open->bytes() >= options_.chunk_bytes) close();
  }
  if (open != nullptr) close();
  return all;
}

std::uint64_t Batches::first_log_time() const noexcept {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const Ready& ready : ready_) first = std::min(first, ready.first_log_time);
  for (const OpenBatch& open : open_)
    if (open.batch != nullptr && !open.batch->empty()) first = std::min(first, open.batch->first_time());
  return first;
}

void Batches::close(std::size_t compression, std::int64_t now) {
  OpenBatch& open = open_[compression];
  if (open.batch == nullptr || open.batch->empty()) return;
  std::unique_ptr<Batch> batch = std::move(open.batch);
  ready_.push_back({.shares = open.shares,
                    .oldest_publish_ns = open.oldest_publish_ns,
                    .opened_ns = open.opened_ns,
                    .closed_ns = now,
                    .first_log_time = batch->first_time(),
                    .number = ++closed_,
                    .causes_bytes = open.causes_bytes});
  open.reset();
  if (compression == kUncompressed) {
    batch->close(compressors_[compression], options_.checksums);
    ready_.back().batch = std::move(batch);
    return;
  }
  ++packing_;
  // Functions that are posted can be copied, so what they own is shared.
  const auto shared = std::make_shared<std::unique_ptr<Batch>>(std::move(batch));
  packer_->post([this, shared, compression, number = closed_] {
    (*shared)->close(compressors_[compression], options_.checksums);
    {
      const std::lock_guard lock(packed_mutex_);
      packed_.emplace_back(number, std::move(*shared));
    }
    on_packed_();
  });
}

void Batches::close_old(std::int64_t now) {
  for (std::size_t i = 0; i < kCompressions; ++i)
    if (open_[i].batch != nullptr && now - open_[i].opened_ns >= options_.chunk_time.count()) close(i, now);
}

void Batches::close_all(std::int64_t now) {
  for (std::size_t i = 0; i < kCompressions; ++i) close(i, now);
}

std::int64_t Batches::next_close_ns() const noexcept {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const OpenBatch& open : open_)
    if (open.batch != nullptr) next = std::min(next, open.opened_ns + options_.chunk_time.count());
  return next;
}

void Batches::collect_packed() {
  const std::lock_guard lock(packed_mutex_);
  for (auto& [number, batch] : packed_)
    for (Ready& ready : ready_)
      if (ready.number == number) ready.batch = std::move(batch);
  packing_ -= packed_.size();
  packed_.clear();
}

void Batches::finish_packing() {
  packer_ = std::make_unique<Worker>();  // the one before does first what is left
  collect_packed();
}

Batches::Ready* Batches::oldest(std::int64_t now) noexcept {
  for (Ready& ready : ready_)
    if (ready.batch != nullptr || now - ready.closed_ns < kPatience) return &ready;
  return nullptr;
}

Batches::Ready Batches::take(Ready& one) {
  Ready taken = std::move(one);
  causes_bytes_ -= taken.causes_bytes;
  std::erase_if(ready_, [&taken](const Ready& other) { return other.number == taken.number; });
  return taken;
}

void Batches::give_back(std::unique_ptr<Batch> batch) {
  batch->clear();
  free_.push_back(std::move(batch));
}

std::uint64_t Batches::own_bytes() const noexcept {
  std::uint64_t bytes = (made_ - free_.size()) * options_.chunk_bytes;
  for (const auto& batch : free_) bytes += batch->capacity();
  return bytes;
}

}  // namespace cardan::record
