// SPDX-License-Identifier: Apache-2.0
#include "demo/report/measurements.hpp"

#include <algorithm>

namespace cardan::street {
namespace {
constexpr std::size_t kRemembered = 256;  // frames per sensor, and decisions that wait to be joined
}

void Measurements::begin(std::int64_t now) {
  *this = Measurements{};
  begin_ = now;
  counting_ = true;
}

void Measurements::join(const Note& decision, std::int64_t published) {
  if (published < begin_) return;
  const double microseconds = static_cast<double>(decision.received - published) * 1e-3;
  decision_us_.push_back(microseconds);
  recent_decisions_.push_back({decision.received, microseconds, 0});
  while (!recent_decisions_.empty() && recent_decisions_.front().time < decision.received - kRecent)
    recent_decisions_.pop_front();
}

void Measurements::add(const Note& note) {
  if (note.kind == Note::Kind::Decided) {
    last_decision_ = note;
    if (!counting_ || note.received < begin_ || note.topic >= kHops) return;
    ++decisions_;
    const auto& published = hops_[note.topic].published;
    if (const auto frame = published.find(note.sequence); frame != published.end()) {
      join(note, frame->second);
    } else {
      unjoined_.push_back(note);
      if (unjoined_.size() > kRemembered) unjoined_.pop_front();
    }
    return;
  }
  if (note.kind != Note::Kind::Received || note.topic >= kHops) return;
  OfHop& hop = hops_[note.topic];
  hop.published[note.sequence] = note.published;
  if (hop.published.size() > kRemembered) hop.published.erase(hop.published.begin());
  for (auto waiting = unjoined_.begin(); waiting != unjoined_.end();) {
    if (waiting->topic == note.topic && waiting->sequence == note.sequence) {
      join(*waiting, note.published);
      waiting = unjoined_.erase(waiting);
    } else {
      ++waiting;
    }
  }
  if (!counting_ || note.published < begin_) return;
  const double microseconds = static_cast<double>(note.received - std::max(note.published, note.asked)) * 1e-3;
  ++hop.received;
  // What was lost before the first counted frame was lost before the beginning.
  if (hop.received > 1) hop.missed += note.missed;
  hop.bytes += note.bytes;
  hop.transport_us.push_back(microseconds);
  hop.recent.push_back({note.received, microseconds, note.bytes});
  while (!hop.recent.empty() && hop.recent.front().time < note.received - kRecent) hop.recent.pop_front();
}

Figures Measurements::figures() const {
  Figures out;
  for (std::size_t i = 0; i < kHops; ++i) {
    out.hops[i] = {hops_[i].received, hops_[i].missed, hops_[i].bytes, summarize(hops_[i].transport_us)};
  }
  out.decisions = decisions_;
  out.decision_us = summarize(decision_us_);
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
