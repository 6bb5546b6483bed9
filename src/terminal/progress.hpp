// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "cardan/clock.hpp"
#include "src/terminal/output.hpp"

namespace cardan::terminal {

/// "  42 %" on standard error if it is a terminal, some times a second, until this goes or something else is written.
class Progress {
 public:
  Progress() = default;
  ~Progress() { erase_progress(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t done, std::uint64_t all) {
    const std::int64_t now = steady_now();
    if (all == 0 || now - shown_ < 200'000'000) return;
    shown_ = now;
    show_progress(
        fmt::format("{:>5.0f} %", 100.0 * static_cast<double>(std::min(done, all)) / static_cast<double>(all)));
  }

 private:
  std::int64_t shown_ = 0;
};

}  // namespace cardan::terminal
