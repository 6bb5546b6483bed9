// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/topic_queue.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/before_start.hpp"
#include "cardan/observer.hpp"
#include "src/base/name_patterns.hpp"
#include "src/record/metadata.hpp"
#include "src/runtime/encoded_form.hpp"
#include "src/transport/endpoint/stream.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::record {
namespace {

/// Of a topic whose samples are copied when they are taken.
constexpr std::uint32_t kHoldsWhenCopied = 2;
/// Of one whose samples are held: fewer would lose some at each hiccup of the disk.
constexpr std::uint32_t kFewestHolds = 4;
constexpr std::uint32_t kMostHolds = 200;

}  // namespace

std::optional<Framing> Framing::of(const TopicSource& source) {
  Framing framing;
  if (const char* const encoding = detail::encoding_of(source.type, source.type_hash, source.schema)) {
    if (source.message_bytes != sizeof(detail::Encoded)) return std::nullopt;
    framing.encoding_ = encoding;
    framing.schema_encoding_ = std::string_view(encoding) == "json" ? "jsonschema" : encoding;
    return framing;
  }
  auto type = AnyType::of_publisher(source.type, source.type_hash, source.schema);
  if (!type || type->layout().size != source.message_bytes) return std::nullopt;
  framing.message_.emplace(*std::move(type));
  return framing;
}

bool Framing::frame(const detail::SampleBlock& sample) {
  const auto payload_bytes = static_cast<std::size_t>(sample.payload_bytes);
  if (message_)
    return message_->frame({static_cast<const std::byte*>(sample.message), message_->type().layout().size},
                           {sample.payload, payload_bytes});
  const auto* const shared = static_cast<const detail::Encoded*>(sample.message);
  shm::VectorBase::Elements bytes{};
  if (!shared->data.find_elements(sample.payload, payload_bytes, 1, 1, bytes)) return false;
  object_.payload = {bytes.first, bytes.count};
  return true;
}

TopicQueue::TopicQueue(TopicSource source, Framing framing, const RecorderOptions& options)
    : kept(source.depth), source_(std::move(source)), framing_(std::move(framing)), budget_(options.queue_bytes) {
  for (const TopicRule& rule : options.rules) {
    if (!detail::fits(rule.pattern, source_.name)) continue;
    rule_ = rule;
    break;
  }
  const bool compressed = rule_.compression.value_or(mcap::Compression::None) != mcap::Compression::None;
  holds_samples_ = !options.copy && !compressed && source_.max_bytes >= options.held_from;
  holds_ = kHoldsWhenCopied;
  if (holds_samples_)
    holds_ = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(budget_ / std::max<std::size_t>(source_.max_bytes, 1), kFewestHolds, kMostHolds));
}

TopicQueue::~TopicQueue() { waiting.clear(); }

void TopicQueue::attach(const RecorderOptions& options) {
  const AnyMessageType type{.name = source_.type,
                            .schema = source_.schema,
                            .hash = source_.type_hash,
                            .bytes = source_.message_bytes,
                            .alignment = 8,
                            .has_arena = false,
                            .arena_bytes = 0};
  // A publication of another type is the scout's to look at: it gets its own channel.
  const auto told = [refused = refused_](const Event& event) {
    if (event.kind != Event::Kind::Refused) return;
    const std::lock_guard lock(refused->mutex);
    if (refused->count++ == 0) refused->first = event.text;
  };
  for (;;) {
    // It has no contract with the publishers: what it reads is bounded by whom it accepts.
    try {
      subscriber_ = std::make_unique<AnySubscriber>(
          source_.name, type, TopicOptions{.max_bytes = layout::kMaxPayload, .access = options.access},
          SubscriberOptions{.domain = options.domain,
                            .holds = holds_,
                            .reliable = options.reliable,
                            .background = true,
                            .waiting = block(),
                            .on_event = told});
    } catch (const Error& e) {
      // The publisher does not have that many slots: fewer slots cover shorter stalls.
      const bool fewer = e.code() == ErrorCode::NoMemory || e.code() == ErrorCode::Limit;
      if (!fewer || holds_ <= kHoldsWhenCopied) throw;
      {
        const std::lock_guard lock(refused_->mutex);
        refused_->count = 0;  // it will be asked again
      }
      holds_ = std::max(holds_ / 2, kHoldsWhenCopied);
      continue;
    }
    return;
  }
}

void TopicQueue::account_for(const detail::SampleBlock& sample) {
  if (sample.missed != 0) lose(was_full_ ? LossCause::QueueFull : LossCause::Lapped, sample.missed);
  // Earlier publications than our attach are not missed by a subscriber, but by a recording. Its first samples are
  // there as a gift, also with gaps between them.
  const detail::Stream& stream = *sample.stream;
  std::uint64_t& last = last_of_stream_[stream.id];
  const std::uint64_t gap = sample.sequence - std::min(sample.sequence, last + 1);
  last = std::max(last, sample.sequence);
  const bool is_owed = stream.header.created_ns + stream.time_shift() >= source_.since_ns;
  if (is_owed && gap > sample.missed) lose(LossCause::TooLate, gap - sample.missed);
}

