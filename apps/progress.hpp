// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "cardan/memory/clock.hpp"

namespace cardan::apps {

/// "  42 %" on a terminal, some times a second.
class Progress {
 public:
  void show(std::uint64_t done, std::uint64_t all) {
    const std::int64_t now = steady_now();
    if (!terminal_ || all == 0 || now - shown_ < 200'000'000) return;
    shown_ = now;
    fmt::print(stderr, "\r{:>5.0f} %", 100.0 * static_cast<double>(std::min(done, all)) / static_cast<double>(all));
  }
  ~Progress() {
    if (shown_ != 0) fmt::print(stderr, "\r\x1b[K");
  }
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::int64_t shown_ = 0;
};

}  // namespace cardan::apps
