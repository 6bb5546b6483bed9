// SPDX-License-Identifier: Apache-2.0
// `sim`: the double buffer of "A Faster and More Reliable Middleware for Autonomous Driving Systems" (SIM) §III-C as it
// is printed. The application fills its own frame; the write copies it into the back buffer, sets length, frame number
// and time stamp, and flips the index with release; the reader loads the index with acquire, compares the frame number
// with its last one and copies out. A writer that flips twice during a reader's copy tears it: that is the paper's
// hole, and this peer is here to show it. One writer per region (the paper's scope): several publishers are several
// regions.
//
// Waiting: the paper polls and gives no interval; the authors' published example readers sleep 100 µs after each look
// (github.com/Croquembouche/DAVOS_SIM, examples/camera and examples/lidar), and so does `poll` here. `block` is ours:
// the same buffers with a futex, to tell the copies' cost from the polling's.
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "bench/transport/futex.hpp"
#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {
namespace {

constexpr std::int64_t kPollIntervalNs = 100'000;

struct Bell {
  alignas(64) std::atomic<std::uint32_t> word{0};  // only for `block`
};

struct Header {
  alignas(64) std::atomic<int> front_idx{0};
  int frame[2]{};
  std::int64_t time_stamp[2]{};
  std::size_t published_length = 0;
};

std::size_t region_bytes(std::size_t bytes) { return kPage + 2 * round_up(bytes); }

std::size_t total_bytes(const Cell& cell) { return kPage + cell.scenario.publishers * region_bytes(cell.bytes); }

struct SimRegion {
  Header* header;
  std::byte* data[2];
};

SimRegion region_at(const Mapping& mapping, const Cell& cell, std::uint32_t publisher) {
  std::byte* const at = mapping.data() + kPage + publisher * region_bytes(cell.bytes);
  return {std::launder(reinterpret_cast<Header*>(at)), {at + kPage, at + kPage + round_up(cell.bytes)}};
}

Mapping map_all(const Area& area) { return {area.role(0).descriptors[0], total_bytes(area.header().cell)}; }

Bell& bell_of(const Mapping& mapping) { return *std::launder(reinterpret_cast<Bell*>(mapping.data())); }

class SimWriter {
 public:
  SimWriter(const Area& area, std::uint32_t publisher)
      : mapping_(map_all(area)),
        region_(region_at(mapping_, area.header().cell, publisher)),
        frame_(area.header().cell.bytes / sizeof(std::uint64_t)),
        rings_(area.header().contender.wait == Wait::Block) {}

  std::span<std::uint64_t> loan(std::uint64_t) noexcept { return frame_; }

  void publish(std::uint64_t) noexcept {
    Header& h = *region_.header;
    const int back = 1 - h.front_idx.load(std::memory_order_acquire);
    std::memcpy(region_.data[back], frame_.data(), frame_.size() * sizeof(std::uint64_t));
    h.published_length = frame_.size() * sizeof(std::uint64_t);
    h.frame[back] = h.frame[1 - back] + 1;
    h.time_stamp[back] = now_ns();
    h.front_idx.store(back, std::memory_order_release);
    if (!rings_) return;
    bell_of(mapping_).word.fetch_add(1, std::memory_order_release);
    futex_wake_all(bell_of(mapping_).word);
  }

 private:
  Mapping mapping_;
  SimRegion region_;
  std::vector<std::uint64_t> frame_;
  bool rings_;
};

class SimReader {
 public:
  SimReader(const Area& area, std::uint32_t /*index*/)
      : mapping_(map_all(area)),
        workspace_(area.header().cell.bytes / sizeof(std::uint64_t)),
        blocks_(area.header().contender.wait == Wait::Block) {
    for (std::uint32_t p = 0; p < area.publishers(); ++p) {
      regions_.push_back({region_at(mapping_, area.header().cell, p), 0});
    }
  }

  std::span<const std::uint64_t> next() noexcept {
    for (;;) {
      const std::uint32_t bell = bell_of(mapping_).word.load(std::memory_order_acquire);
      for (auto& [region, last_frame] : regions_) {
        const int front = region.header->front_idx.load(std::memory_order_acquire);
        const int frame = region.header->frame[front];
        if (frame == last_frame) continue;
        std::memcpy(workspace_.data(), region.data[front], region.header->published_length);
        last_frame = frame;
        return workspace_;
      }
      if (blocks_) {
        futex_wait(bell_of(mapping_).word, bell);
      } else {
        const timespec pause = to_timespec(kPollIntervalNs);
        ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
      }
    }
  }

  void release() noexcept {}

 private:
  struct Stream {
    SimRegion region;
    int last_frame;
  };

  Mapping mapping_;
  std::vector<Stream> regions_;
  std::vector<std::uint64_t> workspace_;
  bool blocks_;
};

Wiring wire_sim(const Cell& cell) {
  Wiring wiring;
  wiring.shared.push_back(make_memory("cardan-bench-sim", total_bytes(cell)));
  const Mapping mapping(wiring.shared.front().get(), total_bytes(cell));
  new (mapping.data()) Bell{};
  for (std::uint32_t p = 0; p < cell.scenario.publishers; ++p) {
    new (mapping.data() + kPage + p * region_bytes(cell.bytes)) Header{};
  }
  return wiring;
}

const RegisteredPeer kSimPeer(
    {.peer = Peer{"sim"},
     .place = 20,
     // As printed it polls.
     .waits = [](const std::vector<Wait>& wanted) { return waits_of({Wait::Poll}, {Wait::Block}, wanted); },
     .wire = wire_sim,
     .play = play_with<SimWriter, SimReader>,
     .links = links_with<SimWriter, SimReader>()});

}  // namespace
}  // namespace cardan::bench
