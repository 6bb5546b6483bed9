// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cardan::launcher {

/// How much of what one component logs reaches the log: kLines and kBytes a second, and after kSeconds of silence as
/// much at once as in kSeconds. The rest is counted. The same for what a process writes by itself. Without this a
/// component that logs in a loop fills the disk, and its lines erase those of the others. Thread safety: one thread at
/// a time. Never blocks.
class LogRate {
 public:
  static constexpr std::int64_t kLines = 1000;
  static constexpr std::int64_t kBytes = 256 * 1024;
  static constexpr std::int64_t kSeconds = 5;

  struct LeftOut {
    std::uint64_t lines = 0, bytes = 0;
  };

  /// False: the line is left out. `now`: steady clock, ns.
  bool allow(std::size_t bytes, std::int64_t now) noexcept {
    const std::int64_t passed = std::clamp<std::int64_t>(now - since_, 0, kSeconds * kSecond);
    lines_ = std::min(lines_ + passed * kLines, kLines * kSeconds * kSecond);
    bytes_ = std::min(bytes_ + passed * kBytes, kBytes * kSeconds * kSecond);
    since_ = now;
    const auto cost = static_cast<std::int64_t>(bytes + 1) * kSecond;
    if (lines_ < kSecond || bytes_ < cost) {
      ++left_out_.lines;
      left_out_.bytes += bytes + 1;
      return false;
    }
    lines_ -= kSecond;
    bytes_ -= cost;
    return true;
  }
  /// The lines that were left out since the last call.
  LeftOut take() noexcept { return std::exchange(left_out_, {}); }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  // Of lines and bytes that may still come, times kSecond.
  std::int64_t lines_ = kLines * kSeconds * kSecond;
  std::int64_t bytes_ = kBytes * kSeconds * kSecond;
  std::int64_t since_ = 0;
  LeftOut left_out_{};
};

}  // namespace cardan::launcher
