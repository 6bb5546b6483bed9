// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/ping_pong.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

#include "bench/pin.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench {
namespace {

// Long enough to hide the clock, short enough that a time slice of somebody else spoils one sample only.
constexpr std::uint64_t kBatch = 200;
constexpr std::uint64_t kEnd = ~std::uint64_t{0};

struct alignas(64) PingLine {
  std::atomic<std::uint64_t> value{0};
};

// Odd values are the asker's, even ones the answerer's: one line travels there and back.
void answer(PingLine& line, int cpu) noexcept {
  static_cast<void>(pin_to(cpu));
  std::uint64_t expected = 1;
  for (;;) {
    const std::uint64_t value = line.value.load(std::memory_order_acquire);
    if (value == kEnd) return;
    if (value != expected) continue;
    line.value.store(expected + 1, std::memory_order_release);
    expected += 2;
  }
}

void ask(PingLine& line, int cpu, int milliseconds, std::vector<double>& out) {
  static_cast<void>(pin_to(cpu));
  const std::int64_t end = now_ns() + std::int64_t{milliseconds} * 1'000'000;
  std::uint64_t next = 1;
  for (std::int64_t before = now_ns(); before < end;) {
    for (std::uint64_t i = 0; i < kBatch; ++i, next += 2) {
      line.value.store(next, std::memory_order_release);
      while (line.value.load(std::memory_order_acquire) != next + 1) {
      }
    }
    const std::int64_t after = now_ns();
    out.push_back(static_cast<double>(after - before) / 1e3 / static_cast<double>(kBatch));
    before = after;
  }
  line.value.store(kEnd, std::memory_order_release);
}

}  // namespace

std::vector<double> measure_ping_pong(int cpu_a, int cpu_b, int milliseconds) {
  std::vector<double> samples;
  if (cpu_a == cpu_b) return samples;
  PingLine line;
  std::thread answering([&] { answer(line, cpu_b); });
  std::thread asking([&] { ask(line, cpu_a, milliseconds, samples); });
  asking.join();
  answering.join();
  return samples;
}

}  // namespace cardan::bench
