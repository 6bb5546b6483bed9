// SPDX-License-Identifier: Apache-2.0
#include "cardan/parameter.hpp"

#include <fmt/format.h>

#include <array>
#include <variant>

#include "src/runtime/parameter_words.hpp"

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
  value = config::as_type_of(now, std::move(value));
  if (value.index() != now.index())
    return fmt::format("it is {}, but {} is {}", noun_of(now), config::text(value), noun_of(value));
  const std::vector<ParameterValue> elements = config::elements_of(value);
  if (elements.size() > config::kMostElements)
    return fmt::format("it has more than {} elements", config::kMostElements);
  for (const ParameterValue& one : elements) {
    if (min && one < *min) return fmt::format("{} is below its minimum {}", config::text(one), config::text(*min));
    if (max && one > *max) return fmt::format("{} is above its maximum {}", config::text(one), config::text(*max));
    if (const auto* d = std::get_if<double>(&one); d != nullptr && *d != *d) return "it is not a number";
  }
  return {};
}

std::string_view noun_of(const ParameterValue& value) noexcept {
  constexpr std::array<std::string_view, 8> kNouns{
      "a Boolean",          "an integer",         "a number",          "a text",
      "a list of Booleans", "a list of integers", "a list of numbers", "a list of texts"};
  return value.index() < kNouns.size() ? kNouns[value.index()] : "unknown";
}

std::string wanted_by(const ParameterCore& parameter) {
  const std::string_view type = config::type_of(parameter.value());
  std::string words = type == "bool"       ? "give true or false"
                      : type == "int"      ? "give a whole number"
                      : type == "double"   ? "give a number"
                      : type == "string"   ? "give a text"
                      : type == "bool[]"   ? "give a list of true and false, as [true, false]"
                      : type == "int[]"    ? "give a list of whole numbers, as [1, 2]"
                      : type == "double[]" ? "give a list of numbers, as [0.5, 1]"
                                           : "give a list of texts, as [\"a\", \"b\"]";
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
