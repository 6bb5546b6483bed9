// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/results/host.hpp"

namespace cardan::bench {

/// The parts of every report besides its rows.
struct Occasion {
  Host host{};
  double steal_percent = 0;  ///< over the whole bench
  bool interrupted = false;
  std::vector<std::string> left_out{};  ///< sentences: what is not here, or cannot be measured here
  std::vector<std::string> failures{};  ///< what did not run, in words
};

/// "Intel… · 2 CPUs · governor none · Linux… · steal 0.0 %", a line.
[[nodiscard]] std::string head_of(const Occasion& occasion);
/// The sentences, each a line.
[[nodiscard]] std::string tail_of(const Occasion& occasion);
[[nodiscard]] nlohmann::ordered_json to_json(const Occasion& occasion);

/// The end of `cardan bench <part>`: prints the table, writes the file (unless `path` is empty), and returns the exit
/// code. `loss`: what Cardan lost, in words; empty: nothing. Throws Error: the file cannot be written.
[[nodiscard]] int finish(const Occasion& occasion, std::string_view table, const std::string& path,
                         const nlohmann::ordered_json& json, std::string_view loss);

/// From here on Ctrl-C, TERM and HUP only make is_stopped() true.
void catch_stop();
[[nodiscard]] bool is_stopped();

/// A run is measured again, up to kMostRepetitions times, while other guests of the computer took more than this.
inline constexpr double kMostStealPercent = 2;
inline constexpr int kMostRepetitions = 2;

/// The least disturbed of the runs that `measure(repetition)` returns, as optionals with `steal_percent`; those before
/// an empty one, which failed. Empty: the first one did.
template <class Measure>
[[nodiscard]] auto least_disturbed(Measure measure, int repetitions = kMostRepetitions) {
  decltype(measure(0)) best;
  for (int i = 0; i <= repetitions; ++i) {
    auto run = measure(i);
    if (!run) break;
    if (!best || run->steal_percent < best->steal_percent) best = std::move(run);
    if (best->steal_percent <= kMostStealPercent) break;
  }
  return best;
}

/// The places of `count` contenders in this round: rotated, so that nobody always follows the same neighbour or always
/// comes first.
[[nodiscard]] std::vector<std::size_t> order_of(std::size_t count, std::uint32_t round);

}  // namespace cardan::bench
