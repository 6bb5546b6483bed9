// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/rate_window.hpp"

#include <algorithm>
#include <cmath>

namespace cardan::apps {

void RateWindow::add(const std::vector<ObservedStream::Stamp>& stamps) {
  for (const auto& s : stamps)
    if (s.sequence > last_sequence()) stamps_.push_back(s);
}

RateWindow::Figures RateWindow::figures(std::int64_t now) {
  // One from before the window stays, for the gap that reaches into it, and as the other end of a slow stream's only
  // interval.
  while (stamps_.size() > 2 && stamps_[1].publish_ns < now - length_ns_) {
    last_sequence_ = stamps_.front().sequence;
    stamps_.pop_front();
  }
  Figures f;
  if (stamps_.empty()) return f;
  f.longest_gap_ns = 0;
  const std::size_t begin = stamps_.size() > 2 && stamps_.front().publish_ns < now - length_ns_ ? 1 : 0;
  double sum = 0;
  double squares = 0;
  double intervals = 0;
  for (std::size_t i = 1; i < stamps_.size(); ++i) {
    const std::int64_t gap = stamps_[i].publish_ns - stamps_[i - 1].publish_ns;
    const std::uint64_t steps = stamps_[i].sequence - stamps_[i - 1].sequence;
    f.longest_gap_ns = std::max(f.longest_gap_ns, steps == 1 ? gap : gap / static_cast<std::int64_t>(steps));
    if (steps != 1 || i <= begin) continue;
    sum += static_cast<double>(gap);
    squares += static_cast<double>(gap) * static_cast<double>(gap);
    ++intervals;
  }
  const auto& first = stamps_[begin];
  const auto& last = stamps_.back();
  f.publications = last.sequence - first.sequence + (first.publish_ns >= now - length_ns_ ? 1 : 0);
  const std::int64_t silence = now - last.publish_ns;
  if (last.sequence > first.sequence && last.publish_ns > first.publish_ns) {
    const double mean =
        static_cast<double>(last.publish_ns - first.publish_ns) / static_cast<double>(last.sequence - first.sequence);
    // One that has fallen silent does not keep the rate that it had.
    const double span = static_cast<double>(last.publish_ns - first.publish_ns) +
                        (static_cast<double>(silence) > 2 * mean ? static_cast<double>(silence) : 0);
    f.rate_hz = static_cast<double>(last.sequence - first.sequence) / span * 1e9;
    if (static_cast<double>(silence) > 2 * mean) f.longest_gap_ns = std::max(f.longest_gap_ns, silence);
  } else {
    f.longest_gap_ns = silence;
  }
  if (intervals >= 2)
    f.jitter_ns = std::sqrt(std::max(0.0, squares / intervals - (sum / intervals) * (sum / intervals)));
  return f;
}

}  // namespace cardan::apps
