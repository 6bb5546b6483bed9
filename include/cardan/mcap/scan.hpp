// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The contents of a file, found by walking through it: for files without a summary, because their writer crashed or
/// wanted none.

#include <optional>
#include <string>
#include <vector>

#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/record_reader.hpp"
#include "cardan/mcap/summary.hpp"

namespace cardan::mcap {

/// A message outside of chunks.
struct LooseMessage {
  std::uint16_t channel_id = 0;
  std::uint64_t log_time = 0;  ///< nanoseconds, as in the message
  std::uint64_t offset = 0;    ///< of its content
  std::uint64_t length = 0;    ///< of its content
};

/// Bytes that are invalid or cannot be relied on.
struct Gap {
  std::uint64_t begin = 0, end = 0;  ///< offsets in the file; `end` is the first byte after them
  std::string cause{};               ///< in words
  std::uint64_t messages = 0;        ///< that an index after it names; 0: unknown
};

/// A fault of a file, and where. The rest of the file is still read.
struct Problem {
  std::uint64_t offset = 0;  ///< in the file
  std::string cause{};       ///< in words
};

/// The result of a walk through a file without its summary.
struct Scan {
  Header header;                    ///< empty if it could not be read
  Summary summary;                  ///< of all that was found
  std::vector<LooseMessage> loose;  ///< messages outside of chunks, in the order of the file
  std::vector<Gap> gaps;            ///< after which the walk continued
  std::vector<Problem> losses;      ///< other missing things: channels, schemas, messages that the statistics name
  Finish finish;                    ///< how far the walk came
};

/// How a file is scanned.
struct ScanOptions {
  /// Continues after damaged data: at the end of a record whose length is known, else where the next one seems to
  /// start. It then checks every checksum, and looks for the chunks of the file's own summary at their places. It takes
  /// longer.
  bool search = false;
  /// The file system that the file is on now; without a `boot_id`, scan() finds it. In an unfinished file, chunks
  /// without a checksum count only up to the place in their writer's mark, unless the file system has been mounted ever
  /// since: the bytes after that place may never have reached the disk.
  MountIdentity mount{};
  /// A compressed chunk that says it is larger counts as damage: its messages are left out.
  std::uint64_t most_unpacked_bytes = unpacked_limit();
};

/// The mark: a metadata record at the beginning of a file that is written without checksums, replaced while it grows.
inline constexpr const char* kMarkName = "cardan.durable";
inline constexpr const char* kMarkBoot = "boot_id";           ///< MountIdentity of the file while it was written
inline constexpr const char* kMarkMount = "mount";            ///< the same
inline constexpr const char* kMarkSuperblock = "superblock";  ///< the same
inline constexpr const char* kMarkBytes = "bytes";            ///< of the file that would survive a power loss

/// Throws Error (InvalidArgument) if the file does not start as MCAP files do, (System) if the disk fails.
void check_magic(const InputFile& file);

/// Walks through a file from its start to the first invalid bytes, or further with ScanOptions::search. It skips the
/// contents of messages where it can: compressed chunks are read, other records cost one small read each. In a file
/// with message indexes, a chunk without a checksum counts only if the indexes after it fit it. Throws Error
/// (InvalidArgument) if it is not an MCAP file, (System) if the disk fails. Any thread; blocks for the disk.
[[nodiscard]] Scan scan(const InputFile& file, ScanOptions options = {});

}  // namespace cardan::mcap
