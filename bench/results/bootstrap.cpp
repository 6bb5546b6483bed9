// SPDX-License-Identifier: Apache-2.0
#include "bench/results/bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "bench/results/statistics.hpp"

namespace cardan::bench {
namespace {

constexpr std::size_t kMostDraws = 40'000'000;
constexpr std::size_t kFewestRounds = 200;
constexpr std::size_t kFewestForAnInterval = 5;

/// xorshift64*: fast, and the same on every computer, which the standard library's distributions are not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x2545F4914F6CDD1DULL) {
    if (state_ == 0) state_ = 1;
  }
  std::size_t below(std::size_t count) {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    const std::uint64_t high = (state_ * 0x2545F4914F6CDD1DULL) >> 32U;
    return static_cast<std::size_t>((high * count) >> 32U);
  }

 private:
  std::uint64_t state_;
};

// As percentile(), of what is not sorted.
double quantile_of(std::vector<double>& values, double fraction) {
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), below, values.end());
  const double part = position - std::floor(position);
  if (part <= 0 || below + 1 == values.end()) return *below;
  return *below + part * (*std::min_element(below + 1, values.end()) - *below);
}

}  // namespace

std::vector<double> bootstrap_quantile(const std::vector<MeasuredRun>& runs, double fraction, std::uint64_t seed,
                                       std::size_t rounds) {
  std::vector<const std::vector<double>*> filled;
  std::size_t samples = 0;
  for (const MeasuredRun& run : runs) {
    if (run.samples.empty()) continue;
    filled.push_back(&run.samples);
    samples += run.samples.size();
  }
  if (filled.empty()) return {};
  rounds = std::clamp(kMostDraws / samples, std::min(kFewestRounds, rounds), rounds);
  Draw draw(seed);
  std::vector<double> found;
  found.reserve(rounds);
  std::vector<double> drawn;
  for (std::size_t round = 0; round < rounds; ++round) {
    drawn.clear();
    for (std::size_t i = 0; i < filled.size(); ++i) {
      const std::vector<double>& run = *filled[draw.below(filled.size())];
      for (std::size_t k = 0; k < run.size(); ++k) drawn.push_back(run[draw.below(run.size())]);
    }
    found.push_back(quantile_of(drawn, fraction));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::pair<double, double>> median_interval95(const Measurement& m) {
  const std::size_t samples = m.kept();
  if (samples < kFewestForAnInterval) return std::nullopt;
  const std::vector<double> medians = bootstrap_quantile(m.runs, 0.5, samples, 400);
  return std::pair{percentile(medians, 0.025), percentile(medians, 0.975)};
}

double normal_quantile(double probability) noexcept {
  // Bisection of the distribution function: exact to what a double holds, and it is called once in a comparison.
  double low = -40;
  double high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace cardan::bench
