// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cardan::config {

/// How bad a problem is.
enum class Severity : std::uint8_t {
  Error,    ///< the file cannot be run as it is
  Warning,  ///< it can, but hardly does what was meant
};

/// A place in the text of a file, both counted from 1 (columns: characters). Line 0: an option gave the value.
struct Place {
  int line = 1;
  int column = 1;
  std::uint32_t file = 0;  ///< 0: the configuration itself; n: Source::included[n - 1], a file or an option
  bool operator==(const Place&) const = default;
};

/// One thing that is wrong with a file: where, what, and what to do about it.
struct Problem {
  std::string pointer{};  ///< JSON pointer (RFC 6901) of what is wrong; "" is the whole file
  int line = 1;           ///< both from 1, of the place to be changed; 0: an option of the command line
  int column = 1;
  Severity severity = Severity::Error;
  std::string cause{};
  std::string remedy{};
  std::string file{};  ///< the included file that the place is in, or the option; "": the configuration itself
  bool operator==(const Problem&) const = default;
};

/// Whether one of them is an error.
[[nodiscard]] bool has_errors(const std::vector<Problem>& problems) noexcept;

/// "street.json:12:7: error: … — …", as compilers write it, so that editors jump to the place; "--var n=3: error: …" of
/// an option's value. `file_name`: of the configuration; a problem of an included file has its own. Any thread.
[[nodiscard]] std::string text(const Problem& problem, const std::string& file_name);

}  // namespace cardan::config
