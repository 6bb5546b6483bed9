// SPDX-License-Identifier: Apache-2.0
// `raw`: the least that this kernel needs to hand a frame over. Shared memory with two buffers per publisher, filled in
// place; a sequence number, and one FUTEX_WAKE for everybody. No protection whatsoever: a slow reader sees a frame
// change under its hands. A physical reference, not a middleware. `ask`: a second word and futex for the answer.
#include <atomic>
#include <cstring>
#include <new>

#include "bench/transport/futex.hpp"
#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {
namespace {

struct alignas(64) StreamLine {
  std::atomic<std::uint64_t> sequence{0};
};

struct Head {
  alignas(64) std::atomic<std::uint32_t> bell{0};
  alignas(64) std::atomic<std::uint32_t> answer{0};  ///< `ask`: the last question that was answered
  StreamLine streams[64];
};

struct RawRegion {
  explicit RawRegion(const Area& area)
      : bytes(area.header().cell.bytes),
        stride(round_up(bytes)),
        mapping(area.role(0).descriptors[0], size(area.header().cell)),
        head(*std::launder(reinterpret_cast<Head*>(mapping.data()))) {}

  static std::size_t size(const Cell& cell) {
    return round_up(sizeof(Head)) + cell.scenario.publishers * 2 * round_up(cell.bytes);
  }

  [[nodiscard]] std::span<std::uint64_t> buffer(std::uint32_t publisher, std::uint64_t n) const {
    std::byte* const at = mapping.data() + round_up(sizeof(Head)) + (std::size_t{publisher} * 2 + (n & 1)) * stride;
    return {reinterpret_cast<std::uint64_t*>(at), bytes / sizeof(std::uint64_t)};
  }

  std::size_t bytes;
  std::size_t stride;
  Mapping mapping;
  Head& head;
};

class RawWriter {
 public:
  RawWriter(const Area& area, std::uint32_t publisher)
      : region_(area), publisher_(publisher), rings_(area.header().contender.wait == Wait::Block) {}

  std::span<std::uint64_t> loan(std::uint64_t n) noexcept { return region_.buffer(publisher_, n); }

  void publish(std::uint64_t n) noexcept {
    region_.head.streams[publisher_].sequence.store(n, std::memory_order_release);
    if (!rings_) return;
    region_.head.bell.fetch_add(1, std::memory_order_release);
    futex_wake_all(region_.head.bell);
  }

 protected:
  [[nodiscard]] const RawRegion& region() const noexcept { return region_; }
  [[nodiscard]] bool rings() const noexcept { return rings_; }

 private:
  RawRegion region_;
  std::uint32_t publisher_;
  bool rings_;
};

class RawReader {
 public:
  RawReader(const Area& area, std::uint32_t /*index*/)
      : region_(area), publishers_(area.publishers()), blocks_(area.header().contender.wait == Wait::Block) {}

  std::span<const std::uint64_t> next() noexcept {
    for (;;) {
      const std::uint32_t bell = region_.head.bell.load(std::memory_order_acquire);
      for (std::uint32_t p = 0; p < publishers_; ++p) {
        const std::uint64_t n = region_.head.streams[p].sequence.load(std::memory_order_acquire);
        if (n == last_[p]) continue;
        last_[p] = n;
        return region_.buffer(p, n);
      }
      if (blocks_) futex_wait(region_.head.bell, bell);
    }
  }

  void release() noexcept {}

 protected:
  [[nodiscard]] const RawRegion& region() const noexcept { return region_; }
  [[nodiscard]] bool blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t newest() const noexcept { return last_.front(); }

 private:
  RawRegion region_;
  std::uint32_t publishers_;
  bool blocks_;
  std::array<std::uint64_t, 64> last_{};
};

class RawAsker : public RawWriter {
 public:
  using RawWriter::RawWriter;
  void publish(std::uint64_t n) noexcept {
    const auto wanted = static_cast<std::uint32_t>(n);
    auto& answer = region().head.answer;
    RawWriter::publish(n);
    for (std::uint32_t seen = answer.load(std::memory_order_acquire); seen != wanted;
         seen = answer.load(std::memory_order_acquire))
      if (rings()) futex_wait(answer, seen);
  }
};

class RawAnswerer : public RawReader {
 public:
  using RawReader::RawReader;
  std::span<const std::uint64_t> next() noexcept {
    const auto words = RawReader::next();
    auto& answer = region().head.answer;
    answer.store(static_cast<std::uint32_t>(newest()), std::memory_order_release);
    if (blocks()) futex_wake_all(answer);
    return words;
  }
};

Wiring wire_raw(const Cell& cell) {
  Wiring wiring;
  wiring.shared.push_back(make_memory("cardan-bench-raw", RawRegion::size(cell)));
  const Mapping mapping(wiring.shared.front().get(), RawRegion::size(cell));
  new (mapping.data()) Head{};
  return wiring;
}

const RegisteredPeer kRawPeer(
    {.peer = kRaw,
     .place = 10,
     // Blocking is the reference of every ratio, so it is always there.
     .waits = [](const std::vector<Wait>& wanted) { return waits_of({Wait::Block}, {Wait::Spin}, wanted); },
     .wire = wire_raw,
     .play = play_with<RawWriter, RawReader>,
     .play_ask = play_with<RawAsker, RawAnswerer>,
     .links = links_with<RawWriter, RawReader>()});

}  // namespace
}  // namespace cardan::bench
