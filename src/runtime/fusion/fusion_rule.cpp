// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/fusion_rule.hpp"

#include "cardan/error.hpp"

namespace cardan {

const char* FusionPolicy::name() const noexcept { return rule_->name(); }
FusionTime FusionPolicy::time() const noexcept { return rule_->time(); }

namespace detail {

FusionEntry FusionInput::pop() noexcept {
  const FusionEntry oldest = at(0);
  first = first + 1 < capacity ? first + 1 : 0;
  --size;
  has_left = true;
  left = oldest.time;
  return oldest;
}

void FusionInput::insert(FusionEntry entry) noexcept {
  std::size_t place = size++;
  for (; place > 0 && entry.time < at(place - 1).time; --place) at(place) = at(place - 1);
  at(place) = entry;
}

void FusionInput::let_go(FusionCount fate) noexcept {
  if (!newest_used) count(fate);
  newest_used = false;
  drop(pop().block);
}

void clear(std::span<FusionInput> inputs) noexcept {
  for (FusionInput& input : inputs) {
    while (input.size > 0) input.let_go(FusionCount::Cleared);
    input.has_left = false;
  }
}

void refuse_fusion(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::InvalidArgument, "fusion: " + cause, remedy);
}

void check_fusion_input(std::size_t input, std::size_t inputs) {
  if (input >= inputs)
    refuse_fusion(
        "options name input " + std::to_string(input) + ", but there are " + std::to_string(inputs) + " inputs",
        "inputs are counted from 0");
}

std::uint64_t checked_duration(std::chrono::nanoseconds value, const char* name) {
  if (value.count() < 0) refuse_fusion(std::string(name) + " is negative", "give a time of 0 or more");
  return static_cast<std::uint64_t>(value.count());
}

}  // namespace detail
}  // namespace cardan
