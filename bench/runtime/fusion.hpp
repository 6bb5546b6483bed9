// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "bench/runtime/workload.hpp"
#include "cardan/fusion_policy.hpp"

namespace cardan::bench {

/// Data fusion (N-1) of "Oops! It's Too Late" (its section IV-C-2): four components publish at different rates, and one
/// fuses them. The order of the channels is that of the fusion's inputs.
inline constexpr std::size_t kFusionChannels = 4;
inline constexpr std::array<std::uint32_t, kFusionChannels> kFusionRates{10, 20, 30, 40};  ///< Hz
inline constexpr std::size_t kFusionBytes = 4 << 20;
/// The beats of all channels meet once in it.
inline constexpr std::int64_t kFusionCycleNs = 100'000'000;

enum class FusionWay : std::uint8_t {
  PrimarySlowest,  ///< primary(), the channel of 10 Hz fires
  PrimaryFastest,  ///< primary(), the channel of 40 Hz fires
  Approximate,     ///< approximate(), of publish times, tolerance 50 ms
  Exact,           ///< exact(), of the beats' stamps
};
inline constexpr std::array kFusionWays{FusionWay::PrimarySlowest, FusionWay::PrimaryFastest, FusionWay::Approximate,
                                        FusionWay::Exact};
std::string_view name_of(FusionWay way) noexcept;  ///< as in the rows: "primary slowest"

/// How late after its beat each channel publishes, as a part of its period, in [0, 1): what its processing takes.
using FusionPhases = std::array<double, kFusionChannels>;
/// Those of a round: the same in each bench, and evenly spread over many rounds, in which no channel follows another.
FusionPhases fusion_phases(std::uint32_t round) noexcept;

struct FusionChannelRun {
  std::vector<double> latency_us;  ///< just before publish → first statement of the fused callback; once for each set
  std::uint64_t sent = 0;
  FusionInputStatistics counts{};  ///< what the fusion did with those that came to it

  /// Did not come to the fusion.
  [[nodiscard]] std::uint64_t lost() const noexcept { return sent - counts.offered; }
  /// The policy let them go unused, as is its design.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return counts.unfired + counts.lapped() + counts.cleared; }
};

struct FusionRun {
  std::array<FusionChannelRun, kFusionChannels> channels{};
  std::uint64_t sets = 0;
  double late_us = 0;        ///< of the latest publication after its due time, against the most punctual one
  double steal_percent = 0;  ///< of the computer meanwhile; the caller that repeats runs sets it

  [[nodiscard]] std::vector<double> latency_us() const;  ///< of all channels together
};

/// One run of `options.fusion_cycles`, of whose messages those of the first tenth (at least one cycle) give no latency.
/// Starts and ends its own threads. Blocks for the run's time, or until `stopped()`. Throws Error as Runtime.
FusionRun run_fusion(FusionWay way, const FusionPhases& phases, const RuntimeBenchOptions& options,
                     const std::function<bool()>& stopped);

}  // namespace cardan::bench
