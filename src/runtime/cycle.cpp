// SPDX-License-Identifier: Apache-2.0
#include "cardan/cycle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/random.hpp"

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
  hint.instance = detail::random64();
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

}  // namespace cardan
