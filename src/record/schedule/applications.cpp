// SPDX-License-Identifier: Apache-2.0
#include "src/record/schedule/applications.hpp"

#include <algorithm>
#include <limits>

namespace cardan::record::schedule {

std::int64_t Applications::hear(const CycleHint& hint, std::int64_t now) noexcept {
  ++hints_;
  Application* place = place_for(hint, now);
  if (place == nullptr) {
    ++ignored_;
    return 0;
  }
  const bool same = place->used && place->instance == hint.instance;
  const std::uint64_t known = same ? place->rhythm.count() : 0;
  Rhythm rhythm = same ? place->rhythm : Rhythm{};
  switch (rhythm.hear(hint, now)) {
    case Rhythm::Heard::Absurd:
      ++absurd_;
      return 0;
    case Rhythm::Heard::Nothing:
      return 0;
    case Rhythm::Heard::News:
      break;
  }
  end_ = std::max(end_, static_cast<std::size_t>(place - all_.data()) + 1);
  *place = {true, hint.instance, hint.name, hint.weight, (same ? place->hints : 0) + 1, rhythm};
  return hint.count != known ? hint.begin_ns : 0;
}

Applications::Application* Applications::place_for(const CycleHint& hint, std::int64_t now) noexcept {
  Application* silent = nullptr;
  Application* namesake = nullptr;
  for (std::size_t i = 0; i < end_; ++i) {
    Application& a = all_[i];
    if (a.instance == hint.instance) return &a;
    if (a.rhythm.alive(now)) continue;
    if (a.name == hint.name) namesake = &a;  // it was started again
    if (silent == nullptr || a.rhythm.begin() < silent->rhythm.begin()) silent = &a;
  }
  if (namesake != nullptr) return namesake;
  return end_ < kMost ? &all_[end_] : silent;
}

Applications::Outlook Applications::look(std::int64_t now, std::int64_t margin, double tolerated) const noexcept {
  Outlook outlook;
  std::array<std::int64_t, kMost> quiet_until{};
  std::array<double, kMost> idle_weight{};
  std::size_t idle = 0;
  double all = 0;
  double busy = 0;
  outlook.change_ns = std::numeric_limits<std::int64_t>::max();
  outlook.quiet_until = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < end_; ++i) {
    const Application& a = all_[i];
    if (!a.rhythm.alive(now)) continue;
    ++outlook.alive;
    all += a.weight;
    if (a.rhythm.never_idles(margin)) outlook.tireless_share += a.weight;
    if (a.rhythm.busy()) {
      busy += a.weight;
      outlook.change_ns = std::min(outlook.change_ns, a.rhythm.busy_until(now));
      continue;
    }
    const std::int64_t until = a.rhythm.quiet_until(now, margin);
    if (until > now) {
      quiet_until[idle] = until;
      idle_weight[idle++] = a.weight;
      outlook.change_ns = std::min(outlook.change_ns, until);
    } else {
      busy += a.weight;
      outlook.change_ns = std::min(outlook.change_ns, std::max(now + 1, a.rhythm.begun_by(now)));
    }
  }
  if (outlook.alive == 0) return outlook;
  constexpr double kRounding = 1e-9;
  outlook.busy_share = std::min(1.0, busy / all);
  outlook.tireless_share = std::min(1.0, outlook.tireless_share / all);
  if (outlook.busy_share > tolerated + kRounding) {
    outlook.quiet_until = now;
    return outlook;
  }
  // Of those that would be too much. Several light ones that start together are seen when the first of them has
  // started.
  for (std::size_t i = 0; i < idle; ++i)
    if ((busy + idle_weight[i]) / all > tolerated + kRounding)
      outlook.quiet_until = std::min(outlook.quiet_until, quiet_until[i]);
  return outlook;
}

}  // namespace cardan::record::schedule
