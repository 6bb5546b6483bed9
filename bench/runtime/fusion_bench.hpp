// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

/// Four sensors at these rates, whose beats meet ten times a second (Oops!, IV-C and Fig. 6).
inline constexpr std::array<std::int64_t, 4> kFusionPeriodsMs{100, 50, 20, 10};
inline constexpr std::size_t kChannels = kFusionPeriodsMs.size();

/// How one component joins the four.
enum class FusionSetup : std::uint8_t { PrimarySlowest, PrimaryFastest, Approximate, UnknownPeriods, Exact };
inline constexpr std::array kFusionSetups{FusionSetup::PrimarySlowest, FusionSetup::PrimaryFastest,
                                          FusionSetup::Approximate, FusionSetup::UnknownPeriods, FusionSetup::Exact};
[[nodiscard]] std::string_view name_of(FusionSetup setup) noexcept;  ///< "primary, the slowest fires"

struct FusionOptions {
  std::uint32_t runs = 2;  ///< rounds over all setups, interleaved
  double seconds = 2;      ///< of a run, after the first 0.3 s, which are discarded
  std::size_t bytes = 4'000'000;
  int publisher_cpu = 0, reader_cpu = 1;
};

/// One run of a setup.
struct FusionSamples {
  struct Channel {
    std::vector<double> latency_us{};  ///< just before publish → first statement of the fused callback, for each set
    std::uint64_t sent = 0;
    std::uint64_t unused = 0;  ///< in no set, as the policy decides; no loss
  };
  std::array<Channel, kChannels> channels{};
  std::uint64_t sets = 0;
  double steal_percent = 0;
};

/// Blocks for the run. Throws cardan::Error.
[[nodiscard]] FusionSamples run_fusion(FusionSetup setup, const FusionOptions& options);

/// All rounds, for people and in the form of all results.
class FusionReport {
 public:
  void add(FusionSetup setup, FusionSamples run) { runs_[static_cast<std::size_t>(setup)].push_back(std::move(run)); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<nlohmann::ordered_json> rows() const;
  [[nodiscard]] std::vector<Measurement> measurements(const FusionOptions& options) const;

 private:
  std::array<std::vector<FusionSamples>, kFusionSetups.size()> runs_{};
};

/// Measures until `stopped`. Blocks for runs × setups × (seconds + 0.5).
[[nodiscard]] FusionReport measure_fusion(const FusionOptions& options, const std::function<bool()>& stopped);

}  // namespace cardan::bench
