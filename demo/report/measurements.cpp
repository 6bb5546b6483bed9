// SPDX-License-Identifier: Apache-2.0
#include "demo/report/measurements.hpp"

#include <algorithm>

namespace cardan::street {
namespace {

constexpr std::size_t kRemembered = 256;  // frames per sensor, and decisions that wait to be joined

/// From the finder to the decision, of what came from the sensor by `hop`.
std::size_t second_hop(std::size_t hop) { return hop == kImageHop ? kSeenHop : kObstaclesHop; }

}  // namespace

void Measurements::begin(std::int64_t now) {
  *this = Measurements{};
  begin_ = now;
  counting_ = true;
}

void Measurements::first_hop(Way& way, const Frame& frame) {
  if (frame.published < begin_) return;
  way.first_us = frame.transport_us;
  way.all_us = static_cast<double>(way.decision.received - frame.published) * 1e-3;
  decision_us_.push_back(way.all_us);
  recent_decisions_.push_back({way.decision.received, way.all_us, 0});
  while (!recent_decisions_.empty() && recent_decisions_.front().time < way.decision.received - kRecent)
    recent_decisions_.pop_front();
}

void Measurements::complete() {
  std::erase_if(ways_, [this](const Way& way) {
    if (way.first_us < 0 || way.second_us < 0) return false;
    carried_us_.push_back(way.first_us + way.second_us);
    worked_us_.push_back(way.all_us - carried_us_.back());
    return true;
  });
  if (ways_.size() > kRemembered) ways_.pop_front();
}

void Measurements::decided(const Note& note) {
  last_decision_ = note;
  if (!counting_ || note.received < begin_ || note.topic >= kHops) return;
  ++decisions_;
  Way& way = ways_.emplace_back(Way{.decision = note});
  const auto& frames = hops_[note.topic].frames;
  if (const auto frame = frames.find(note.sequence); frame != frames.end()) first_hop(way, frame->second);
}

void Measurements::add(const Note& note) {
  if (note.kind == Note::Kind::Decided) {
    decided(note);
    return complete();
  }
  if (note.kind != Note::Kind::Received || note.topic >= kHops) return;
  OfHop& hop = hops_[note.topic];
  const double microseconds = static_cast<double>(note.received - std::max(note.published, note.asked)) * 1e-3;
  const Frame frame{note.published, microseconds};
  hop.frames[note.sequence] = frame;
  if (hop.frames.size() > kRemembered) hop.frames.erase(hop.frames.begin());
  // The first hop is told apart by the frame. The second one's note comes from the decision itself, after it.
  for (Way& way : ways_) {
    if (way.decision.topic == note.topic && way.decision.sequence == note.sequence) first_hop(way, frame);
    if (second_hop(way.decision.topic) == note.topic && way.second_us < 0 && note.received <= way.decision.received) {
      way.second_us = microseconds;
      break;
    }
  }
  complete();
  if (!counting_ || note.published < begin_) return;
  ++hop.received;
  // Losses before the first counted frame are from before the beginning.
  if (hop.received > 1) hop.missed += note.missed;
  hop.bytes += note.bytes;
  hop.transport_us.push_back(microseconds);
  hop.recent.push_back({note.received, microseconds, note.bytes});
  while (!hop.recent.empty() && hop.recent.front().time < note.received - kRecent) hop.recent.pop_front();
}

void Measurements::add(const std::string& chain, const LatencyHistogram& ages) {
  LatencyHistogram& all = ages_[chain];
  std::map<std::uint32_t, std::uint64_t> counts(all.begin(), all.end());
  for (const auto& [bucket, count] : ages) counts[bucket] += count;
  all.assign(counts.begin(), counts.end());
}

void Measurements::add(const Measurements& other) {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (std::size_t i = 0; i < kHops; ++i) {
    hops_[i].received += other.hops_[i].received;
    hops_[i].missed += other.hops_[i].missed;
    hops_[i].bytes += other.hops_[i].bytes;
    append(hops_[i].transport_us, other.hops_[i].transport_us);
  }
  decisions_ += other.decisions_;
  append(decision_us_, other.decision_us_);
  append(carried_us_, other.carried_us_);
  append(worked_us_, other.worked_us_);
  for (const auto& [chain, ages] : other.ages_) add(chain, ages);
}

Figures Measurements::figures() const {
  Figures out;
  for (std::size_t i = 0; i < kHops; ++i) {
    out.hops[i] = {hops_[i].received, hops_[i].missed, hops_[i].bytes, summarize(hops_[i].transport_us)};
  }
  out.decisions = decisions_;
  out.decision_us = summarize(decision_us_);
  out.carried_us = summarize(carried_us_);
  out.worked_us = summarize(worked_us_);
  out.ages = ages_;
  return out;
}

Measurements::Recent Measurements::recent(std::size_t hop, std::int64_t now) const {
  Recent out;
  std::vector<double> values;
  std::uint64_t bytes = 0;
  for (const Sample& s : hops_[hop].recent) {
    if (s.time < now - kRecent) continue;
    values.push_back(s.microseconds);
    bytes += s.bytes;
  }
  const double seconds = static_cast<double>(std::clamp<std::int64_t>(now - begin_, 1, kRecent)) * 1e-9;
  out.rate_hz = static_cast<double>(values.size()) / seconds;
  out.megabytes_per_s = static_cast<double>(bytes) * 1e-6 / seconds;
  out.missed = hops_[hop].missed;
  out.transport_us = summarize(std::move(values));
  return out;
}

Summary Measurements::recent_decision_us(std::int64_t now) const {
  std::vector<double> values;
  for (const Sample& s : recent_decisions_) {
    if (s.time >= now - kRecent) values.push_back(s.microseconds);
  }
  return summarize(std::move(values));
}

}  // namespace cardan::street
