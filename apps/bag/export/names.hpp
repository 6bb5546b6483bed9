// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cardan::apps {

/// A file name, without an extension, of a topic: "/camera/front" → "camera_front". Whatever a recording calls its
/// topics, it is of ASCII letters, digits, '_' and '-' only: it leads to no other folder, hides no file, is not an
/// option and needs no quotes.
[[nodiscard]] std::string file_stem(std::string_view topic);

/// File names of many topics, of which no two are the same, however capitals are taken: "/a/b" and "/a_b" become "a_b"
/// and "a_b_2". Not to be shared by threads.
class FileStems {
 public:
  [[nodiscard]] std::string next(std::string_view topic);

 private:
  std::set<std::string> taken_;           ///< in small letters
  std::map<std::string, unsigned> last_;  ///< number given, by stem
};

/// File names of a topic's frames by their log times, with 19 digits so that they sort; a second frame of the same time
/// gets a "_2". Not to be shared by threads.
class FrameNames {
 public:
  [[nodiscard]] std::string next(std::uint64_t log_time);

 private:
  std::uint64_t time_ = 0;
  unsigned of_time_ = 0;
};

}  // namespace cardan::apps
