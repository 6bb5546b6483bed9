// SPDX-License-Identifier: Apache-2.0
#include "src/transforms/transform_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/deadline.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/stop.hpp"
#include "src/base/printable.hpp"
#include "src/config/suggest.hpp"
#include "src/transforms/static_transforms.hpp"
#include "src/transport/endpoint/stream.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMostProblems = 256;
constexpr double kFarthest = 1e15;  ///< metres: sums of places must not overflow

bool is_near(const Transform& place) noexcept {
  const auto& [x, y, z] = place.translation;
  return std::abs(x) <= kFarthest && std::abs(y) <= kFarthest && std::abs(z) <= kFarthest;
}

std::string milliseconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.3g} ms", static_cast<double>(time.count()) / 1e6);
}

}  // namespace

std::string TransformSource::text() const {
  constexpr std::size_t kLongest = 64;
  return program.empty() ? "this process" : fmt::format("{} (pid {})", printable(program, kLongest), pid);
}

TransformStore::TransformStore(const TransformsOptions& options, bool waits) : options_(options), waits_(waits) {
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours{24};
  if (options.history.count() <= 0 || options.history > kLongest || options.most_places < 2)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("TransformsOptions: history is {} ns, most_places is {}", options.history.count(),
                            options.most_places),
                "use a history of at most 24 hours, and at least 2 places");
  frames_.reserve(kMostFrames);
}

FoundTransform TransformStore::lookup(std::string_view target, std::string_view source,
                                      std::int64_t stamp) const noexcept {
  return sides_.read([&](const FrameTable& table) noexcept {
    FoundTransform found;
    found.store_ = this;
    found.stamp_ = stamp;
    const FrameIndex to = table.find(target);
    const FrameIndex from = to == kNoFrame ? kNoFrame : table.find(source);
    if (from == kNoFrame) {
      found.reason_ = NoTransform::UnknownFrame;
      found.frame_ = FrameId(to == kNoFrame ? target : source);
      return found;
    }
    const Located located = table.locate(to, from, stamp);
    found.reason_ = located.reason;
    if (located.reason == NoTransform::None) {
      found.transform_ = located.transform;
      found.stamp_ = located.stamp;
    } else {
      found.beyond_ = std::chrono::nanoseconds{located.beyond_ns};
      found.frame_ = table.at(located.frame).name;
      found.other_ = table.at(located.frame == from ? to : from).name;
    }
    return found;
  });
}

FoundTransform TransformStore::wait(std::string_view target, std::string_view source, std::int64_t stamp,
                                    std::chrono::nanoseconds timeout) {
  const std::int64_t until = deadline_after(timeout);
  std::unique_lock lock(mutex_);
  for (;;) {
    FoundTransform found = lookup(target, source, stamp);
    const std::int64_t now = steady_now();
    const bool is_final = found.reason() == NoTransform::TooOld && stamp != kNewest;
    if (found || is_final || !waits_ || now >= until || stopping()) return found;
    constexpr std::int64_t kLook = 20'000'000;  // at the stop flag
    arrived_.wait_for(lock, std::chrono::nanoseconds{std::min(until - now, kLook)});
  }
}

std::string TransformStore::text_of(const FoundTransform& found) const {
  const std::string frame = printable(found.frame());
  switch (found.reason()) {
    case NoTransform::None:
      return {};
    case NoTransform::UnknownFrame: {
      std::vector<std::string> known;
      for (const FrameReport& one : frames()) known.push_back(one.name);
      const std::string near = config::nearest(found.frame().view(), known);
      return fmt::format("no frame '{}'{}", frame,
                         !near.empty()   ? fmt::format(" — did you mean '{}'?", printable(near))
                         : known.empty() ? std::string(" — no transform has come: does /tf have a publisher?")
                                         : std::string(" — `cardan tf tree` shows all frames"));
    }
    case NoTransform::NotConnected:
      for (const FrameReport& one : frames())
        if (one.parent.empty() && one.received != 0)
          return fmt::format("the places of '{}' were dropped by clear(), and none has come since",
                             printable(one.name));
      return fmt::format("'{}' and '{}' are in two trees — `cardan tf tree` shows them", frame,
                         printable(found.other_));
    case NoTransform::TooOld:
      return fmt::format(
          "the oldest place of '{}' that is kept is {} after the stamp — TransformsOptions::history and "
          "most_places",
          frame, milliseconds(found.beyond()));
    case NoTransform::TooNew:
      return fmt::format("the newest place of '{}' is {} before the stamp — wait() waits for it", frame,
                         milliseconds(found.beyond()));
    case NoTransform::Loop:
      return fmt::format("the frames above '{}' form a circle at this time", frame);
    default:
      return "the Transforms was never set — Context::transforms() makes it, in on_start()";
  }
}

