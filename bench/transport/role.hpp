// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>

#include "bench/transport/area.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/pattern.hpp"

namespace cardan::bench {

/// The publishing side of a peer. Templates, not virtual calls: nothing of the harness lies between the stamps.
template <class W>
concept FrameWriter = requires(W& w, std::uint64_t n) {
  { w.loan(n) } -> std::same_as<std::span<std::uint64_t>>;  ///< memory for frame n; empty: none to be had
  { w.publish(n) };
};

/// The reading side of a peer.
template <class R>
concept FrameReader = requires(R& r) {
  { r.next() } -> std::same_as<std::span<const std::uint64_t>>;  ///< waits as the peer does; empty: it has ended
  { r.release() };                                               ///< the frame has been read
};

/// A peer that can be told shortly before a fill ends that a frame is coming.
template <class W>
concept SoonWriter = requires(W& w) { w.soon(); };

/// Bytes left to fill when a peer is told that a frame is coming soon: about 100 µs of filling, twice a wake-up.
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
    // Who is late skips beats as a camera does: no burst afterwards.
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

/// Reads and checks every frame until each publisher has sent a beat after its last frame.
template <FrameReader Reader>
void read_frames(const Area& area, std::uint32_t reader, Reader& in) {
  const Cell& cell = area.header().cell;
  RoleSlot& slot = area.role(area.publishers() + reader);
  std::array<bool, kMostRoles> ended{};
  std::uint32_t ended_count = 0;
  bool opened = false;
  bool closed = false;
  Window window;

  if (!area.arrive_and_wait()) return;
  while (ended_count < area.publishers()) {
    const auto words = in.next();
    const std::int64_t in_hand = now_ns();
    if (words.empty()) break;
    const CheckedFrame frame = check_frame(words);
    const std::int64_t read = now_ns();
    in.release();

    const std::uint64_t n = frame.id.number;
    const std::uint32_t publisher = frame.id.publisher;
    if (!frame.intact || publisher >= area.publishers() || n == 0) {
      if (opened && !closed) ++slot.torn;
      continue;
    }
    if (n > cell.frames) {
      if (!closed && opened) window.close_into(slot);
      closed = true;
      if (!ended[publisher]) ++ended_count;
      ended[publisher] = true;
      continue;
    }
    Stamps& stamp = area.received(reader, publisher)[n];
    if (stamp.first != 0) continue;  // an unprotected peer may hand out a frame twice
    stamp = {in_hand, read, 0};
    if (n > cell.warmup && opened && !closed) {
      ++slot.messages;
      slot.reading_ns += read - in_hand;
    }
    if (n >= cell.warmup && !opened) {
      opened = true;
      window = {};
    }
    if (n == cell.frames && !closed) {
      window.close_into(slot);
      closed = true;
    }
  }
  area.header().readers_done.fetch_add(1, std::memory_order_release);
}

/// Plays the role that the harness started this process for; returns the exit code.
int play_role(int area_fd, std::uint32_t index);

}  // namespace cardan::bench
