// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/transport/area.hpp"

namespace cardan::bench {

inline constexpr std::size_t kPage = 4096;
/// To whole pages.
constexpr std::size_t round_up(std::size_t n) { return (n + kPage - 1) / kPage * kPage; }

/// What the roles of one run share, made by the harness before it starts them: every descriptor is inherited, so no
/// peer has a rendezvous to measure or a name to leave behind. `owned[i]` are the descriptors that role i alone gets;
/// `shared` go to all.
struct Wiring {
  std::vector<Fd> shared;
  std::vector<std::vector<Fd>> owned;
};

Wiring wire_raw(const Cell& cell);
Wiring wire_sim(const Cell& cell);
Wiring wire_socket(const Cell& cell, bool tcp);

/// Makes what the contender's roles share; `cardan` finds its peers by its own discovery and gets nothing.
Wiring wire(const Contender& contender, const Cell& cell);

void play_raw(const Area& area, std::uint32_t index);
void play_sim(const Area& area, std::uint32_t index);
void play_socket(const Area& area, std::uint32_t index);
void play_cardan(const Area& area, std::uint32_t index);
/// The single operations: every Task but Frames.
void play_cardan_operation(const Area& area, std::uint32_t index);

}  // namespace cardan::bench
