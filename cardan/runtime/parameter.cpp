// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/parameter.hpp"

#include <fmt/format.h>

#include <array>
#include <variant>

#include "cardan/runtime/executor/parameter_words.hpp"

namespace cardan::detail {

void ParameterCore::store(ParameterValue value) {
  std::uint64_t bits = 0;
  if (const auto* b = std::get_if<bool>(&value)) bits = *b ? 1 : 0;
  if (const auto* i = std::get_if<std::int64_t>(&value)) bits = static_cast<std::uint64_t>(*i);
  if (const auto* d = std::get_if<double>(&value)) bits = std::bit_cast<std::uint64_t>(*d);
  const std::lock_guard lock(mutex_);
  value_ = std::move(value);
  bits_.store(bits, std::memory_order_relaxed);
}

ParameterValue ParameterCore::value() const {
  const std::lock_guard lock(mutex_);
  return value_;
}

std::string ParameterCore::refusal(ParameterValue& value) const {
  const ParameterValue now = this->value();
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && std::holds_alternative<double>(now))
    value = static_cast<double>(*whole);
  if (value.index() != now.index())
    return fmt::format("it is {}, but {} is {}", noun_of(now), config::text(value), noun_of(value));
  if (min && value < *min) return fmt::format("{} is below its minimum {}", config::text(value), config::text(*min));
  if (max && value > *max) return fmt::format("{} is above its maximum {}", config::text(value), config::text(*max));
  if (const auto* d = std::get_if<double>(&value); d != nullptr && *d != *d) return "it is not a number";
  return {};
}

std::string_view noun_of(const ParameterValue& value) noexcept {
  constexpr std::array<std::string_view, 4> kNouns{"a Boolean", "an integer", "a number", "a text"};
  return value.index() < kNouns.size() ? kNouns[value.index()] : "unknown";
}

std::string wanted_by(const ParameterCore& parameter) {
  const std::string_view type = config::type_of(parameter.value());
  std::string words = type == "bool"     ? "give true or false"
                      : type == "int"    ? "give a whole number"
                      : type == "double" ? "give a number"
                                         : "give a text";
  if (parameter.min && parameter.max)
    words += fmt::format(" from {} to {}", config::text(*parameter.min), config::text(*parameter.max));
  else if (parameter.min)
    words += fmt::format(" of at least {}", config::text(*parameter.min));
  else if (parameter.max)
    words += fmt::format(" of at most {}", config::text(*parameter.max));
  if (!parameter.description.empty()) words += fmt::format(" ({})", parameter.description);
  return words;
}

}  // namespace cardan::detail
