// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/message_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "cardan/configuration.hpp"
#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/type_layout.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/messages/ros2_definitions.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kMostText = 1U << 20U;  // as RosSchema
constexpr std::size_t kMostMessages = 1024;

constexpr std::array kPlainTypes{"bool",    "byte",   "char",    "int8",  "uint8",   "int16",
                                 "uint16",  "int32",  "uint32",  "int64", "uint64",  "float32",
                                 "float64", "string", "wstring", "time",  "duration"};

bool is_plain(std::string_view type) {
  return std::any_of(kPlainTypes.begin(), kPlainTypes.end(), [&](const char* one) { return type == one; });
}

/// "sensor_msgs/msg/Image" → "sensor_msgs/Image"
std::string short_name(const std::string& ros) {
  const auto first = ros.find('/');
  const auto last = ros.rfind('/');
  return ros.substr(0, first) + ros.substr(last);
}

}  // namespace

std::set<std::string> used_messages(const std::string& text, const std::string& package) {
  std::set<std::string> used;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string type;
    if (!(words >> type)) continue;
    type = type.substr(0, type.find_first_of("[<"));  // lists, bounds
    if (type.empty() || is_plain(type)) continue;
    if (type == "Header") type = "std_msgs/Header";
    if (type.find('/') == std::string::npos) type = fmt::format("{}/{}", package, type);
    used.insert(short_name(type));
  }
  return used;
}

std::optional<std::string> MessageFinder::read(std::string_view package, std::string_view kind,
                                               std::string_view type) const {
  for (const std::string& folder : folders_) {
    const std::string file = fmt::format("{}/{}/{}/{}.{}", folder, package, kind, type, kind);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) continue;
    std::string text = config::read_text(file, kMostText);
    if (text.size() > kMostText)
      throw Error(ErrorCode::Limit, file + " is too large for a message definition", "check the folder");
    return text;
  }
  return std::nullopt;
}

std::string MessageFinder::text_of(const std::string& name) const {
  const auto slash = name.find('/');
  const std::string package = name.substr(0, slash);
  const std::string type = name.substr(slash + 1);
  // A name from the network becomes a path.
  if (!dds_type_of(package + "/msg/" + type))
    throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not the name of a message", name),
                "correct the definition that uses it");
  if (std::optional<std::string> text = read(package, "msg", type)) return *std::move(text);
  if (const std::string_view fields = standard_ros2_fields(name); fields.data() != nullptr) return std::string(fields);
  throw Error(ErrorCode::Unavailable, fmt::format("the definition {}/msg/{}.msg is not there", package, type),
              "name the folder that holds it in dds.message_paths (--message-path), or source the ROS 2 workspace");
}

std::string MessageFinder::definition(const std::string& ros) const {
  if (!dds_type_of(ros))
    throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not the name of a message", ros),
                "only types as package/msg/Type come in");
  const std::string root = short_name(ros);
  return with_used(root, text_of(root));
}

std::string MessageFinder::with_used(const std::string& root, const std::string& text_of_root) const {
  std::string all;
  std::set<std::string> known{root};
  std::vector<std::string> open{root};
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const bool is_root = name == root;
    const std::string text = is_root ? text_of_root : text_of(name);
    if (!is_root) all += std::string(80, '=') + "\nMSG: " + name + "\n";
    all += text;
    if (!all.ends_with('\n')) all += '\n';
    if (all.size() > kMostText || known.size() > kMostMessages)
      throw Error(ErrorCode::Limit, root + " uses too many messages", "check its definition");
    for (const std::string& used : used_messages(text, name.substr(0, name.find('/'))))
      if (known.insert(used).second) open.push_back(used);
  }
  return all;
}

MessageFinder::Service MessageFinder::find_service(const std::string& ros) const {
  const std::string package = ros.substr(0, ros.find('/')), type = ros.substr(ros.rfind('/') + 1);
  if (!dds_type_of(ros) || ros != package + "/srv/" + type)
    throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not the name of a service's type", ros),
                "only types as package/srv/Type come in");
  const std::optional<std::string> text = read(package, "srv", type);
  if (!text)
    throw Error(ErrorCode::Unavailable, fmt::format("the definition {}/srv/{}.srv is not there", package, type),
                "name the folder that holds it in dds.message_paths (--message-path), or source the ROS 2 workspace");
  std::string parts[2];
  std::istringstream lines(*text);
  int part = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("---"))
      parts[part] += line + "\n";
    else if (++part > 1)
      break;
  }
  if (part != 1)
    throw Error(ErrorCode::InvalidArgument, ros + " has no line --- between question and answer, or several",
                "check its .srv file");
  const auto made = [&](const char* suffix, const std::string& fields) {
    const std::string name = ros + suffix;
    return AnyType::of_definition(name, with_used(short_name(name), fields));
  };
  return {.question = made("_Request", parts[0]), .answer = made("_Response", parts[1])};
}

AnyType MessageFinder::find(const std::string& ros) const {
  if (const auto own = known_layout(ros); own != nullptr) return AnyType::of_definition(ros, own->schema);
  return AnyType::of_definition(ros, definition(ros));
}

}  // namespace cardan::bridge::dds