std::map<std::string, std::string> TopicQueue::channel_metadata() const {
  std::map<std::string, std::string> all{{kTypeHashKey, type_hash_text(source_.type_hash)}};
  if (std::string_view(framing_.message_encoding()) != "cdr") {
    all[mcap::kDepthKey] = std::to_string(source_.depth);
    return all;
  }
  all[kQosKey] = offered_qos(source_.depth);
  if (std::string hash = ros_type_hash(source_.type, source_.schema); !hash.empty())
    all[kRosTypeHashKey] = std::move(hash);
  return all;
}

bool TopicQueue::wanted(std::int64_t publish_ns) noexcept {
  if (rule_.every > 1 && seen_++ % rule_.every != 0) return false;
  if (rule_.max_rate_hz <= 0) return true;
  if (publish_ns < next_due_ns_) return false;
  const auto interval = static_cast<std::int64_t>(std::min(1e9 / rule_.max_rate_hz, 1e18));
  // From the time it was due, so that a rate that does not divide the publisher's is kept in the mean.
  next_due_ns_ =
      next_due_ns_ == 0 || publish_ns - next_due_ns_ > interval ? publish_ns + interval : next_due_ns_ + interval;
  return true;
}

std::optional<TopicQueue::Waiting> TopicQueue::take(std::int64_t now, const RecordingTime& time, bool paused) {
  constexpr int kMostTaken = 1024;  // a publisher that is faster than we are must not keep us here
  for (int i = 0; i < kMostTaken; ++i) {
    AnySample sample = subscriber_->take();
    if (!sample) {
      if (subscriber_->reason() == Reason::Limit) was_full_ = true;
      if (const std::uint64_t bad = subscriber_->bad(); bad > bad_seen_)
        lose(LossCause::Malformed, bad - std::exchange(bad_seen_, bad));
      return std::nullopt;
    }
    const detail::SampleBlock& block = *detail::block_of(sample);
    if (paused) {
      left_out_ += 1 + block.missed;
      last_of_stream_[block.stream->id] = block.sequence;
      continue;
    }
    account_for(block);
    was_full_ = false;
    // A publisher's claim about its time may be anything: it must not reach into the future, nor make sums overflow.
    constexpr std::int64_t kOldest = 60'000'000'000;
    const std::int64_t latest = steady_now();
    const std::int64_t published = std::clamp<std::int64_t>(block.publish_ns, 0, latest);
    if (!wanted(published)) {
      ++left_out_;
      continue;
    }
    Waiting taken{.bytes = source_.message_bytes + block.payload_bytes,
                  .taken_ns = std::max(now, published),  // some are published while we take
                  .publish_ns = std::max(published, latest - kOldest)};
    taken.log_time = time.of(taken.taken_ns);
    taken.publish_time = time.of(published);
    taken.sample = std::move(sample);
    return taken;
  }
  return std::nullopt;  // nobody sleeps while there is more
}

// It is still in its publisher's slot, but our subscriber has given it back.
void TopicQueue::keep_quiet(std::int64_t now) {
  if (queued != 0) return;
  auto newest = kept.take_quiet(now);
  ObservedSample latest;
  if (!newest || !subscriber().copy_latest(latest) ||
      static_cast<std::uint32_t>(latest.sequence()) != newest->head.sequence)
    return;
  // The message where it was relative to its payload: its vectors are found by that.
  const std::int64_t offset = latest.message_offset();
  const std::size_t payload = latest.payload().size(), message = latest.message().size();
  if (offset > static_cast<std::int64_t>(payload) || offset < -static_cast<std::int64_t>(layout::kMaxPayload)) return;
  const std::size_t before = offset < 0 ? static_cast<std::size_t>(-offset) : 0;
  const std::size_t at = offset < 0 ? 0 : static_cast<std::size_t>(offset);
  mcap::Bytes bytes(std::max(before + payload, at + message));
  std::copy(latest.payload().begin(), latest.payload().end(), bytes.begin() + static_cast<std::ptrdiff_t>(before));
  std::copy(latest.message().begin(), latest.message().end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  detail::SampleBlock block;
  block.message = bytes.data() + at;
  block.payload = bytes.data() + before;
  block.payload_bytes = payload;
  if (!framing_.frame(block)) return;
  newest->whole = true;
  for (const mcap::View part : {framing_.prefix(), framing_.payload(), framing_.suffix()})
    newest->data.insert(newest->data.end(), part.begin(), part.end());
  kept.add(*std::move(newest));
}

void TopicQueue::lose_what_is_left(std::int64_t until, const RecordingTime& time) {
  while (const auto left = take(until, time, false)) {
    if (left->publish_ns > until) return;
    lose(LossCause::QueueFull, 1);
  }
}

void TopicQueue::note_queued(std::uint64_t samples, std::uint64_t bytes) noexcept {
  queued += samples;
  queued_bytes += bytes;
  most_queued_bytes_ = std::max(most_queued_bytes_, queued_bytes);
}

void TopicQueue::note_written(std::uint64_t samples, std::uint64_t bytes) noexcept {
  queued -= samples;
  queued_bytes -= bytes;
}

TopicReport TopicQueue::report() const {
  const std::lock_guard lock(refused_->mutex);
  return {.topic = source_.name,
          .type = source_.type,
          .recorded = recorded_,
          .bytes = bytes_,
          .lost = lost_,
          .refused = refused_->count,
          .left_out = left_out_,
          .queued = queued,
          .queued_bytes = queued_bytes,
          .held = held,
          .most_queued_bytes = most_queued_bytes_,
          .problem = refused_->count == 0 ? std::string() : refused_->first};
}

}  // namespace cardan::record
