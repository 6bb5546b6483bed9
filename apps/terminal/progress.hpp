// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "cardan/base/clock.hpp"

namespace cardan::apps {

/// "  42 %" on standard error if it is a terminal, some times a second, until this goes.
class Progress {
 public:
  Progress() = default;
  ~Progress() {
    if (shown_ != 0) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t done, std::uint64_t all) {
    const std::int64_t now = steady_now();
    if (!terminal_ || all == 0 || now - shown_ < 200'000'000) return;
    shown_ = now;
    fmt::print(stderr, "\r{:>5.0f} %", 100.0 * static_cast<double>(std::min(done, all)) / static_cast<double>(all));
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::int64_t shown_ = 0;
};

}  // namespace cardan::apps
