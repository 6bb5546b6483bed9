// SPDX-License-Identifier: Apache-2.0
// What a file holds, found by walking through it: for files without a summary, because their writer crashed or wanted
// none.
#pragma once

#include <string>
#include <vector>

#include "cardan/record/mcap/input_file.hpp"
#include "cardan/record/mcap/record_reader.hpp"
#include "cardan/record/mcap/summary.hpp"

namespace cardan::mcap {

/// A message that stands outside of chunks.
struct LooseMessage {
  std::uint16_t channel_id = 0;
  std::uint64_t log_time = 0;
  std::uint64_t offset = 0;  ///< of its content
  std::uint64_t length = 0;  ///< of its content
};

/// Bytes that make no sense.
struct Gap {
  std::uint64_t begin = 0, end = 0;
  std::string cause{};
};

struct Scan {
  Header header;
  Summary summary;
  std::vector<LooseMessage> loose;
  std::vector<Gap> gaps;  ///< that the walk got over
  Finish finish;
};

struct ScanOptions {
  bool search = false;  ///< behind damage, look for the next chunk instead of ending there
  /// Of the kernel that runs; empty: asked for. A file that another one left unfinished (a power loss) may hold chunks
  /// whose bytes never reached the disk: without a checksum they count only as far as their writer's mark says.
  std::string boot_id{};
};

/// The mark: a metadata record at the beginning of a file that is written without checksums, replaced while it grows.
inline constexpr const char* kMarkName = "cardan.durable";
inline constexpr const char* kMarkBoot = "boot_id";  ///< of the kernel that writes
inline constexpr const char* kMarkBytes = "bytes";   ///< of the file that would survive a power loss

/// Of the kernel that runs; empty where it has none.
[[nodiscard]] std::string current_boot_id();

/// Throws Error (InvalidArgument): it does not begin as MCAP files do.
void check_magic(const InputFile& file);

/// Walks through a file from its beginning to where it stops making sense (what is left of it then: ScanOptions).
/// Contents of messages are jumped over as far as possible: what is compressed is read, what is not costs one small
/// read a record. Throws Error (InvalidArgument): it is no MCAP file; (System): the disk fails. Any thread; blocks for
/// the disk.
[[nodiscard]] Scan scan(const InputFile& file, ScanOptions options = {});

}  // namespace cardan::mcap
