// SPDX-License-Identifier: Apache-2.0
#include "src/transforms/frame_table.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace cardan::detail {
namespace {

/// Without overflow: a program may ask for any stamp.
std::int64_t distance(std::int64_t from, std::int64_t to) noexcept {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(to, from, &difference) ? std::numeric_limits<std::int64_t>::max() : difference;
}

}  // namespace

/// The bucket of the name, or the free one where it would be.
std::size_t FrameTable::bucket_of(std::string_view name) const noexcept {
  std::size_t bucket = std::hash<std::string_view>{}(name) % kBuckets;
  while (buckets_[bucket] != kNoFrame && frames_[buckets_[bucket]].name.view() != name)
    bucket = (bucket + 1) % kBuckets;
  return bucket;
}

FrameIndex FrameTable::find(std::string_view name) const noexcept { return buckets_[bucket_of(name)]; }

FrameIndex FrameTable::add(std::string_view name) noexcept {
  const std::size_t bucket = bucket_of(name);
  if (buckets_[bucket] != kNoFrame || frames_.size() >= kMostFrames) return buckets_[bucket];
  frames_.push_back({.name = FrameId(name)});
  buckets_[bucket] = static_cast<FrameIndex>(frames_.size() - 1);
  return buckets_[bucket];
}

FrameTable::Put FrameTable::put(FrameIndex child, const Place& place, bool is_static, std::int64_t kept_ns,
                                std::size_t most) {
  Frame& frame = frames_[child];
  if (frame.parent != place.parent && is_above(child, place.parent)) return Put::Loop;
  if (frame.places.empty()) frame.is_static = is_static;
  if (frame.is_static) frame.places.clear();
  if (!frame.places.insert(place, kept_ns, most)) {
    const bool late = place.stamp < frame.places.oldest().stamp;
    return late ? Put::Late : Put::Known;
  }
  const FrameIndex parent = frame.places.newest().parent;
  if (frame.places.size() == 1)
    frame.had_other_parents = false;
  else if (parent != frame.parent || place.parent != parent)
    frame.had_other_parents = true;
  frame.parent = parent;
  return Put::Accepted;
}

void FrameTable::clear(bool moving_only) noexcept {
  for (Frame& frame : frames_) {
    if (moving_only && frame.is_static) continue;
    frame.places.clear();
    frame.parent = kNoFrame;
    frame.had_other_parents = false;
  }
}

bool FrameTable::is_above(FrameIndex child, FrameIndex frame) const noexcept {
  for (std::size_t i = 0; i <= frames_.size() && frame != kNoFrame; ++i, frame = frames_[frame].parent)
    if (frame == child) return true;
  return false;
}

FrameIndex FrameTable::parent_at(const Frame& frame, std::int64_t stamp, bool strict, bool& missing) const noexcept {
  if (frame.is_static || frame.places.empty() || (!strict && !frame.had_other_parents)) return frame.parent;
  const std::size_t n = frame.places.until(stamp);
  missing = n == 0 || stamp > frame.places.newest().stamp;
  return missing ? kNoFrame : frame.places.at(n - 1).parent;
}

void FrameTable::walk(Way& way, FrameIndex from, std::int64_t stamp, bool newest, bool strict) const noexcept {
  while (from != kNoFrame) {
    if (way.count == frames_.size()) {
      way.loops = true;
      return;
    }
    way.frames[way.count++] = from;
    bool missing = false;
    const FrameIndex parent = newest ? frames_[from].parent : parent_at(frames_[from], stamp, strict, missing);
    if (missing) way.missing = from;
    from = parent;
  }
}

Located FrameTable::place_at(FrameIndex i, std::int64_t stamp) const noexcept {
  const History& places = frames_[i].places;
  if (frames_[i].is_static) return {.transform = places.newest().transform, .stamp = stamp};
  if (stamp < places.oldest().stamp)
    return {.reason = NoTransform::TooOld, .beyond_ns = distance(stamp, places.oldest().stamp), .frame = i};
  if (stamp > places.newest().stamp)
    return {.reason = NoTransform::TooNew, .beyond_ns = distance(places.newest().stamp, stamp), .frame = i};
  const std::size_t n = places.until(stamp);
  const Place& before = places.at(n - 1);
  // Between two parents the older one counts, as in tf2.
  if (before.stamp == stamp || places.at(n).parent != before.parent)
    return {.transform = before.transform, .stamp = stamp};
  const Place& after = places.at(n);
  const double share = static_cast<double>(stamp - before.stamp) / static_cast<double>(after.stamp - before.stamp);
  return {.transform = interpolate(before.transform, after.transform, share), .stamp = stamp};
}

Located FrameTable::locate(FrameIndex target, FrameIndex source, std::int64_t stamp) const noexcept {
  return locate(target, source, stamp, stamp == kNewest, false);
}

Located FrameTable::locate(FrameIndex target, FrameIndex source, std::int64_t stamp, bool newest,
                           bool strict) const noexcept {
  Way up, down;
  walk(up, source, stamp, newest, strict);
  walk(down, target, stamp, newest, strict);
  // A parent of another time may close a circle that there was not at this one.
  if ((up.loops || down.loops) && !newest && !strict) return locate(target, source, stamp, false, true);
  if (up.loops || down.loops) return {.reason = NoTransform::Loop, .frame = up.loops ? source : target};
  std::size_t of_source = up.count, of_target = down.count;  // frames below the common one, plus the common one
  if (up.frames[of_source - 1] != down.frames[of_target - 1]) {
    for (const Way* way : {&up, &down})  // a way that ends where a place is missing might have gone on
      if (way->missing != kNoFrame) {
        Located located = place_at(way->missing, stamp);
        if (located.reason != NoTransform::None) return located;
      }
    return {.reason = NoTransform::NotConnected, .frame = source};
  }
  while (of_source > 1 && of_target > 1 && up.frames[of_source - 2] == down.frames[of_target - 2])
    --of_source, --of_target;
  --of_source;
  --of_target;
  if (newest) {
    bool may_differ = false;
    stamp = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < of_source + of_target; ++i) {
      const Frame& frame = frames_[i < of_source ? up.frames[i] : down.frames[i - of_source]];
      if (!frame.is_static) stamp = std::min(stamp, frame.places.newest().stamp);
      may_differ = may_differ || frame.had_other_parents;
    }
    if (stamp == std::numeric_limits<std::int64_t>::max()) stamp = 0;
    if (may_differ) return locate(target, source, stamp, false, false);  // by another way, at that time
  }
  Located sum[2];
  const Way* const ways[] = {&up, &down};
  const std::size_t counts[] = {of_source, of_target};
  for (std::size_t w = 0; w < 2; ++w)
    for (std::size_t i = 0; i < counts[w]; ++i) {
      const Located one = place_at(ways[w]->frames[i], stamp);
      if (one.reason != NoTransform::None) return one;
      sum[w].transform = one.transform * sum[w].transform;
    }
  return {.transform = inverse(sum[1].transform) * sum[0].transform, .stamp = stamp};
}

}  // namespace cardan::detail
