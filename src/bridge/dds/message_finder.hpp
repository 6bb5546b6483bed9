// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/any_type.hpp"

namespace cardan::bridge::dds {

/// Finds the definition of a type's name, which is all that DDS says: Cardan's own types, else the `.msg` files of ROS
/// 2 packages with the types that they use. Thread safety: none. Blocks for the file system.
class MessageFinder {
 public:
  /// `folders` hold <package>/msg/<Type>.msg and <package>/srv/<Type>.srv; the first that has a file counts.
  explicit MessageFinder(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// `ros`: "package/msg/Type", from anybody. Throws Error: Unavailable with the file that is not there;
  /// InvalidArgument, Limit as AnyType::of_definition().
  [[nodiscard]] AnyType find(const std::string& ros) const;
  /// The two types of a service, "package/srv/Type", from `<package>/srv/<Type>.srv`. Throws as find().
  struct Service {
    AnyType question, answer;
  };
  [[nodiscard]] Service find_service(const std::string& ros) const;
  /// The text of the type and those that it uses, as in a recording ("ros2msg"). Throws as find().
  [[nodiscard]] std::string definition(const std::string& ros) const;

 private:
  /// "package/Type"
  [[nodiscard]] std::string text_of(const std::string& name) const;
  /// The text of <package>/<kind>/<type>.<kind>. Empty: no folder has it.
  [[nodiscard]] std::optional<std::string> read(std::string_view package, std::string_view kind,
                                                std::string_view type) const;
  /// `text` of `root`, "package/Type", and the texts of the types that it uses.
  [[nodiscard]] std::string with_used(const std::string& root, const std::string& text) const;

  std::vector<std::string> folders_;
};

/// The message types that a definition's own part uses, as "package/Type". `package`: its own. Any thread; does not
/// block.
[[nodiscard]] std::set<std::string> used_messages(const std::string& text, const std::string& package);

}  // namespace cardan::bridge::dds
