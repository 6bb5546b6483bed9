// SPDX-License-Identifier: Apache-2.0
// Which files a recording consists of, when it is given as a folder. Any thread; blocks for the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::record {

/// The list of files in a metadata.yaml of rosbag2. Its other contents are in the files themselves.
struct BagMetadata {
  std::string storage{};             ///< "mcap", "sqlite3"
  std::string compression_mode{};    ///< "", "NONE", "FILE", "MESSAGE", in letters of either kind
  std::string compression_format{};  ///< "", "zstd"
  std::vector<std::string> paths{};  ///< as they are written there
};

/// Empty, with the reason in `why`: it is not a metadata.yaml of rosbag2, or it is damaged.
[[nodiscard]] std::optional<BagMetadata> parse_bag_metadata(std::string_view text, std::string& why);

struct RecordingFiles {
  std::vector<std::string> files{};
  BagMetadata metadata{};               ///< of the last folder that has one
  std::vector<std::string> problems{};  ///< parts of the recording that are missing, or not known
  std::vector<std::string> notes{};     ///< what is remarkable, and nothing is missing
};

/// Each path that is a file, as it is, and in place of a folder its files: those that its metadata.yaml names, in that
/// order, and the unfinished files of a crashed recorder next to them; without a usable metadata.yaml all whose names
/// end as `endings` say, by the numbers in their names. Names that lead out of the folder are not followed. Throws
/// Error (InvalidArgument): there is nothing in a folder, or rosbag2 compressed it with something else than zstd;
/// (System): it cannot be read.
[[nodiscard]] RecordingFiles recording_files(const std::vector<std::string>& paths,
                                             const std::vector<std::string_view>& endings = {".mcap", ".mcap.active",
                                                                                             ".mcap.zstd"});

}  // namespace cardan::record
