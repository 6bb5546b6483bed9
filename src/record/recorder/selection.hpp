// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cardan/recorder.hpp"
#include "src/record/regular_expression.hpp"

namespace cardan::record {

/// Which topics a recording is asked for. Any thread; does not block.
class Selection {
 public:
  /// Throws Error (InvalidArgument): one of the regular expressions is invalid.
  explicit Selection(const RecorderOptions& options);

  [[nodiscard]] bool wants(const std::string& topic, const std::string& type) const;
  /// False: not of whatever type.
  [[nodiscard]] bool may_want(const std::string& topic) const;
  /// Those that were asked for by their whole names.
  [[nodiscard]] const std::vector<std::string>& named() const noexcept { return named_; }

 private:
  [[nodiscard]] bool excluded(const std::string& topic) const;
  [[nodiscard]] bool named_or_fitting(const std::string& topic) const;

  std::vector<std::string> topics_, types_, exclude_, named_;
  std::vector<RegularExpression> expressions_, exclude_expressions_;
};

/// "drive.mcap" → "drive_0003.mcap".
[[nodiscard]] std::string numbered(const std::string& path, std::size_t number);

}  // namespace cardan::record
