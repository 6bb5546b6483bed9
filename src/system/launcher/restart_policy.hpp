// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "cardan/configuration.hpp"

namespace cardan::launcher {

/// The action after the end of a process, by its rule in the file. Pure logic: time is given in, on any clock that only
/// goes forward. Thread safety: one thread at a time. Never blocks.
class RestartPolicy {
 public:
  explicit RestartPolicy(const config::Restart& rule = {}) : rule_(rule) {}

  struct Decision {
    enum class What : std::uint8_t {
      Restart,  ///< at `at_ns`
      Leave,    ///< it ended in order, and that is all its rule wants
      GiveUp,   ///< its restarts are used up, or its rule has none
    };
    What what = What::Leave;
    std::int64_t at_ns = 0;  ///< Restart: when, on the clock of `now_ns`
    std::string reason{};    ///< GiveUp: why, in words
  };

  /// The process has ended, by itself and with exit code 0 (`in_order`) or in any other way.
  [[nodiscard]] Decision ended(bool in_order, std::int64_t now_ns);
  /// Earlier failures do not count against its limit any more: an operator has dealt with it.
  void forgive() noexcept { recent_.clear(); }
  /// Restarts decided so far, also those that have left the window.
  [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_; }

 private:
  config::Restart rule_;
  std::deque<std::int64_t> recent_;  ///< restarts within the window, the oldest first
  std::uint64_t restarts_ = 0;
};

}  // namespace cardan::launcher
