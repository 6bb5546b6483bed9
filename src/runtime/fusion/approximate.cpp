// SPDX-License-Identifier: Apache-2.0
#include "cardan/fusion_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "cardan/detail/fusion_rule.hpp"

namespace cardan {
namespace {

using detail::ahead;
using detail::FusionCount;
using detail::FusionEntry;
using detail::FusionInput;

constexpr std::size_t kMaxQueue = 1024;

std::int64_t later_by(std::int64_t time, std::uint64_t step) noexcept {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return ahead(kEnd, time) < step ? kEnd : static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + step);
}

class ApproximateMatcher final : public detail::FusionMatcher {
 public:
  ApproximateMatcher(const ApproximateOptions& options, std::span<FusionInput> inputs) : inputs_(inputs) {
    if (options.inputs.named() > 0) detail::check_fusion_input(options.inputs.named() - 1, inputs.size());
    if (options.queue < 1 || options.queue > kMaxQueue)
      detail::refuse_fusion("a queue of " + std::to_string(options.queue), "give 1 to " + std::to_string(kMaxQueue));
    tolerance_ = detail::checked_duration(options.tolerance, "tolerance");
    patience_ = detail::checked_duration(options.patience, "patience");
    clock_step_ = detail::checked_duration(options.clock_step, "clock_step");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      min_period_[i] = detail::checked_duration(options.inputs[i].min_period, "min_period");
  }

  void offer(std::size_t input, FusionEntry entry) noexcept override {
    queue(input, entry);
    let_overtaken_go();
  }

  bool next(detail::SampleBlock** set) noexcept override {
    Places places{};
    for (const FusionInput& in : inputs_)
      if (in.size == 0) return false;
    if (!choose(places)) return false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      FusionInput& in = inputs_[i];
      for (std::size_t passed = 0; passed < places[i]; ++passed) in.let_go(FusionCount::Overtaken);
      set[i] = in.pop().block;
      in.count(FusionCount::Used);
    }
    let_overtaken_go();
    return true;
  }

  void forget() noexcept override { newest_ = {}; }

 private:
  using Places = std::array<std::size_t, kMaxFusionInputs>;
  struct Newest {
    bool known = false;
    std::int64_t time = 0;  ///< latest time that came
  };

  void queue(std::size_t input, FusionEntry entry) noexcept {
    FusionInput& in = inputs_[input];
    Newest& newest = newest_[input];
    if (newest.known && entry.time < newest.time && ahead(newest.time, entry.time) > clock_step_) {
      clear(inputs_);
      forget();
    }
    if (!newest.known || entry.time > newest.time) newest.time = entry.time;
    newest.known = true;
    FusionCount fate = FusionCount::Offered;
    if (in.has_left && entry.time < in.left) {
      fate = FusionCount::Late;
    } else if (in.size == in.capacity) {
      for (FusionInput& other : inputs_)
        if (!other.arrived) other.count(FusionCount::NeverArrived);
      if (entry.time < in.at(0).time)
        fate = FusionCount::PushedOut;  // it would be the oldest itself
      else
        in.let_go(FusionCount::PushedOut);
    }
    if (fate == FusionCount::Offered) {
      in.insert(entry);
    } else {
      in.count(fate);
      detail::drop(entry.block);
    }
  }

  /// Step 1 of the algorithm that approximate() describes.
  void let_overtaken_go() noexcept {
    for (bool again = true; again;) {
      again = false;
      std::int64_t latest = std::numeric_limits<std::int64_t>::min();
      for (const FusionInput& in : inputs_)
        if (in.size > 0) latest = std::max(latest, in.at(0).time);
      for (FusionInput& in : inputs_) {
        while (in.size > 0 && in.at(0).time < latest && ahead(latest, in.at(0).time) > tolerance_) {
          in.let_go(FusionCount::Overtaken);
          again = true;  // its next may be the latest now
        }
      }
    }
  }