FrameIndex TransformStore::frame(std::string_view name) {
  FrameIndex index = sides_.mine().find(name);
  if (index != kNoFrame || frames_.size() >= kMostFrames) return index;
  sides_.write([&](FrameTable& table) noexcept { index = table.add(name); });
  frames_.emplace_back();
  return index;
}

void TransformStore::note(Kind kind, std::string_view frame, const std::string& text) {
  for (TransformProblem& known : problems_)
    if (known.kind == kind && known.frame == frame) {
      ++known.count;
      known.text = text;
      return;
    }
  if (problems_.size() >= kMostProblems) return;
  problems_.push_back({.kind = kind, .frame = std::string(frame), .text = text, .count = 1});
  if (options_.log_problems) to_log_.push_back("transforms: " + text);
}

bool TransformStore::accept(const TransformStamped& one, bool is_static, const TransformSource& source,
                            Accepted& into) {
  std::string_view parent = one.header.frame_id.view(), child = one.child_frame_id.view();
  if (parent.starts_with('/')) parent.remove_prefix(1);  // as tf2: such names are from ROS's old days
  if (child.starts_with('/')) child.remove_prefix(1);
  const auto refuse = [&](Kind kind, const char* why) {
    note(kind, child,
         fmt::format("{} publishes frame '{}' in '{}' {}", source.text(), printable(child), printable(parent), why));
    return false;
  };
  if (parent.empty() || child.empty()) return refuse(Kind::NoName, "with an empty name — it is refused");
  if (parent == child) return refuse(Kind::OwnParent, "as its own parent — it is refused");
  if (!is_finite(one.transform) || !is_near(one.transform) || one.header.stamp < 0 || one.header.stamp > kMostStamp)
    return refuse(Kind::NotFinite, "with NaN, infinity, more than 10¹⁵ m or an impossible stamp — it is refused");
  if (!is_rotation(one.transform.rotation))
    return refuse(Kind::NotARotation, "with a quaternion that is not of length 1 — it is refused; normalize it");
  const FrameIndex in = frame(parent);
  const FrameIndex index = in == kNoFrame ? kNoFrame : frame(child);
  if (index == kNoFrame) return refuse(Kind::TooManyFrames, "but there are 1,024 frames already — it is refused");
  into = {.child = index,
          .place = {.stamp = is_static ? 0 : one.header.stamp, .transform = one.transform, .parent = in}};
  return true;
}

/// Two programs that publish one frame: at once if it is static, else when the first one comes again, because a program
/// that was started again is another publisher, too.
void TransformStore::compare_publishers(FrameIndex child, const Place& place, bool is_static,
                                        const TransformSource& source) {
  Frame& known = frames_[child];
  const FrameTable::Frame& frame = sides_.mine().at(child);
  const bool first = frame.places.empty();
  if (!first && frame.is_static != is_static)
    note(Kind::StaticAndMoving, frame.name,
         fmt::format("frame '{}' is published on /tf and on /tf_static: by {}, and by {} — end one of them",
                     printable(frame.name), known.publisher, source.text()));
  if (known.stream == source.stream) return;
  const auto& before = known.streams_before;
  const bool comes_again = std::find(before.begin(), before.end(), source.stream) != before.end();
  if (!first && (is_static || comes_again)) {
    if (frame.parent != place.parent)
      note(Kind::TwoParents, frame.name,
           fmt::format("frame '{}' has two parents: '{}' by {}, and '{}' by {} — end one of them",
                       printable(frame.name), printable(sides_.mine().at(frame.parent).name), known.publisher,
                       printable(sides_.mine().at(place.parent).name), source.text()));
    else if (!is_static || frame.places.newest().transform != place.transform)
      note(Kind::TwoPublishers, frame.name,
           fmt::format("frame '{}' in '{}' is published twice: by {}, and by {} — end one of them{}",
                       printable(frame.name), printable(sides_.mine().at(frame.parent).name), known.publisher,
                       source.text(), is_static ? ", unless the first one has ended" : ""));
  }
}

