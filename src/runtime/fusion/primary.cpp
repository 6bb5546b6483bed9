// SPDX-License-Identifier: Apache-2.0
#include "cardan/fusion_policy.hpp"

#include <array>

#include "cardan/detail/fusion_rule.hpp"

namespace cardan {
namespace {

using detail::ahead;
using detail::FusionCount;
using detail::FusionEntry;
using detail::FusionInput;

/// The ring of each input has one place: its newest.
class PrimaryMatcher final : public detail::FusionMatcher {
 public:
  PrimaryMatcher(const PrimaryOptions& options, std::span<FusionInput> inputs)
      : inputs_(inputs), firing_(options.input) {
    detail::check_fusion_input(options.input, inputs.size());
    if (options.inputs.named() > 0) detail::check_fusion_input(options.inputs.named() - 1, inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const PrimaryInput& own = options.inputs[i];
      if (i == firing_ && (own.max_age || !own.required))
        detail::refuse_fusion("input " + std::to_string(i) + " fires, but has a max_age or is not required",
                              "set these on the other inputs only");
      max_age_[i] = detail::checked_duration(own.max_age.value_or(options.max_age), "max_age");
      required_[i] = own.required;
    }
  }

  void offer(std::size_t input, FusionEntry entry) noexcept override {
    FusionInput& in = inputs_[input];
    if (in.size > 0) in.let_go(FusionCount::Replaced);
    in.insert(entry);
  }

  bool next(detail::SampleBlock** set) noexcept override {
    FusionInput& firing = inputs_[firing_];
    if (firing.size == 0) return false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      FusionInput& in = inputs_[i];
      set[i] = in.size > 0 && fits(i, firing.at(0)) ? in.at(0).block : nullptr;
      if (set[i] != nullptr || !required_[i]) continue;
      in.count(in.size > 0 ? FusionCount::TooOld : FusionCount::NeverArrived);
      firing.let_go(FusionCount::Unfired);
      return false;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      FusionInput& in = inputs_[i];
      if (set[i] == nullptr) {
        in.count(FusionCount::Absent);
        continue;
      }
      if (!in.newest_used) in.count(FusionCount::Used);
      if (i == firing_) {
        in.pop();  // its reference goes with the set
      } else {
        in.newest_used = true;
        set[i]->references.fetch_add(1, std::memory_order_relaxed);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool fits(std::size_t input, const FusionEntry& firing) const noexcept {
    const std::uint64_t max_age = max_age_[input];
    if (max_age == 0) return true;
    const FusionEntry& kept = inputs_[input].at(0);
    if (firing.time >= kept.time) return ahead(firing.time, kept.time) <= max_age;
    const std::int64_t now = firing.block->publish_ns;
    const std::int64_t then = kept.block->publish_ns;
    return now <= then || ahead(now, then) <= max_age;
  }

  std::span<FusionInput> inputs_;
  std::size_t firing_;
  std::array<std::uint64_t, kMaxFusionInputs> max_age_{};
  std::array<bool, kMaxFusionInputs> required_{};
};

class PrimaryRule final : public detail::FusionRule {
 public:
  explicit PrimaryRule(const PrimaryOptions& options) : options_(options) {}
  [[nodiscard]] const char* name() const noexcept override { return "primary"; }
  [[nodiscard]] FusionTime time() const noexcept override { return options_.time; }
  [[nodiscard]] std::size_t queue() const noexcept override { return 1; }
  [[nodiscard]] std::unique_ptr<detail::FusionMatcher> start(std::span<FusionInput> inputs) const override {
    return std::make_unique<PrimaryMatcher>(options_, inputs);
  }
  [[nodiscard]] std::string why_silent(const FusionStatistics&, std::span<const std::string>) const override {
    return "the samples of its other inputs are older than its max_age when a sample of the primary input comes";
  }

 private:
  PrimaryOptions options_;
};

}  // namespace

FusionPolicy primary(const PrimaryOptions& options) { return FusionPolicy(std::make_shared<PrimaryRule>(options)); }

}  // namespace cardan
