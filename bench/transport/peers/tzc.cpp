// SPDX-License-Identifier: Apache-2.0
// `tzc`: the mechanism of "TZC: Efficient Inter-Process Communication for Robotics Middleware with Partial
// Serialization", in our words: the payload lies in shared memory, and a small descriptor goes to each reader over a
// Unix socket. A count in the slot says how many readers still use it. It has no protection: a reader may write
// everywhere, and one that ends while it holds a slot keeps it for ever.
#include <array>
#include <atomic>
#include <new>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/peers/streams.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {
namespace {

/// Of each publisher: one being filled, one on the way, and two that slow readers hold.
constexpr std::uint32_t kSlots = 4;

struct Slot {
  alignas(64) std::atomic<std::uint32_t> readers{0};  ///< that have not released it
};

/// The message on the socket.
struct Descriptor {
  std::uint32_t publisher = 0;
  std::uint32_t slot = 0;
};

struct Segment {
  explicit Segment(const Area& area)
      : bytes(area.header().cell.bytes), mapping(area.role(0).descriptors[0], size(area.header().cell)) {}

  static std::size_t slots_size(const Cell& cell) { return round_up(sizeof(Slot) * kSlots * cell.scenario.publishers); }
  static std::size_t size(const Cell& cell) {
    return slots_size(cell) + std::size_t{cell.scenario.publishers} * kSlots * round_up(cell.bytes);
  }

  [[nodiscard]] Slot& slot(Descriptor at) const {
    return std::launder(reinterpret_cast<Slot*>(mapping.data()))[at.publisher * kSlots + at.slot];
  }
  [[nodiscard]] std::span<std::uint64_t> words(const Cell& cell, Descriptor at) const {
    std::byte* const data =
        mapping.data() + slots_size(cell) + (std::size_t{at.publisher} * kSlots + at.slot) * round_up(bytes);
    return {reinterpret_cast<std::uint64_t*>(data), bytes / sizeof(std::uint64_t)};
  }

  std::size_t bytes;
  Mapping mapping;
};

class TzcWriter {
 public:
  TzcWriter(const Area& area, std::uint32_t publisher)
      : cell_(area.header().cell), segment_(area), out_(area.role(publisher), 1), next_{.publisher = publisher} {}

  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      if (segment_.slot(next_).readers.load(std::memory_order_acquire) == 0) return segment_.words(cell_, next_);
      next_.slot = (next_.slot + 1) % kSlots;
    }
    return {};
  }
  void publish(std::uint64_t) noexcept {
    segment_.slot(next_).readers.store(cell_.scenario.subscribers, std::memory_order_relaxed);
    out_.send(std::as_bytes(std::span(&next_, 1)));
    next_.slot = (next_.slot + 1) % kSlots;
  }

 private:
  Cell cell_;
  Segment segment_;
  StreamsOut out_;
  Descriptor next_;
};

class TzcReader {
 public:
  TzcReader(const Area& area, std::uint32_t index)
      : cell_(area.header().cell), segment_(area), in_(area.role(index), 1) {}

  std::span<const std::uint64_t> next() noexcept {
    if (!in_.receive(std::as_writable_bytes(std::span(&held_, 1)))) return {};
    return segment_.words(cell_, held_);
  }
  void release() noexcept { segment_.slot(held_).readers.fetch_sub(1, std::memory_order_release); }

 private:
  Cell cell_;
  Segment segment_;
  StreamsIn in_;
  Descriptor held_;
};

Wiring wire_tzc(const Cell& cell) {
  Wiring wiring = wire_streams(cell, Stream::Unix);
  wiring.shared.push_back(make_memory("cardan-bench-tzc", Segment::size(cell)));
  const Mapping mapping(wiring.shared.front().get(), Segment::size(cell));
  new (mapping.data()) Slot[std::size_t{kSlots} * cell.scenario.publishers]{};
  return wiring;
}

const RegisteredPeer kTzc({.peer = Peer{"tzc"},
                           .place = 45,
                           .waits = block_only,
                           .wire = wire_tzc,
                           .play = play_with<TzcWriter, TzcReader>,
                           .links = links_with<TzcWriter, TzcReader>()});

}  // namespace
}  // namespace cardan::bench
