// SPDX-License-Identifier: Apache-2.0
// The library's words, for tests of what it says.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/log.hpp"

namespace cardan::test {

/// Keeps what is logged while it lives.
class Heard {
 public:
  Heard() {
    set_log([this](LogLevel, const std::string& text) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(text);
    });
  }
  ~Heard() { set_log({}); }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  /// How many lines have all of these in them.
  [[nodiscard]] std::size_t lines_with(const std::vector<std::string>& parts) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return std::all_of(parts.begin(), parts.end(),
                         [&](const std::string& part) { return line.find(part) != std::string::npos; });
    }));
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace cardan::test
