// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorded_chain.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::record {
namespace {

/// Longer ways are not true, and sums of shorter ones do not overflow.
constexpr std::int64_t kLongest = 1'000'000'000'000;  // 11 days, µs
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

Error too_much(const char* what) {
  return {ErrorCode::Limit, std::string("the recording has too many ") + what,
          "take a part of it: --start and --end, or cardan bag cut"};
}

void sort_by_time(RecordedWay& way) {
  std::vector<std::size_t> order(way.frames.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&way](std::size_t a, std::size_t b) {
    return std::pair(way.frames[a].stamp_ns, a) < std::pair(way.frames[b].stamp_ns, b);
  });
  RecordedWay sorted{.topics = std::move(way.topics), .frames = {}, .times_ns = {}};
  sorted.frames.reserve(order.size());
  sorted.times_ns.reserve(way.times_ns.size());
  const std::size_t hops = sorted.hops();
  for (const std::size_t i : order) {
    sorted.frames.push_back(way.frames[i]);
    const auto first = way.times_ns.begin() + static_cast<std::ptrdiff_t>(i * hops);
    sorted.times_ns.insert(sorted.times_ns.end(), first, first + static_cast<std::ptrdiff_t>(hops));
  }
  way = std::move(sorted);
}

}  // namespace

std::uint32_t RecordedCauses::place_of(std::uint64_t number, const std::string& topic) {
  std::uint32_t& known = number == 0 ? ends_of_others_[topic] : ends_[number];
  if (known == 0) {
    if (publishers_.size() >= kMostPublishers) throw too_much("publishers");
    publishers_.emplace_back();
    known = static_cast<std::uint32_t>(publishers_.size());
  }
  Publisher& publisher = publishers_[known - 1];
  if (publisher.topic.empty()) publisher.topic = topic;
  return known - 1;
}

bool RecordedCauses::add(mcap::View message, std::uint64_t log_time) {
  Causes& m = message_;
  if (!read_causes(message, m)) return false;
  if (samples_ + m.samples() > kMostSamples) throw too_much("samples with causes");
  samples_ += m.samples();
  left_out_ = std::max(left_out_, m.left_out);
  const std::int64_t stamp_us = m.stamp_ns / Causes::kNsPerUs;
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < m.publishers.size(); ++i) places.push_back(place_of(m.publishers[i], m.topics[i]));
  const auto offset = static_cast<std::uint32_t>(ahead_ns_.size());
  // One without samples takes no place, so that the limit of samples bounds these, too.
  if (m.samples() != 0) ahead_ns_.push_back(log_time - static_cast<std::uint64_t>(stamp_us * Causes::kNsPerUs));
  for (std::size_t i = 0; i < m.samples(); ++i) {
    const bool too_old = m.published_us[i] == std::numeric_limits<std::int32_t>::min();
    const bool elsewhere = m.age_us[i] != 0;  // as a bridge brings it, for example
    const auto is_theirs = [&m](std::uint16_t place) { return place != Causes::kNoCause && m.publishers[place] == 0; };
    const bool unknown =
        m.age_us[i] == Causes::kUnknownAge || is_theirs(m.publisher[i]) || is_theirs(m.cause_publisher[i]);
    publishers_[places[m.publisher[i]]].samples.push_back(
        {.published_us = too_old ? kNoTime : stamp_us + m.published_us[i],
         .sequence = m.sequence[i],
         .cause = unknown                                    ? kUnknown
                  : m.cause_publisher[i] == Causes::kNoCause ? (elsewhere ? kElsewhere : kNoCause)
                                                             : places[m.cause_publisher[i]],
         .cause_sequence = m.cause_sequence[i],
         .offset = offset});
  }
  return true;
}

void RecordedCauses::sort() {
  const auto before = [](const Sample& a, const Sample& b) {
    return std::tie(a.sequence, a.published_us, a.offset) < std::tie(b.sequence, b.published_us, b.offset);
  };
  const auto same = [](const Sample& a, const Sample& b) { return a.sequence == b.sequence; };
  for (Publisher& publisher : publishers_) {
    std::vector<Sample>& all = publisher.samples;
    if (!std::is_sorted(all.begin(), all.end(), before)) std::sort(all.begin(), all.end(), before);
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  }
}

