// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::street {

/// A recording as a folder of files, one a frame, as KITTI has it: `data/0000000000.png` and so on, with
/// `timestamps.txt` next to `data`.
struct RecordedFolder {
  static constexpr std::size_t kMostFiles = 1'000'000;

  std::vector<std::filesystem::path> files;  ///< in the order of their numbers, or else of their names
  std::vector<std::int64_t> times;           ///< of each, ns since 1970 in the recording's own zone; empty: not known
};

/// The kind of the files, for people and by the ends of their names.
struct FrameFiles {
  const char* option;                    ///< "--camera"
  const char* what;                      ///< "picture"
  std::array<std::string_view, 6> ends;  ///< ".png", in small letters; "": no more
};

inline constexpr FrameFiles kPictureFiles{"--camera", "picture", {".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm"}};
inline constexpr FrameFiles kScanFiles{"--lidar", "scan", {".bin"}};

/// Whether `argument` is a folder, or a pattern such as DIR/%010d.png.
[[nodiscard]] bool is_folder_of_frames(const std::string& argument);

/// The files of a folder (in it, or in its `data`) or of a pattern, and their times from the `timestamps.txt` in the
/// folder or next to its `data`. A timestamps.txt has a line for each file, or (as in KITTI drives that lack scans) one
/// for each number. Throws Error: Unavailable (cannot be read), InvalidArgument (no such file in it, an invalid
/// pattern, times that do not ascend or belong to other files). Reads the disk.
[[nodiscard]] RecordedFolder read_recorded_folder(const std::string& argument, const FrameFiles& files);

/// The times of that folder; empty: it is not a folder, or has none. Never throws.
[[nodiscard]] std::vector<std::int64_t> times_of_folder(const std::string& argument, const FrameFiles& files) noexcept;

/// "2011-09-26 13:02:25.964389445" as ns since 1970; empty: it is not such a time.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text) noexcept;

}  // namespace cardan::street
