// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace cardan::bridge::foxglove {

/// The shares of those that have a place, the longest there first. Empty: our own user.
using Shares = std::vector<std::string_view>;

/// A limited number of places. One other user or address gets a quarter of them, all
/// others together three quarters, whatever comes first.
/// Thread safety: none needed. No function blocks.
class Places {
 public:
  explicit Places(std::size_t all) noexcept : all_(all) {}
  [[nodiscard]] std::size_t of_one() const noexcept { return all_ < 4 ? 1 : all_ / 4; }
  [[nodiscard]] std::size_t of_strangers() const noexcept { return all_ < 4 ? all_ : all_ - of_one(); }

  enum class Answer { Yes, Full, ShareIsUsed };
  /// Whether a newcomer gets a place. Our own user gets a quarter (at least one), even if there are then more than all.
  [[nodiscard]] Answer ask(const Shares& taken, std::string_view share) const;
  /// The number of the one that gives way to a newcomer. Empty: there is a place. `taken.size()`: the newcomer itself.
  /// A client of our own user never gives way to another one.
  [[nodiscard]] std::optional<std::size_t> who_gives_way(const Shares& taken, std::string_view share) const;

 private:
  std::size_t all_;
};

}  // namespace cardan::bridge::foxglove
