// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/actor.hpp"

namespace cardan::bench::recording {

/// fio's results.
struct FioResult {
  double bytes_per_second = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::string version{};  ///< "fio-3.33"
  std::string command{};  ///< exactly
};

/// The path of fio; empty: it is not here.
[[nodiscard]] std::string find_fio();

/// fio's arguments for a sequential write of `bytes` into `file` that ends after `seconds` at the latest. Direct:
/// io_uring, O_DIRECT, blocks of 1 MiB, 16 at once, registered buffers and file, into a file that is preallocated.
/// Buffered: write(2) of 1 MiB into the page cache, no preallocation. Both end with fsync, which counts.
[[nodiscard]] std::vector<std::string> fio_arguments(const std::string& file, bool direct, std::uint64_t bytes,
                                                     double seconds);

/// Of fio's JSON; throws Error when it is invalid, or fio failed.
[[nodiscard]] FioResult parse_fio(const std::string& json);

/// Runs it. Throws Error. Blocks, until `stopped()` at the latest, when the result is empty.
[[nodiscard]] FioResult run_fio(const std::string& file, bool direct, std::uint64_t bytes, double seconds,
                                Stopped stopped);

}  // namespace cardan::bench::recording
