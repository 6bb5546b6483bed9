// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <istream>
#include <string>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

/// What is read of a file at most: it may come from anyone, and memory and time must stay bounded.
struct ReadLimits {
  std::size_t file_bytes = 256U << 20U;
  std::size_t measurements = 20'000;
  std::size_t runs = 1000;  ///< of a measurement
  std::size_t samples = 8'000'000;
  std::size_t text_bytes = 500;  ///< of a name
  std::size_t texts = 1000;      ///< entries of `host`, `left_out`, `failures`
};

/// Reads a result that a part of the bench wrote. What its parts add for themselves is skipped. Names come without
/// control characters. Throws Error{InvalidArgument} that names the place: no JSON, a wrong type, a figure that is not
/// finite, a measurement twice, a command that is not the bench's, more than `limits`. Blocks for the file.
[[nodiscard]] Result read_result(std::istream& in, const std::string& name, const ReadLimits& limits = {});
[[nodiscard]] Result read_result(const std::string& path, const ReadLimits& limits = {});

}  // namespace cardan::bench
