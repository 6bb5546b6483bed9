// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/detail/atomic.hpp"
#include "cardan/detail/unset.hpp"

namespace cardan {

class Context;

/// The value of a parameter of any type.
using ParameterValue = config::Value;

/// The types of parameters that are not lists.
template <class T>
concept ScalarParameter =
    std::same_as<T, bool> || std::same_as<T, std::int64_t> || std::same_as<T, double> || std::same_as<T, std::string>;

/// The types of parameters: those, and lists of them.
template <class T>
concept ParameterType =
    ScalarParameter<T> || std::same_as<T, std::vector<bool>> || std::same_as<T, std::vector<std::int64_t>> ||
    std::same_as<T, std::vector<double>> || std::same_as<T, std::vector<std::string>>;

namespace detail {

template <class T>
struct ParameterElement {
  using type = T;
};
template <class T>
struct ParameterElement<std::vector<T>> {
  using type = T;
};
template <class T>
using ParameterElementOf = typename ParameterElement<T>::type;

}  // namespace detail

/// Options of a parameter.
template <ParameterType T>
struct ParameterOptions {
  /// Numbers: the smallest accepted value, of a list for each element. A smaller one is refused.
  std::optional<detail::ParameterElementOf<T>> min{};
  /// The same for the greatest.
  std::optional<detail::ParameterElementOf<T>> max{};
  std::string description{};  ///< its effect and its unit
  /// Only the configuration can set it. A change at run time is refused.
  bool fixed = false;
  /// Called before a change at run time, as a callback of the component. An empty string accepts the value; any other
  /// gives the reason for the refusal.
  std::function<std::string(const T&)> accept{};
};

namespace detail {

/// A parameter of a component. Any thread; reading a number never blocks, the rest takes a mutex.
class ParameterCore {
 public:
  std::string name, description;
  std::optional<ParameterValue> min, max;
  bool fixed = false;
  std::function<std::string(const ParameterValue&)> accept;

  explicit ParameterCore(ParameterValue initial) { store(std::move(initial)); }
  void store(ParameterValue value);
  [[nodiscard]] ParameterValue value() const;
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_.load(std::memory_order_relaxed); }
  /// Why the parameter cannot take `value`: its type or its range. Empty: it can. Converts a whole number to a double
  /// where a double is needed.
  [[nodiscard]] std::string refusal(ParameterValue& value) const;

 private:
  Atomic<std::uint64_t> bits_{0};  ///< for all types but strings and lists
  mutable std::mutex mutex_;
  ParameterValue value_;
};

}  // namespace detail

/// The current value of a parameter: `*threshold_`. One that Context::parameter() did not make throws Error
/// (InvalidArgument).
/// Any thread; never blocks (a string or a list: takes a mutex and allocates).
template <ParameterType T>
class Parameter {
 public:
  Parameter() = default;
  /// The value now.
  [[nodiscard]] T operator*() const {
    if (core_ == nullptr) detail::refuse_unset("Parameter", "parameter(name, default)", detail::type_text<T>());
    if constexpr (std::same_as<T, std::string> || !ScalarParameter<T>)
      return std::get<T>(core_->value());
    else if constexpr (std::same_as<T, double>)
      return std::bit_cast<double>(core_->bits());
    else
      return static_cast<T>(core_->bits());
  }

 private:
  friend class Context;
  explicit Parameter(std::shared_ptr<const detail::ParameterCore> core) : core_(std::move(core)) {}
  std::shared_ptr<const detail::ParameterCore> core_;
};

}  // namespace cardan
