// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace cardan::record {

/// Whether a recording may have several files: 0 is never.
[[nodiscard]] constexpr bool splits(std::uint64_t bytes, std::chrono::nanoseconds time) noexcept {
  return bytes != 0 || time.count() != 0;
}

/// When a recording continues in its next file: by size, by time, and on request. One thread; does not block.
class SplitRule {
 public:
  /// After this many bytes, and after this time; 0: never.
  SplitRule(std::uint64_t bytes, std::chrono::nanoseconds time) noexcept : bytes_(bytes), time_ns_(time.count()) {}

  /// The next file is wanted whatever the size and the age of this one.
  void request() noexcept { requested_ = true; }
  [[nodiscard]] bool requested() const noexcept { return requested_; }
  /// A file takes what comes from now on (steady clock).
  void begin_file(std::int64_t now) noexcept {
    since_ns_ = now;
    requested_ = false;
  }
  /// Of a file that has this many bytes.
  [[nodiscard]] bool should_split(std::uint64_t bytes, std::int64_t now) const noexcept {
    const bool full = bytes_ != 0 && bytes >= bytes_;
    const bool old = time_ns_ != 0 && now - since_ns_ >= time_ns_;
    return full || old || requested_;
  }

 private:
  std::uint64_t bytes_;
  std::int64_t time_ns_;
  std::int64_t since_ns_ = 0;
  bool requested_ = false;
};

}  // namespace cardan::record
