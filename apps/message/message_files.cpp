// SPDX-License-Identifier: Apache-2.0
#include "apps/message/message_files.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "cardan/error.hpp"
#include "src/messages/ros2_definitions.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostDefinitionBytes = 1 << 20;  // of a definition
constexpr std::size_t kMostFolderEntries = 2'000'000;     // of a folder, with all below it

constexpr auto kPrimitives =
    std::to_array<std::string_view>({"bool", "byte", "char", "float32", "float64", "int16", "int32", "int64", "int8",
                                     "string", "uint16", "uint32", "uint64", "uint8", "wstring"});

std::optional<std::string> text_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kMostDefinitionBytes || error)
    return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

/// The type of a line's field without its count, as "pkg_msgs/Name"; empty: not a message.
std::string used_type(std::string_view line, const std::string& package) {
  line = line.substr(0, line.find('#'));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  const std::string_view type = line.substr(0, line.find_first_of(" \t[<"));
  if (std::find(kPrimitives.begin(), kPrimitives.end(), type) != kPrimitives.end()) return {};
  if (type.find('/') != std::string_view::npos) return short_ros2_name(std::string(type));
  return type == "Header" ? "std_msgs/Header" : package + "/" + std::string(type);
}

}  // namespace

MessageFiles::MessageFiles(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
      throw Error(ErrorCode::InvalidArgument, folder + " is not a folder",
                  "name one with .msg files, as a workspace's src");
    const fs::path root = fs::absolute(folder, error).lexically_normal();
    auto entry = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, error);
    for (std::size_t seen = 0; !error && entry != fs::recursive_directory_iterator() && seen < kMostFolderEntries;
         ++seen) {
      const fs::path& path = entry->path();
      if (path.extension() == ".msg" && path.parent_path().filename() == "msg")
        files_.try_emplace((path.parent_path().parent_path().filename() / path.stem()).string(), path.string());
      entry.increment(error);
    }
  }
  const char* const prefixes = std::getenv("AMENT_PREFIX_PATH");
  for (std::string_view rest = prefixes == nullptr ? "" : prefixes; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (!one.empty()) installed_.emplace_back(one);
  }
}

std::optional<std::string> MessageFiles::fields_of(const std::string& short_name) const {
  if (const auto found = files_.find(short_name); found != files_.end()) return text_of(found->second);
  if (const std::string_view fields = standard_ros2_fields(short_name); fields.data() != nullptr)
    return std::string(fields);
  const auto slash = short_name.find('/');
  if (short_name.find("..") != std::string::npos || slash == std::string::npos) return std::nullopt;
  for (const std::string& prefix : installed_)
    if (auto text = text_of(fs::path(prefix) / "share" / short_name.substr(0, slash) / "msg" /
                            (short_name.substr(slash + 1) + ".msg")))
      return text;
  return std::nullopt;
}

std::string MessageFiles::definition_of(const std::string& type_name, std::string* missing) const {
  std::string out;
  std::vector<std::string> open{short_ros2_name(type_name)};
  std::set<std::string> known(open.begin(), open.end());
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const auto fields = fields_of(name);
    if (!fields) {
      if (missing != nullptr) *missing = name;
      return {};
    }
    if (!out.empty()) out += std::string(80, '=') + "\nMSG: " + name + "\n";
    out += *fields;
    const std::string package = name.substr(0, name.find('/'));
    for (std::string_view rest = *fields; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      std::string used = used_type(line, package);
      if (!used.empty() && known.insert(used).second) open.push_back(std::move(used));
    }
  }
  return out;
}

}  // namespace cardan::apps
