// SPDX-License-Identifier: Apache-2.0
// The common part of the stages of all pipelines. A stage that reads closes its end when it has seen a frame after the
// last one; a publisher repeats such frames until all readers have seen one. So all end by the path that is measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "bench/transport/area.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/peers/link.hpp"

namespace cardan::bench::perception {

inline constexpr std::int64_t kEndLimitNs = 10'000'000'000;  // for the others to see that the source has ended
inline constexpr std::int64_t kEndPauseNs = 10'000'000;

inline const PeerKind& kind_of_link(const Area& link) { return kind_of(link.header().contender.peer); }

inline bool all_readers_ended(const Area& link) noexcept {
  return link.header().readers_done.load(std::memory_order_acquire) >= link.subscribers();
}

/// The CPU and the frames of a stage in the measured part of the run.
class StageWindow {
 public:
  explicit StageWindow(const Area& stages, RoleSlot& slot) : cell_(stages.header().cell), slot_(slot) {}
  /// At the beginning of frame `n`. True: it is measured.
  bool open_for(std::uint64_t n) noexcept {
    if (!opened_ && n > cell_.warmup) {
      opened_ = true;
      window_ = {};
    }
    return opened_ && n <= cell_.frames;
  }
  void add(std::uint64_t found) noexcept {
    ++slot_.messages;
    slot_.found += found;
  }
  void close() noexcept {
    if (opened_) window_.close_into(slot_);
  }

 private:
  Cell cell_;
  RoleSlot& slot_;
  bool opened_ = false;
  Window window_;
};

/// Reads a link until its sink has enough, and closes the end, so that no publisher waits for it.
inline void read_and_close(const Area& link, std::unique_ptr<LinkReader> reader) {
  reader->read();
  reader.reset();
  link.header().readers_done.fetch_add(1, std::memory_order_release);
}

/// The first stage: a message at each beat, and after the last one empty ones. `fill(words, n)` writes a whole message,
/// which is empty if n is beyond the last; false: the memory does not do.
template <class Fill>
void play_source(const Area& stages, const Area& link, Fill fill) {
  const Cell& cell = stages.header().cell;
  RoleSlot& slot = stages.role(0);
  const auto stamps = link.published(0);
  const auto period = static_cast<std::int64_t>(1e9 / cell.rate_hz);
  const auto out = kind_of_link(link).links.writer(link, 0);
  StageWindow window(stages, slot);
  const auto publish = [&](std::uint64_t n) {
    const std::int64_t before_filling = now_ns();
    const auto words = out->loan(n);
    if (!fill(words, n)) {
      if (n <= cell.frames) ++slot.refused;
      return;
    }
    now_ns();  // the clock's own pages are fetched here, and not between the stamp and the publication
    if (n <= cell.frames) stamps[static_cast<std::size_t>(n)] = {before_filling, now_ns(), 0};
    out->publish(n);
  };

  if (!stages.arrive_and_wait()) return;
  std::int64_t beat = stages.header().start_ns.load();
  const auto next_beat = [&] {
    beat += period;  // a late one skips beats, as a sensor does
    if (const std::int64_t now = now_ns(); now > beat) beat += (now - beat) / period * period;
    sleep_until(beat);
  };
  sleep_until(beat);
  for (std::uint64_t n = 1; n <= cell.frames; ++n) {
    if (window.open_for(n)) window.add(0);
    publish(n);
    next_beat();
  }
  window.close();
  const std::int64_t give_up = now_ns() + std::max(kEndLimitNs, 10 * period);
  for (std::uint64_t n = std::uint64_t{cell.frames} + 1; now_ns() < give_up; ++n) {
    if (all_readers_ended(link)) return;
    publish(n);
    next_beat();  // as slowly as before: a stage may still work on the last one
  }
}

}  // namespace cardan::bench::perception