const RecordedCauses::Sample* RecordedCauses::find(const Publisher& publisher, std::uint32_t sequence) const {
  const auto at = std::lower_bound(publisher.samples.begin(), publisher.samples.end(), sequence,
                                   [](const Sample& sample, std::uint32_t wanted) { return sample.sequence < wanted; });
  return at != publisher.samples.end() && at->sequence == sequence ? &*at : nullptr;
}

RecordedCauses::End RecordedCauses::walk_back(std::uint32_t publisher, const Sample& sample, const std::string& from,
                                              Walk& walk) const {
  walk.publishers = {publisher};
  walk.times_us.clear();
  const Sample* at = &sample;
  while (walk.times_us.size() < kMostHops) {
    if (at->cause == kUnknown) return End::OtherUser;
    if (at->cause == kNoCause) return End::FromOthers;
    if (at->cause == kElsewhere) return End::NotRecorded;
    const Publisher& cause = publishers_[at->cause];
    if (cause.topic.empty()) return End::NotRecorded;
    const Sample* const before = find(cause, at->cause_sequence);
    if (before == nullptr) return End::Lost;
    if (before->published_us == kNoTime || before->published_us > at->published_us ||
        at->published_us - before->published_us > kLongest)
      return End::Invalid;
    walk.times_us.push_back(at->published_us - before->published_us);
    walk.publishers.push_back(at->cause);
    if (cause.topic == from) return End::Found;
    at = before;
  }
  return End::Invalid;
}

RecordedChain RecordedCauses::chain(const std::string& from, const std::string& to, bool (*stop)() noexcept) {
  sort();
  RecordedChain chain;
  std::map<std::vector<std::string>, std::size_t> ways;
  std::size_t times = 0;
  Walk walk;
  std::vector<std::string> topics;
  for (std::uint32_t place = 0; place < publishers_.size(); ++place) {
    const Publisher& publisher = publishers_[place];
    if (publisher.topic != to) continue;
    for (const Sample& sample : publisher.samples) {
      if (stop != nullptr && stop()) return chain;
      ++chain.publications;
      const End end = walk_back(place, sample, from, walk);
      if (end == End::FromOthers) ++chain.from_others;
      if (end == End::NotRecorded) ++chain.not_recorded;
      if (end == End::Lost) ++chain.lost;
      if (end == End::OtherUser) ++chain.other_user;
      if (end == End::Invalid) ++chain.invalid;
      if (end != End::Found) continue;
      times += walk.times_us.size() + walk.publishers.size();
      if (times > kMostSamples) throw too_much("hops");
      topics.clear();
      for (auto at = walk.publishers.rbegin(); at != walk.publishers.rend(); ++at)
        topics.push_back(publishers_[*at].topic);
      const auto [way, is_new] = ways.try_emplace(topics, chain.ways.size());
      if (is_new && chain.ways.size() == kMostWays) throw too_much("ways");
      if (is_new) chain.ways.push_back({.topics = topics, .frames = {}, .times_ns = {}});
      RecordedWay& found = chain.ways[way->second];
      found.frames.push_back(
          {.stamp_ns = ahead_ns_[sample.offset] + static_cast<std::uint64_t>(sample.published_us) * Causes::kNsPerUs,
           .sequence = sample.sequence});
      for (auto time = walk.times_us.rbegin(); time != walk.times_us.rend(); ++time)
        found.times_ns.push_back(*time * Causes::kNsPerUs);
    }
  }
  for (RecordedWay& way : chain.ways) sort_by_time(way);
  std::sort(chain.ways.begin(), chain.ways.end(), [](const RecordedWay& a, const RecordedWay& b) {
    return a.frames.size() != b.frames.size() ? a.frames.size() > b.frames.size() : a.topics < b.topics;
  });
  return chain;
}

std::vector<std::string> RecordedCauses::topics() const {
  std::vector<std::string> all;
  for (const Publisher& publisher : publishers_)
    if (!publisher.samples.empty()) all.push_back(publisher.topic);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace cardan::record
