// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cardan::detail {

/// The key of a count: a kind of event and the user that caused it. Each such pair has its own share.
struct Cause {
  const char* what;
  uid_t uid;
};

/// Lets a limited number of events of one cause and user through in a window of time, and counts the rest. Bounded:
/// once 64 pairs are known, further ones share one place for each cause.
/// Not thread safe; never blocks.
class Limiter {
 public:
  static constexpr std::int64_t kWindow = 10'000'000'000;  ///< ns
  static constexpr std::size_t kPairs = 64;
  static constexpr uid_t kSeveral = static_cast<uid_t>(-2);  ///< the place that all further users share

  explicit Limiter(std::uint32_t at_once) : at_once_(at_once) {}

  /// Returns false if the event is counted instead. `now`: steady clock, nanoseconds.
  bool allow(const Cause& cause, std::int64_t now);

  struct LeftOut {
    std::string what;
    uid_t uid;  ///< kSeveral: of several users
    std::uint64_t count;
  };
  /// The number left out in windows that have ended. Their windows start again.
  std::vector<LeftOut> ended(std::int64_t now);
  /// The end of the next window in which something was left out; 0: no such window.
  [[nodiscard]] std::int64_t next_end() const;

 private:
  struct Window {
    std::int64_t begin = 0;
    std::uint32_t used = 0;
    std::uint64_t left_out = 0;
  };
  std::uint32_t at_once_;
  std::map<std::pair<std::string, uid_t>, Window> windows_;
};

}  // namespace cardan::detail
