// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace cardan::record {

/// A POSIX extended regular expression, as `grep -E` has it: its time grows with the text, and not with what a hostile
/// name makes of it. Any thread; does not block.
class RegularExpression {
 public:
  /// Throws Error (InvalidArgument): it is invalid.
  explicit RegularExpression(const std::string& text);
  /// Whether some part of `text` fits; `^` and `$` match its ends.
  [[nodiscard]] bool found_in(const std::string& text) const noexcept;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cardan::record
