// SPDX-License-Identifier: Apache-2.0
// Which kind of recording a file or a folder is. Any thread; blocks for the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/record/recording_folder.hpp"

namespace cardan::apps {

enum class BagKind : std::uint8_t {
  Mcap,
  Ros1,    ///< .bag
  Sqlite,  ///< .db3
  Other,   ///< it is not known, or not a recording
};

/// By its first bytes; of one that rosbag2 compressed, by its name. Throws as mcap::InputFile.
[[nodiscard]] BagKind kind_of(const std::string& file);

struct FoundBag {
  BagKind kind = BagKind::Other;
  record::RecordingFiles files{};  ///< all of that kind, unless a metadata.yaml names others
};

/// A file, or what a folder has of the first of these kinds that it has anything of. Throws as recording_files() and
/// mcap::InputFile.
[[nodiscard]] FoundBag find_bag(const std::string& path, const std::vector<BagKind>& order);

}  // namespace cardan::apps
