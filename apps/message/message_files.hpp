// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::apps {

/// Definitions of ROS 2 messages on this computer: files PACKAGE/msg/NAME.msg. Blocks for the disk; one thread.
class MessageFiles {
 public:
  /// `folders`: each with all that is below it: a workspace's src, a package, an installation. Throws Error
  /// (InvalidArgument): one is not a folder.
  explicit MessageFiles(const std::vector<std::string>& folders);

  /// The `ros2msg` text of a type ("pkg_msgs/msg/Name") with the types that it uses. Fields are looked for in the
  /// folders first, then among the standard types, then in what $AMENT_PREFIX_PATH names. Empty: not all of them are
  /// there, and `missing` (if it is not null) is one that is not.
  [[nodiscard]] std::string definition_of(const std::string& type_name, std::string* missing = nullptr) const;

 private:
  [[nodiscard]] std::optional<std::string> fields_of(const std::string& short_name) const;

  std::map<std::string, std::string> files_;  ///< "pkg_msgs/Name" → path
  std::vector<std::string> installed_;
};

}  // namespace cardan::apps
