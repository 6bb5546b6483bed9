// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cardan::bench {

/// A result keeps at most this many samples of a run. Of more it keeps this many evenly spaced order statistics, the
/// least and the greatest among them, so that medians and tails stay what they were.
inline constexpr std::size_t kMostSamplesOfRun = 1000;

/// A quantity: the rate that a publisher of the transport reached, as a mean over them. The report judges by it how
/// many links a peer sustains.
inline constexpr const char* kAchievedRate = "achieved rate";

/// One run of a measurement.
struct MeasuredRun {
  std::uint64_t count = 0;        ///< samples that were taken
  std::vector<double> samples{};  ///< those that are kept
  double steal_percent = 0;       ///< of the computer, by its hypervisor
  double other_load_percent = 0;  ///< of the computer, by programs outside the bench; 0 where a part does not look
};

/// The output of every part of the bench, one for each quantity that it measured of a peer in a cell: the form that
/// `cardan bench compare` and `report` read (bench/report/results.py).
struct Measurement {
  std::string part{};      ///< "transport", "runtime", "record", "bridge"
  std::string peer{};      ///< "cardan", "raw"
  std::string setup{};     ///< how the peer is used: "prewake", "slot"; "": there is one way
  std::string cell{};      ///< what was done: "1p5s", "pipeline A"
  std::string quantity{};  ///< the measured quantity: "transport", "publisher's CPU"
  std::string unit{};      ///< "us", "ms", "MB/s", "% of a core"
  bool more_is_better = false;
  double bytes = 0;    ///< of a message; 0: there is none, or several
  double rate_hz = 0;  ///< that each publisher aims at; 0: no rate
  std::uint32_t publishers = 0, readers = 0;
  std::vector<MeasuredRun> runs{};
  /// Messages that were due and those of them that did not come; with one of a cell's quantities, not with each.
  std::optional<std::uint64_t> due{}, lost{};
  bool noisy = false;     ///< a run was disturbed in all its repetitions
  std::string command{};  ///< measures it again, alone

  /// The kept samples of all runs.
  [[nodiscard]] std::vector<double> pooled() const;
  [[nodiscard]] std::size_t kept() const noexcept;  ///< how many that are
};

/// A run of these samples, thinned to kMostSamplesOfRun.
[[nodiscard]] MeasuredRun make_run(std::vector<double> samples, double steal_percent = 0,
                                   double other_load_percent = 0);

/// `count` evenly spaced order statistics of `samples`, sorted, or the samples as they are if there are no more.
[[nodiscard]] std::vector<double> thinned(std::vector<double> samples, std::size_t count);

[[nodiscard]] nlohmann::ordered_json to_json(const Measurement& m);
/// For a part's report: its `measurements`.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const Measurement> measurements);

}  // namespace cardan::bench
