// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "bench/transport/area.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/pattern.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {

/// The publishing side of a peer. Templates, not virtual calls: no code of the harness runs between the stamps.
template <class W>
concept FrameWriter = requires(W& w, std::uint64_t n) {
  { w.loan(n) } -> std::same_as<std::span<std::uint64_t>>;  ///< memory for frame n; empty: none is left
  { w.publish(n) };
};

/// The reading side of a peer.
template <class R>
concept FrameReader = requires(R& r) {
  { r.next() } -> std::same_as<std::span<const std::uint64_t>>;  ///< waits as the peer does; empty: it has ended
  { r.release() };                                               ///< the frame has been read
};

/// A peer that takes an announcement of a frame, shortly before its fill ends.
template <class W>
concept SoonWriter = requires(W& w) { w.soon(); };

/// Bytes left to fill when a frame is announced to a peer: about 100 µs of filling, twice a wake-up.
inline constexpr std::size_t kSoonBytes = 512 * 1024;

template <FrameWriter Writer>
void fill(Writer& out, Wait wait, std::span<std::uint64_t> words, FrameId id) noexcept {
  if constexpr (SoonWriter<Writer>) {
    if (wait == Wait::Soon) {
      const std::size_t rest = std::min(words.size(), kSoonBytes / sizeof(std::uint64_t));
      fill_frame(words.first(words.size() - rest), id);
      out.soon();
      fill_frame_from(words, words.size() - rest, id);
      return;
    }
  }
  fill_frame(words, id);
}

/// Waits, at set-up, until this role has met the others; that is not part of what is measured. Throws cardan::Error:
/// `what` has not happened within 10 s.
template <class Condition>
void wait_until(const char* what, Condition condition) {
  constexpr std::int64_t kSetUpLimit = 10'000'000'000;
  const std::int64_t give_up = now_ns() + kSetUpLimit;
  while (!condition()) {
    if (now_ns() > give_up)
      throw Error(ErrorCode::Unavailable, std::string(what) + " within 10 s",
                  "try `cardan doctor`, or leave the peer out of --peers");
    sleep_until(now_ns() + 1'000'000);
  }
}
inline constexpr const char* kNoReaders = "not all readers attached";
inline constexpr const char* kNoPublishers = "not all publishers were found";

/// CPU and wall time since a point of a run.
struct Window {
  std::int64_t cpu = process_cpu_ns();
  std::int64_t wall = now_ns();

  void close_into(RoleSlot& slot) const noexcept {
    slot.cpu_ns = process_cpu_ns() - cpu;
    slot.wall_ns = now_ns() - wall;
  }
};

/// Publishes the cell's frames at their beats, then empty beats of the same kind until every reader has seen one: so
/// the readers end by the very path that is measured, and need no time-out on it.
template <FrameWriter Writer>
void publish_frames(const Area& area, std::uint32_t publisher, Writer& out) {
  const Cell& cell = area.header().cell;
  RoleSlot& slot = area.role(publisher);
  const auto stamps = area.published(publisher);
  const auto period = static_cast<std::int64_t>(1e9 / cell.rate_hz);
  // A spinning reader is measured against a publisher that is awake too: otherwise its figure is that of a cold core.
  const bool awake = area.header().contender.wait == Wait::Spin;

  if (!area.arrive_and_wait()) return;
  // Several publishers take turns within the period, as sensors with their own clocks do.
  std::int64_t beat = area.header().start_ns.load() + period * publisher / area.publishers();
  Window window;
  for (std::uint64_t n = 1; n <= cell.frames; ++n) {
    awake ? spin_until(beat) : sleep_until(beat);
    const std::int64_t before_filling = now_ns();
    const auto words = out.loan(n);
    if (words.empty()) {
      ++slot.refused;
    } else {
      const std::int64_t loaned = now_ns();
      fill(out, area.header().contender.wait, words, {.publisher = publisher, .number = n});
      now_ns();  // after a big fill the clock's own pages have to be fetched first: the bench's cost, not the
                 // transport's
      const std::int64_t before_publish = now_ns();
      out.publish(n);
      const std::int64_t handing = (loaned - before_filling) + (now_ns() - before_publish);
      stamps[n] = {before_filling, before_publish, handing};
      if (n > cell.warmup) ++slot.messages;
    }
    if (n == cell.warmup) window = {};
    // A late publisher skips beats as a camera does: no burst afterwards.
    beat += period;
    if (const std::int64_t now = now_ns(); now > beat) beat += (now - beat) / period * period;
  }
  window.close_into(slot);

  // The last frame gets the time that every frame had before the next one may replace it.
  sleep_until(beat);
  const std::int64_t give_up = now_ns() + 5'000'000'000;
  const std::int64_t pause = std::clamp<std::int64_t>(period, 2'000'000, 10'000'000);
  for (std::uint64_t n = cell.frames + 1; now_ns() < give_up; ++n) {
    if (area.header().readers_done.load(std::memory_order_acquire) >= area.subscribers()) return;
    if (const auto words = out.loan(n); !words.empty()) {
      fill_frame(words, {.publisher = publisher, .number = n});
      out.publish(n);
    }
    sleep_until(now_ns() + pause);
  }
}

