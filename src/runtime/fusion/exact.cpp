// SPDX-License-Identifier: Apache-2.0
#include "cardan/fusion_policy.hpp"

#include <utility>

#include "cardan/detail/fusion_rule.hpp"

namespace cardan {
namespace {

/// approximate() without a tolerance, under its own name.
class ExactRule final : public detail::FusionRule {
 public:
  explicit ExactRule(FusionPolicy approximate) noexcept : approximate_(std::move(approximate)) {}
  [[nodiscard]] const char* name() const noexcept override { return "exact"; }
  [[nodiscard]] FusionTime time() const noexcept override { return approximate_.time(); }
  [[nodiscard]] std::size_t queue() const noexcept override { return approximate_.rule().queue(); }
  [[nodiscard]] std::unique_ptr<detail::FusionMatcher> start(std::span<detail::FusionInput> inputs) const override {
    return approximate_.rule().start(inputs);
  }
  [[nodiscard]] std::string why_silent(const FusionStatistics& statistics,
                                       std::span<const std::string> names) const override {
    return approximate_.rule().why_silent(statistics, names);
  }

 private:
  FusionPolicy approximate_;
};

}  // namespace

FusionPolicy exact(const ExactOptions& options) {
  return FusionPolicy(std::make_shared<ExactRule>(approximate({.tolerance = std::chrono::nanoseconds{0},
                                                               .queue = options.queue,
                                                               .time = options.time,
                                                               .clock_step = options.clock_step})));
}

}  // namespace cardan
