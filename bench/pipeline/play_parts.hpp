// SPDX-License-Identifier: Apache-2.0
// The common part of the stages of all pipelines: take a message, work, write the result into the memory of the next
// links, publish. A stage that reads closes its end when it has seen a frame after the last one; a publisher repeats
// such frames until all readers have seen one. So all end by the path that is measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/pipeline/messages.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/peers/link.hpp"
#include "cardan/error.hpp"

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

/// A publishing end of a stage.
class StageOut {
 public:
  StageOut(const Area& link, std::uint32_t publisher)
      : link_(&link),
        stamps_(link.published(publisher)),
        frames_(link.header().cell.frames),
        out_(kind_of_link(link).links.writer(link, publisher)) {}

  /// Publishes what `write(room)` writes; that has a stamp if it is a frame. `before`: is called with the stamp just
  /// before the publication. False: the link has no memory, or the message does not fit.
  template <class Write, class Before>
  bool publish(std::uint64_t n, Write write, Before before) noexcept {
    const std::int64_t asked = now_ns();
    const Room room = out_->loan(n);
    if (room.empty() || !write(room)) return false;
    sign(room, n);
    now_ns();  // the clock's own pages are fetched here, and not between the stamp and the publication
    const std::int64_t ready = now_ns();
    // The reader may have it before publish() returns: its stamps are in other places.
    if (n <= frames_) stamps_[static_cast<std::size_t>(n)] = {asked, ready, 0};
    before(ready);
    out_->publish(n);
    return true;
  }
  [[nodiscard]] bool all_ended() const noexcept { return all_readers_ended(*link_); }

 private:
  const Area* link_;
  std::span<Stamps> stamps_;
  std::uint32_t frames_;
  std::unique_ptr<LinkWriter> out_;
};

/// Reads a link until its sink has enough, and closes the end, so that no publisher waits for it.
inline void read_and_close(const Area& link, std::unique_ptr<LinkReader> reader) {
  reader->read();
  reader.reset();
  link.header().readers_done.fetch_add(1, std::memory_order_release);
}

/// A stage's work for a message.
class Work {
 public:
  virtual ~Work() = default;
  /// Must bear any words: those of a peer without protection may change meanwhile. False: they hold no message.
  virtual bool take(Words words, std::uint64_t number) = 0;
  /// Writes the result of the last take(). False: it does not fit.
  virtual bool write(Room room) = 0;
  /// Writes an empty message.
  virtual bool write_empty(Room room) = 0;
  /// Of the last take().
  [[nodiscard]] virtual std::uint64_t found() const = 0;
};
/// Work whose result is one T.
template <class T>
class WorkFor : public Work {
 public:
  explicit WorkFor(const T& empty = {}) : result_(empty), empty_(empty) {}
  bool write(Room room) final { return put(room, result_) != nullptr; }
  bool write_empty(Room room) final { return put(room, empty_) != nullptr; }

 protected:
  T result_;
  const T empty_;
};

/// A stage with one input. It takes messages on whatever thread its peer delivers them.
class WorkingStage final : public FrameSink {
 public:
  WorkingStage(const Area& stages, const Chain& chain, const std::vector<Area>& links, std::uint32_t role, Work& work)
      : frames_(stages.header().cell.frames),
        slot_(stages.role(role)),
        in_(links[chain.input_of(role)->link]),
        received_(in_.received(chain.input_of(role)->place, 0)),
        window_(stages, slot_),
        work_(work) {
    // All stages open their ends in the order of the links, so that none waits for one that waits for it.
    reader_ = kind_of_link(in_).links.reader(in_, in_.publishers() + chain.input_of(role)->place, *this);
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto& publishers = chain.links[i].publishers;
      if (const auto found = std::find(publishers.begin(), publishers.end(), role); found != publishers.end())
        outs_.emplace_back(links[i], static_cast<std::uint32_t>(found - publishers.begin()));
    }
    if (outs_.empty()) end_ = stamps_of_end(stages);
  }

  /// Plays until the last frame has gone through. Throws cardan::Error. Blocks.
  void play() {
    read_and_close(in_, std::move(reader_));
    send_ends();
    if (!failure_.empty()) throw Error(ErrorCode::System, failure_, "give another input or detector, or leave it out");
  }

  bool take(Words words, std::int64_t in_hand) noexcept override {
    const std::uint64_t n = number_of(words);
    if (!is_intact(words, n)) {
      ++slot_.torn;
      return true;
    }
    if (n > frames_) {
      window_.close();
      return false;
    }
    Stamps& stamp = received_[static_cast<std::size_t>(n)];
    if (stamp.first != 0) return true;  // an unprotected peer may hand out a frame twice
    const bool measured = window_.open_for(n);
    try {
      const bool is_message = work_.take(words, n);
      if (!is_message || !is_intact(words, n)) {  // its result is of two messages
        if (measured) ++slot_.torn;
        return true;
      }
    } catch (const std::exception& e) {
      failure_ = e.what();
      return false;
    }
    stamp = {in_hand, now_ns(), 0};
    if (!end_.empty()) end_[static_cast<std::size_t>(n)] = stamp;
    for (StageOut& out : outs_) {
      const auto before = [&](std::int64_t ready) {
        if (&out == &outs_.front()) stamp.second = ready;
      };
      if (!out.publish(n, [&](Room room) { return work_.write(room); }, before)) ++slot_.refused;
    }
    if (measured) window_.add(work_.found());
    return true;
  }

 private:
  // Empty messages with numbers after the last until their readers have seen one.
  void send_ends() {
    const std::int64_t give_up = now_ns() + kEndLimitNs;
    for (std::uint64_t n = std::uint64_t{frames_} + 1; now_ns() < give_up; ++n) {
      std::erase_if(outs_, [](const StageOut& out) { return out.all_ended(); });
      if (outs_.empty()) return;
      for (StageOut& out : outs_)
        out.publish(n, [&](Room room) { return work_.write_empty(room); }, [](std::int64_t) {});
      sleep_until(now_ns() + kEndPauseNs);
    }
  }

  std::uint32_t frames_;
  RoleSlot& slot_;
  const Area& in_;
  std::span<Stamps> received_, end_;
  StageWindow window_;
  Work& work_;
  std::unique_ptr<LinkReader> reader_;
  std::vector<StageOut> outs_;
  std::string failure_;
};

/// The first stage: a message at each beat, and after the last one empty ones. `fill(room, n)` writes a message, which
/// is empty if n is beyond the last; false: the memory does not do.
template <class Fill>
void play_source(const Area& stages, const Area& link, Fill fill) {
  const Cell& cell = stages.header().cell;
  RoleSlot& slot = stages.role(0);
  const auto period = static_cast<std::int64_t>(1e9 / cell.rate_hz);
  StageOut out(link, 0);
  StageWindow window(stages, slot);
  const auto publish = [&](std::uint64_t n) {
    if (!out.publish(n, [&](Room room) { return fill(room, n); }, [](std::int64_t) {}) && n <= cell.frames)
      ++slot.refused;
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
  for (std::uint64_t n = std::uint64_t{cell.frames} + 1; now_ns() < give_up && !out.all_ended(); ++n) {
    publish(n);
    next_beat();  // as slowly as before: a stage may still work on the last one
  }
}

}  // namespace cardan::bench::perception