/// Reads and checks the frames of one reader, on whatever thread its peer delivers them.
/// Not thread safe: one frame after the other.
class FrameChecker {
 public:
  FrameChecker(const Area& area, std::uint32_t reader) noexcept
      : area_(area),
        slot_(area.role(area.publishers() + reader)),
        reader_(reader),
        work_ns_(static_cast<std::int64_t>(area.header().cell.conditions.work_ms * 1e6)) {}

  /// Reads every byte of a frame, and works for as long as the cell says. `in_hand`: now_ns() in the first statement
  /// after its receipt.
  void check(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept {
    in_hand_ = in_hand;
    frame_ = check_frame(words);
    read_ = now_ns();
    done_ = read_;
    if (work_ns_ == 0 || frame_.id.number > area_.header().cell.frames) return;
    compute_for(work_ns_);
    done_ = now_ns();
  }
  /// Notes the frame of the last check(). The peer may have the frame's memory back before.
  void note() noexcept;
  /// Whether each publisher has sent a beat after its last frame.
  [[nodiscard]] bool all_ended() const noexcept { return ended_count_ == area_.publishers(); }

 private:
  const Area& area_;
  RoleSlot& slot_;
  std::uint32_t reader_;
  CheckedFrame frame_{};
  std::int64_t work_ns_;
  std::int64_t in_hand_ = 0, read_ = 0, done_ = 0;
  std::array<bool, kMostRoles> ended_{};
  std::uint32_t ended_count_ = 0;
  bool opened_ = false, closed_ = false;
  Window window_;
};

/// Reads and checks every frame until each publisher has sent a beat after its last frame.
template <FrameReader Reader>
void read_frames(const Area& area, std::uint32_t reader, Reader& in) {
  FrameChecker checker(area, reader);
  if (!area.arrive_and_wait()) return;
  while (!checker.all_ended()) {
    const auto words = in.next();
    const std::int64_t in_hand = now_ns();
    if (words.empty()) break;
    checker.check(words, in_hand);
    in.release();
    checker.note();
  }
  area.header().readers_done.fetch_add(1, std::memory_order_release);
}

/// Plays a role of a peer whose writer and reader are made of the area.
template <FrameWriter Writer, FrameReader Reader>
void play_with(const Area& area, std::uint32_t index) {
  if (index < area.publishers()) {
    Writer out(area, index);
    publish_frames(area, index, out);
  } else {
    Reader in(area, index);
    read_frames(area, index - area.publishers(), in);
  }
}

/// The same for a peer that delivers frames on its own thread. It calls deliver() for each, and the thread that
/// plays the role waits in read(). So no wake-up of a second thread comes between receipt and stamp.
class DeliveredFrames {
 public:
  DeliveredFrames(const Area& area, std::uint32_t reader) noexcept : area_(area), checker_(area, reader) {}
  void deliver(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept {
    checker_.check(words, in_hand);
    checker_.note();
    if (checker_.all_ended()) {
      ended_.store(true, std::memory_order_release);
      ended_.notify_one();
    }
  }
  void read() noexcept;

 private:
  const Area& area_;
  FrameChecker checker_;
  std::atomic<bool> ended_{false};
};

/// Plays the role that the harness started this process for; returns the exit code.
int play_role(int area_fd, std::uint32_t index);

}  // namespace cardan::bench