  /// Its steps 2 and 3: the closest set's places in the queues; false: it is not certain yet. The heads are
  /// a set when this is called.
  bool choose(Places& places) const noexcept {
    Places at{};
    std::array<std::int64_t, kMaxFusionInputs> times{};
    for (std::size_t i = 0; i < inputs_.size(); ++i) times[i] = inputs_[i].at(0).time;
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(inputs_.size());
    const std::int64_t pivot = *std::max_element(times.begin(), end);
    std::int64_t latest = pivot;  // of the set on the way: what is exchanged becomes later only
    std::uint64_t closest = std::numeric_limits<std::uint64_t>::max();
    bool known = true;  // no sample of the set on the way is still to come
    for (;;) {
      const auto earliest = std::min_element(times.begin(), end);
      const std::uint64_t spread = ahead(latest, *earliest);
      if (spread < closest) {
        if (!known) return due(pivot);
        closest = spread;
        places = at;
      }
      if (*earliest >= pivot) return true;
      const auto i = static_cast<std::size_t>(earliest - times.begin());
      if (at[i] + 1 < inputs_[i].size) {
        *earliest = inputs_[i].at(++at[i]).time;
      } else {
        *earliest = std::max(pivot, later_by(*earliest, min_period_[i]));
        known = false;
      }
      latest = std::max(latest, *earliest);
    }
  }

  /// Whether a set must not wait for a closer one any longer.
  [[nodiscard]] bool due(std::int64_t pivot) const noexcept {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].size == inputs_[i].capacity) return true;
      const std::int64_t newest = newest_[i].time;
      if (patience_ != 0 && newest > pivot && ahead(newest, pivot) >= patience_) return true;
    }
    return false;
  }

  std::span<FusionInput> inputs_;
  std::uint64_t tolerance_ = 0, patience_ = 0, clock_step_ = 0;
  std::array<std::uint64_t, kMaxFusionInputs> min_period_{};
  std::array<Newest, kMaxFusionInputs> newest_{};
};

std::string seconds_text(std::uint64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  return seconds < 1e-3  ? fmt::format("{:.3f} µs", seconds * 1e6)
         : seconds < 1   ? fmt::format("{:.3f} ms", seconds * 1e3)
         : seconds < 1e5 ? fmt::format("{:.3f} s", seconds)
                         : fmt::format("{:.0f} days", seconds / 86400);
}

class ApproximateRule final : public detail::FusionRule {
 public:
  explicit ApproximateRule(const ApproximateOptions& options) : options_(options) {}
  [[nodiscard]] const char* name() const noexcept override { return "approximate"; }
  [[nodiscard]] FusionTime time() const noexcept override { return options_.time; }
  [[nodiscard]] std::size_t queue() const noexcept override { return options_.queue; }
  [[nodiscard]] std::unique_ptr<detail::FusionMatcher> start(std::span<FusionInput> inputs) const override {
    return std::make_unique<ApproximateMatcher>(options_, inputs);
  }
  [[nodiscard]] std::string why_silent(const FusionStatistics& statistics,
                                       std::span<const std::string> names) const override {
    std::size_t first = 0, last = 0;
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (statistics.inputs[i].newest < statistics.inputs[first].newest) first = i;
      if (statistics.inputs[i].newest > statistics.inputs[last].newest) last = i;
    }
    const std::uint64_t apart = ahead(statistics.inputs[last].newest, statistics.inputs[first].newest);
    const auto tolerance = static_cast<std::uint64_t>(options_.tolerance.count());
    std::uint64_t overtaken = 0, pushed_out = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      overtaken += statistics.inputs[i].overtaken;
      pushed_out += statistics.inputs[i].pushed_out;
    }
    return fmt::format(
        "no samples of all inputs have {}; the newest of {} is {} before that of {}; {} samples found no partners, {} "
        "were pushed out of a full queue: check which clock stamps which input, the tolerance and the queue",
        tolerance == 0 ? std::string("the same time")
                       : fmt::format("times within the tolerance of {}", seconds_text(tolerance)),
        names[first], seconds_text(apart), names[last], overtaken, pushed_out);
  }

 private:
  ApproximateOptions options_;
};

}  // namespace

FusionPolicy approximate(const ApproximateOptions& options) {
  return FusionPolicy(std::make_shared<ApproximateRule>(options));
}

}  // namespace cardan
