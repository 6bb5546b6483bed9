// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cardan/mcap/reader.hpp"

namespace cardan::mcap {

/// The result of a check of a file.
struct Verification {
  Finish finish;  ///< how far the file goes; only a complete one is compared with its summary
  std::uint64_t bytes = 0, messages = 0, chunks = 0, attachments = 0;  ///< in the file
  std::uint64_t unchecked_bytes = 0;  ///< of chunks without a checksum: only their structure was checked
  std::vector<Problem> problems;      ///< in the order of the file; at most kMostProblems
  static constexpr std::size_t kMostProblems = 1000;  ///< later problems are not kept

  /// Whether the file is complete and without a problem.
  [[nodiscard]] bool good() const noexcept { return problems.empty() && finish.how == Finish::How::Complete; }
};

/// Reads a whole file and compares everything that it stores twice: checksums, indexes, statistics, the summary. Calls
/// `progress` with the number of bytes done. Throws Error as Reader does.
/// Any thread; blocks for the disk.
[[nodiscard]] Verification verify(const std::string& path, const std::function<void(std::uint64_t)>& progress = {});

}  // namespace cardan::mcap
