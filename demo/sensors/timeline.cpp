// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "cardan/clock.hpp"

namespace cardan::street {
namespace {

constexpr std::int64_t kUsual = 100'000'000;  // between frames without times: KITTI's 10 Hz
constexpr std::int64_t kStopEvery = 50'000'000;

/// The mean distance of frames, ns.
std::int64_t distance(const std::vector<std::int64_t>& times) {
  if (times.size() < 2) return kUsual;
  return std::max<std::int64_t>(1, (times.back() - times.front()) / static_cast<std::int64_t>(times.size() - 1));
}

}  // namespace

Timeline::Timeline(std::vector<std::int64_t> own, const std::vector<std::int64_t>& other, std::int64_t origin)
    : times_(std::move(own)), origin_(origin) {
  paired_ = !other.empty() && other.front() <= times_.back() && times_.front() <= other.back();
  std::int64_t begin = times_.front();
  std::int64_t end = times_.back() + distance(times_);
  if (paired_) {
    begin = std::min(begin, other.front());
    end = std::max(end, other.back() + distance(other));
  }
  length_ = end - begin;
  // Without an origin two that belong together count their rounds from the clock's own beginning.
  if (origin_ == 0 && !paired_) origin_ = steady_now();
  for (std::int64_t& time : times_) time -= begin;
}

std::int64_t Timeline::due(std::int64_t index) const noexcept {
  const auto count = static_cast<std::int64_t>(times_.size());
  return origin_ + index / count * length_ + times_[static_cast<std::size_t>(index % count)];
}

std::int64_t Timeline::newest(std::int64_t now) const noexcept {
  if (now < due(0)) return -1;
  const std::int64_t round = (now - origin_) / length_;
  const std::int64_t within = now - origin_ - round * length_;
  const auto next = std::upper_bound(times_.begin(), times_.end(), within);
  return round * static_cast<std::int64_t>(times_.size()) + (next - times_.begin()) - 1;
}

Timeline::Due Timeline::next(std::int64_t now) {
  // A driver that comes in the middle of a round waits for the frame that is next.
  const std::int64_t reached = newest(now);
  last_ = last_ ? std::max(*last_ + 1, reached) : reached + 1;
  return {static_cast<std::size_t>(*last_ % static_cast<std::int64_t>(times_.size())), due(*last_)};
}

bool Timeline::sleep_until(std::int64_t time, const std::function<bool()>& stopping) {
  while (!stopping()) {
    const std::int64_t left = time - steady_now();
    if (left <= 0) return true;
    std::this_thread::sleep_for(std::chrono::nanoseconds{std::min(left, kStopEvery)});
  }
  return false;
}

std::int64_t Timeline::wall_time(std::int64_t time) {
  // A thread that loses the CPU between the two clocks would take the pause for their difference.
  std::int64_t closest = std::numeric_limits<std::int64_t>::max();
  std::int64_t difference = 0;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = steady_now();
    const std::int64_t wall = wall_now();
    const std::int64_t after = steady_now();
    if (after - before >= closest) continue;
    closest = after - before;
    difference = wall - before;
  }
  return time + difference;
}

Timeline timeline_of(const RecordedFolder& folder, const FrameFiles& of_other, const Beside& beside) {
  std::vector<std::int64_t> times = folder.times;
  if (!times.empty()) return {std::move(times), times_of_folder(beside.folder, of_other), beside.origin};
  for (std::size_t i = 0; i < folder.files.size(); ++i) times.push_back(static_cast<std::int64_t>(i) * kUsual);
  return {std::move(times), {}, 0};
}

}  // namespace cardan::street
