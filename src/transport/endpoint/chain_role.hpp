// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cardan/detail/basis.hpp"

namespace cardan::detail {

/// The part of a publisher in chains (docs/chains.md). The default: none.
struct ChainRole {
  std::uint32_t entries = 0;    ///< room in each slot for what it rests on, at most layout::kMaxChainEntries
  std::uint32_t topic = 0;      ///< key() of its topic, if a chain begins there
  std::uint32_t component = 0;  ///< key() of the component that publishes
  /// Called by publish() with what the publication rests on, by the clock of `now`. Null: no chain ends here.
  void (*ends)(void* self, std::span<const ChainGround> grounds, std::int64_t now) noexcept = nullptr;
  void* self = nullptr;

  /// Identifies the name of a topic or a component in a slot; never 0. All processes of a system make the same.
  [[nodiscard]] static constexpr std::uint32_t key(std::string_view name) noexcept {
    std::uint32_t hash = 2'166'136'261U;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
    return hash == 0 ? 1 : hash;
  }
  /// The hop through its component has taken until `now`: the longest hop of each ground is that one, or stays.
  void add_hop(ChainGrounds& grounds, std::int64_t now) const noexcept {
    for (ChainGround& ground : grounds.all())
      if (const std::int64_t took = now - ground.since_ns; ground.hop == 0 || took > ground.hop_ns) {
        ground.hop = component;
        ground.hop_ns = took;
      }
  }
};

}  // namespace cardan::detail
