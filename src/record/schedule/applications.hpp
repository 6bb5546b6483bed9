// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cardan/fixed_string.hpp"
#include "cardan/messages/cycle_hint.hpp"
#include "src/record/schedule/rhythm.hpp"

namespace cardan::record::schedule {

/// The applications that give hints, and what they do together. One thread; does not block, allocates nothing.
class Applications {
 public:
  /// As many as a topic has publishers.
  static constexpr std::size_t kMost = 64;

  struct Application {
    bool used = false;
    std::uint64_t instance = 0;
    FixedString<64> name{};
    double weight = 0;
    std::uint64_t hints = 0;
    Rhythm rhythm{};
  };

  /// A new start of the cycle; for anything else 0.
  std::int64_t hear(const CycleHint& hint, std::int64_t now) noexcept;

  struct Outlook {
    std::uint32_t alive = 0;
    double busy_share = 0;         ///< of the weight of those alive: those that compute, or are about to
    std::int64_t quiet_until = 0;  ///< when it should exceed what is tolerated; before now if it does already
    std::int64_t change_ns = 0;    ///< when the first of them should start or finish; after now
    double tireless_share = 0;     ///< of those that never idle
  };
  [[nodiscard]] Outlook look(std::int64_t now, std::int64_t margin, double tolerated) const noexcept;

  [[nodiscard]] std::uint64_t hints() const noexcept { return hints_; }
  [[nodiscard]] std::uint64_t absurd() const noexcept { return absurd_; }
  /// Hints of applications that found no room.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }
  [[nodiscard]] const std::array<Application, kMost>& all() const noexcept { return all_; }

 private:
  Application* place_for(const CycleHint& hint, std::int64_t now) noexcept;

  std::array<Application, kMost> all_{};
  std::size_t end_ = 0;  ///< no later one is used
  std::uint64_t hints_ = 0;
  std::uint64_t absurd_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace cardan::record::schedule
