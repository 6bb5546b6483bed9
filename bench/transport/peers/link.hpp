// SPDX-License-Identifier: Apache-2.0
// A peer's ends for a graph of processes, where one process reads from one link and writes to another
// (bench/pipeline). Each link has its own Area. The calls are virtual: a stage of a graph computes for
// milliseconds, and a virtual call takes nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {

/// The publishing end of a link. Not thread safe.
class LinkWriter {
 public:
  virtual ~LinkWriter() = default;
  /// Memory for frame `n`; empty: none is left, and the frame is lost.
  virtual std::span<std::uint64_t> loan(std::uint64_t n) noexcept = 0;
  /// May block for slow readers, if the peer does.
  virtual void publish(std::uint64_t n) noexcept = 0;
};

/// The receiver of a link's frames.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// `words` are valid until it returns; `in_hand`: now_ns() in the first statement after the receipt. One call at a
  /// time, on whatever thread the peer has for it. False: it wants no more.
  virtual bool take(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept = 0;
};

/// The reading end of a link. It has met its publishers when it is made.
class LinkReader {
 public:
  virtual ~LinkReader() = default;
  /// Hands frames to the sink until that wants no more, or all publishers have gone. Blocks as the peer does.
  virtual void read() = 0;
};

/// For peers whose reader is a FrameReader: the sink is called on the thread that reads.
template <FrameReader Reader>
class PulledLink final : public LinkReader {
 public:
  PulledLink(const Area& area, std::uint32_t index, FrameSink& sink) : in_(area, index), sink_(sink) {}
  void read() override {
    for (bool more = true; more;) {
      const auto words = in_.next();
      const std::int64_t in_hand = now_ns();
      if (words.empty()) return;
      more = sink_.take(words, in_hand);
      in_.release();
    }
  }

 private:
  Reader in_;
  FrameSink& sink_;
};

/// For peers that deliver on their own thread: the sink is called there, and read() only waits.
class LinkDelivery {
 public:
  explicit LinkDelivery(FrameSink& sink) noexcept : sink_(sink) {}
  void deliver(std::span<const std::uint64_t> words, std::int64_t in_hand) noexcept {
    if (ended_.load(std::memory_order_relaxed) || sink_.take(words, in_hand)) return;
    ended_.store(true, std::memory_order_release);
    ended_.notify_one();
  }
  void wait() const noexcept { ended_.wait(false, std::memory_order_acquire); }

 private:
  FrameSink& sink_;
  std::atomic<bool> ended_{false};
};

template <FrameWriter Writer>
class LinkWriterOf final : public LinkWriter {
 public:
  LinkWriterOf(const Area& area, std::uint32_t index) : out_(area, index) {}
  std::span<std::uint64_t> loan(std::uint64_t n) noexcept override { return out_.loan(n); }
  void publish(std::uint64_t n) noexcept override { out_.publish(n); }

 private:
  Writer out_;
};

/// The ends of a peer. They throw cardan::Error if the others of the link are not there in time. `index`: the role of
/// the end in its link's area, publishers first.
template <class Writer>
std::unique_ptr<LinkWriter> open_writer(const Area& area, std::uint32_t index) {
  return std::make_unique<LinkWriterOf<Writer>>(area, index);
}
template <class Reader>
std::unique_ptr<LinkReader> open_pulled(const Area& area, std::uint32_t index, FrameSink& sink) {
  return std::make_unique<PulledLink<Reader>>(area, index, sink);
}
template <class Writer, class Reader>
constexpr LinkEnds links_with() {
  return {open_writer<Writer>, open_pulled<Reader>};
}

/// The same for a peer that delivers frames on its own thread: its Reader<Receiver>, made of the area, calls
/// deliver() of the receiver for each.
template <template <class> class Reader>
class DeliveredLink final : public LinkReader {
 public:
  DeliveredLink(const Area& area, FrameSink& sink) : delivery_(sink), in_(area, delivery_) {}
  void read() override { delivery_.wait(); }

 private:
  LinkDelivery delivery_;
  Reader<LinkDelivery> in_;
};
template <template <class> class Reader>
std::unique_ptr<LinkReader> open_delivered(const Area& area, std::uint32_t /*index*/, FrameSink& sink) {
  return std::make_unique<DeliveredLink<Reader>>(area, sink);
}
template <FrameWriter Writer, template <class> class Reader>
void play_delivered(const Area& area, std::uint32_t index) {
  if (index < area.publishers()) {
    Writer out(area, index);
    publish_frames(area, index, out);
  } else {
    DeliveredFrames frames(area, index - area.publishers());
    const Reader<DeliveredFrames> in(area, frames);
    frames.read();
  }
}

}  // namespace cardan::bench
