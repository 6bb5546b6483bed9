// SPDX-License-Identifier: Apache-2.0
// A plan on its way to a launcher that runs: requests are short, so it travels in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::plan {

/// The parts of another plan that one launcher takes.
inline constexpr std::size_t kMaxOfferedBytes = std::size_t{16} << 20U;

/// The bytes as texts of hexadecimal digits, each short enough for a request. Throws Error (Limit): there are more than
/// kMaxOfferedBytes. Any thread; does not block.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view bytes);

/// The other side: one plan at a time. One thread; does not block.
class PartsOfAPlan {
 public:
  /// Part `part` of offer `offer`; they come in order, and the first one replaces all parts before. True: it
  /// was the last of `parts`. Throws Error (InvalidArgument, Limit): it is not the next one, or too much; what there
  /// was is forgotten.
  [[nodiscard]] bool add(std::uint64_t offer, std::uint64_t part, std::uint64_t parts, std::string_view digits);
  /// All of it, once.
  [[nodiscard]] std::string take();

 private:
  std::uint64_t offer_ = 0, next_ = 0, parts_ = 0;
  std::string bytes_;
};

}  // namespace cardan::plan
