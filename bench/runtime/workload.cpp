// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/workload.hpp"

#include <algorithm>
#include <array>

namespace cardan::bench {

bool is_cardan(RuntimePeer peer) noexcept { return peer == RuntimePeer::Pointer || peer == RuntimePeer::Slot; }
bool is_nodelet(RuntimePeer peer) noexcept { return peer == RuntimePeer::Nodelet || peer == RuntimePeer::NodeletNew; }

std::string_view name_of(RuntimePeer peer) noexcept {
  if (is_nodelet(peer)) return "nodelet";
  return is_cardan(peer) ? "cardan" : "handover";
}
std::string_view variant_of(RuntimePeer peer) noexcept {
  constexpr std::array<std::string_view, 5> kVariants{"condvar", "pointer", "slot", "pointer", "new"};
  return kVariants.at(static_cast<std::size_t>(peer));
}

RuntimeStamps::RuntimeStamps(const RuntimeCell& cell, const RuntimeBenchOptions& options)
    : sent(options.frames), back(options.frames), received(cell.readers, std::vector<std::int64_t>(options.frames)) {}

RuntimeSamples RuntimeStamps::evaluate(const RuntimeCell& cell, const RuntimeBenchOptions& options) const {
  RuntimeSamples out;
  const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1e3; };
  for (std::size_t n = options.warmup; n < options.frames; ++n) {
    if (sent[n] == 0) continue;
    ++out.sent;
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::uint32_t got = 0;
    for (const auto& reader : received) {
      if (reader[n] == 0) continue;
      out.latency_us.push_back(us(reader[n] - sent[n]));
      first = got == 0 ? reader[n] : std::min(first, reader[n]);
      last = std::max(last, reader[n]);
      ++got;
    }
    out.lost += cell.readers - got;
    if (cell.readers > 1 && got == cell.readers) {
      out.first_us.push_back(us(first - sent[n]));
      out.last_us.push_back(us(last - sent[n]));
    }
    if (cell.echo && back[n] != 0) out.rtt_us.push_back(us(back[n] - sent[n]));
  }
  return out;
}

}  // namespace cardan::bench
