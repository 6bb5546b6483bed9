// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cardan::detail {

/// The log of callbacks that throw repeatedly: each different exception of a callback once, at most kLines in
/// a window; what comes meanwhile is counted and said in one line when the window is over. Bounded in memory, whatever
/// the exceptions say. Pure logic: time is given in, in nanoseconds of the steady clock. One thread at a time; never
/// blocks.
class FailureLog {
 public:
  static constexpr std::int64_t kWindow = 10'000'000'000;  ///< ns
  static constexpr std::size_t kLines = 5;                 ///< of one callback within a window
  static constexpr std::size_t kCallbacks = 256;           ///< further ones share a place
  static constexpr std::size_t kText = 1024;               ///< of an exception's words

  /// A callback threw. Lines to be logged now: none, the exception, or what was counted in the window before.
  [[nodiscard]] std::vector<std::string> failed(const std::string& component, const std::string& callback,
                                                const std::string& what, std::int64_t now_ns);
  /// The counts of windows that are over. Counting continues in a new one.
  [[nodiscard]] std::vector<std::string> over(std::int64_t now_ns);
  /// When over() has something to say; 0: nothing is counted.
  [[nodiscard]] std::int64_t next() const noexcept;
  /// The counts that were not reported yet: for the end.
  [[nodiscard]] std::vector<std::string> rest();

 private:
  struct Window {
    std::int64_t begin_ns = 0;
    std::vector<std::string> said;  ///< exceptions
    std::uint64_t again = 0;        ///< that were not said
    std::string last;               ///< of those
  };
  [[nodiscard]] static std::optional<std::string> counted(const std::string& name, Window& window);
  std::map<std::string, Window> windows_;  ///< by "component: callback 'name'"
};

}  // namespace cardan::detail
