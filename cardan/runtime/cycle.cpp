// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/runtime/cycle_mark.hpp"

namespace cardan {
namespace {

CycleHint first_hint(std::string_view name, std::chrono::nanoseconds period, const CycleOptions& options) {
  const auto refuse = [&](const std::string& cause, const char* remedy) {
    throw Error(ErrorCode::InvalidArgument, fmt::format("cycle '{}': {}", name, cause), remedy);
  };
  CycleHint hint;
  if (name.empty() || !hint.name.assign(name))
    refuse(fmt::format("its name has {} bytes", name.size()), "use a name of 1 to 64 bytes");
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }))
    throw Error(ErrorCode::InvalidArgument, "the name of a cycle has control characters", "use a word such as control");
  if (period.count() < 0 || period.count() > CycleHint::kMaxPeriod)
    refuse(fmt::format("its period is {} ns", period.count()), "use at most an hour, or 0 for no period");
  if (!(options.weight > 0 && options.weight <= CycleHint::kMaxWeight))
    refuse(fmt::format("its weight is {}", options.weight), "use a weight above 0, at most 1000");
  std::random_device random;
  hint.instance = (std::uint64_t{random()} << 32U) ^ random();
  hint.period_ns = period.count();
  hint.weight = options.weight;
  return hint;
}

}  // namespace

Cycle::Cycle(std::string_view name, std::chrono::nanoseconds period, const CycleOptions& options)
    : hint_(first_hint(name, period, options)), hints_(kCycles, {.domain = options.domain}) {}

Cycle::~Cycle() { end(); }

void Cycle::over(std::int64_t now) noexcept {
  hint_.end_ns = now;
  hint_.worked_ns = now - hint_.begin_ns;
  hint_.busy = false;
}

void Cycle::begin() noexcept {
  const std::int64_t now = steady_now();
  if (hint_.busy) over(now);
  ++hint_.count;
  hint_.begin_ns = now;
  hint_.busy = true;
  hints_.publish(hint_);
}

void Cycle::end() noexcept {
  if (!hint_.busy) return;
  over(steady_now());
  hints_.publish(hint_);
}

namespace detail {

void CycleMark::set(Cycle& cycle, bool also_short) noexcept {
  cycle_ = &cycle;
  marks_ = also_short_ = also_short;
}

void CycleMark::begin_cycle() noexcept { cycle_->begin(); }

void CycleMark::end_cycle(std::int64_t worked_ns) noexcept {
  cycle_->end();
  if (also_short_) return;
  average_ns_ += (worked_ns - average_ns_) / 8;
  marks_ = average_ns_ >= (marks_ ? kShort / 2 : kShort);  // one near the limit should not change at each call
}

}  // namespace detail
}  // namespace cardan
