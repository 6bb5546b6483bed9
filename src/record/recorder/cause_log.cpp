// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/cause_log.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/transport/endpoint/stream.hpp"

namespace cardan::record {
namespace {

std::uint32_t age_us(const detail::SampleBlock& sample) {
  if (sample.foreign || sample.origin_ns == detail::kUnknownOrigin) return Causes::kUnknownAge;
  const std::int64_t ns = sample.origin_ns == 0 ? 0 : sample.publish_ns - sample.origin_ns;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns / Causes::kNsPerUs, 0, Causes::kUnknownAge - 1));
}

/// Rounded down, so that a cause does not come after its effect.
std::int32_t after_us(std::int64_t ns, std::int64_t stamp_ns) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t us = ns / Causes::kNsPerUs - stamp_ns / Causes::kNsPerUs;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(us, Limits::min(), Limits::max()));
}

}  // namespace

std::uint16_t CauseLog::Pending::place_of(std::uint64_t publisher) {
  const auto [at, is_new] = places.try_emplace(publisher, static_cast<std::uint16_t>(causes.publishers.size()));
  if (is_new) {
    causes.publishers.push_back(publisher);
    causes.topics.emplace_back();
  }
  return at->second;
}

std::uint16_t CauseLog::Pending::place_of(const detail::SampleBlock& sample, const std::string& topic) {
  if (!sample.foreign) {
    const std::uint16_t place = place_of(sample.stream_id);
    if (causes.topics[place].empty()) causes.topics[place] = topic;
    return place;
  }
  // The number that it gives itself may be that of one of ours.
  const auto [at, is_new] = places_of_others.try_emplace(topic, static_cast<std::uint16_t>(causes.publishers.size()));
  if (is_new) {
    causes.publishers.push_back(0);
    causes.topics.push_back(topic);
  }
  return at->second;
}

void CauseLog::add(const detail::SampleBlock& sample, const std::string& topic, std::int64_t published_ns,
                   std::int64_t now) {
  if (!wanted_) return;
  if (newest_.published_ns.empty()) newest_.since_ns = now;
  Causes& causes = newest_.causes;
  std::uint64_t cause = 0, cause_sequence = 0;
  if (!sample.foreign) {
    const layout::SlotMeta& meta = sample.stream->meta(sample.slot);
    cause = meta.cause_stream.load(std::memory_order_relaxed);
    cause_sequence = meta.cause_sequence.load(std::memory_order_relaxed);
  }
  begun_ = begun_ || cause != 0;
  causes.publisher.push_back(newest_.place_of(sample, topic));
  causes.sequence.push_back(static_cast<std::uint32_t>(sample.sequence));
  causes.age_us.push_back(age_us(sample));
  causes.cause_publisher.push_back(cause == 0 ? Causes::kNoCause : newest_.place_of(cause));
  causes.cause_sequence.push_back(cause == 0 ? 0 : static_cast<std::uint32_t>(cause_sequence));
  newest_.published_ns.push_back(published_ns);
}

Causes CauseLog::taken(Pending& pending, std::int64_t now) const {
  Pending done = std::exchange(pending, {});
  done.causes.stamp_ns = now;
  done.causes.left_out = left_out_;
  for (const std::int64_t published : done.published_ns) done.causes.published_us.push_back(after_us(published, now));
  return std::move(done.causes);
}

std::optional<Causes> CauseLog::take(std::int64_t now, bool all) {
  if (newest_.published_ns.empty() && earlier_.published_ns.empty()) return std::nullopt;
  const std::int64_t age = now - newest_.since_ns;
  if (!begun_) {
    if (is_full() || age >= kPatience) earlier_ = std::exchange(newest_, {});
    return std::nullopt;
  }
  if (!earlier_.published_ns.empty()) return taken(earlier_, now);
  if (all || is_full() || age >= kInterval) return taken(newest_, now);
  return std::nullopt;
}

}  // namespace cardan::record