void TransformStore::accepted_from(Frame& frame, const TransformSource& source) {
  if (frame.stream == source.stream) return;
  std::rotate(frame.streams_before.rbegin(), frame.streams_before.rbegin() + 1, frame.streams_before.rend());
  frame.streams_before[0] = std::exchange(frame.stream, source.stream);
  frame.publisher = source.text();
}

void TransformStore::take_locked(const TransformMessage& message, bool is_static, const TransformSource& source) {
  accepted_.clear();
  accepted_.reserve(message.transforms.size());
  for (const TransformStamped& shared : message.transforms) {
    const TransformStamped one = shared;  // a publisher that errs could change it between check and use
    Accepted place{};
    if (!accept(one, is_static, source, place)) continue;
    compare_publishers(place.child, place.place, is_static, source);
    accepted_.push_back(place);
  }
  put_.resize(accepted_.size());
  sides_.write([&](FrameTable& table) {
    for (std::size_t i = 0; i < accepted_.size(); ++i)
      put_[i] =
          table.put(accepted_[i].child, accepted_[i].place, is_static, options_.history.count(), options_.most_places);
  });
  const std::int64_t now = steady_now();
  for (std::size_t i = 0; i < accepted_.size(); ++i) {
    const auto& [child, place] = accepted_[i];
    const std::string_view name = sides_.mine().at(child).name;
    Frame& known = frames_[child];
    switch (put_[i]) {
      case FrameTable::Put::Accepted:
        accepted_from(known, source);
        known.first_arrival = known.received++ == 0 ? now : known.first_arrival;
        known.last_arrival = now;
        break;
      case FrameTable::Put::Late:
        note(Kind::Late, name,
             fmt::format("{} publishes a place of '{}' that is older than all that are kept — it is refused; "
                         "if the clock was set back or a recording began again, call clear()",
                         source.text(), printable(name)));
        break;
      case FrameTable::Put::Loop:
        note(Kind::Loop, name,
             fmt::format("'{}' in '{}' would close a circle of frames: {} publishes it, '{}' is placed by {} — "
                         "it is refused",
                         printable(name), printable(sides_.mine().at(place.parent).name), source.text(),
                         printable(sides_.mine().at(place.parent).name), frames_[place.parent].publisher));
        break;
      case FrameTable::Put::Known:
        break;
    }
  }
}

void TransformStore::take(const TransformMessage& message, bool is_static, const TransformSource& source) noexcept {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    try {
      take_locked(message, is_static, source);
    } catch (const std::exception&) {  // no memory: the two sides may differ now
      sides_.write([](FrameTable& table) noexcept { table.clear(false); });
      try {
        note(Kind::NoMemory, {}, "there was no memory for a place — all places were dropped");
      } catch (const std::exception&) {  // nor for saying it
      }
    }
    lines.swap(to_log_);
  }
  arrived_.notify_all();
  for (const std::string& line : lines) detail::log(LogLevel::Warning, line);
}

void TransformStore::take(SampleBlock* sample, bool is_static) noexcept {
  const Stream* stream = sample->stream;
  take(*static_cast<const TransformMessage*>(sample->message), is_static,
       {.stream = sample->stream_id,
        .program = stream != nullptr ? std::string_view(stream->peer_name()) : std::string_view(),
        .pid = stream != nullptr ? stream->peer_pid() : 0});
  drop(sample);
}

void TransformStore::clear() {
  const std::lock_guard lock(mutex_);
  sides_.write([](FrameTable& table) noexcept { table.clear(true); });
}

std::vector<FrameReport> TransformStore::frames() const {
  const std::lock_guard lock(mutex_);
  const FrameTable& table = sides_.mine();
  std::vector<FrameReport> all;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FrameTable::Frame& frame = table.at(static_cast<FrameIndex>(i));
    FrameReport& report = all.emplace_back();
    report.name = std::string(frame.name.view());
    report.received = frames_[i].received;
    report.first_arrival = frames_[i].first_arrival;
    report.last_arrival = frames_[i].last_arrival;
    report.publisher = frames_[i].publisher;
    if (frame.places.empty()) continue;
    report.parent = std::string(table.at(frame.parent).name.view());
    report.is_static = frame.is_static;
    report.place = frame.places.newest().transform;
    report.newest_stamp = frame.places.newest().stamp;
    report.oldest_stamp = frame.places.oldest().stamp;
  }
  std::sort(all.begin(), all.end(), [](const FrameReport& a, const FrameReport& b) { return a.name < b.name; });
  return all;
}

std::vector<TransformProblem> TransformStore::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace cardan::detail
