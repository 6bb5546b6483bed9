// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/convert/bag_kind.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cardan/mcap/input_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> endings_of(BagKind kind) {
  if (kind == BagKind::Sqlite) return {".db3", ".db3.zstd"};
  if (kind == BagKind::Ros1) return {".bag", ".bag.active"};
  return {".mcap", ".mcap.active", ".mcap.zstd"};
}

bool has_any(const std::string& folder, const std::vector<std::string_view>& endings) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); })) return true;
  }
  return false;
}

}  // namespace

BagKind kind_of(const std::string& path) {
  if (path.ends_with(".db3.zstd")) return BagKind::Sqlite;
  if (path.ends_with(".mcap.zstd")) return BagKind::Mcap;
  const mcap::InputFile file(path);
  std::array<std::byte, 16> first{};
  const std::string_view magic(reinterpret_cast<const char*>(first.data()), file.read(0, first));
  if (magic.starts_with("#ROSBAG V")) return BagKind::Ros1;
  if (magic.starts_with("SQLite format 3")) return BagKind::Sqlite;
  return magic.find("MCAP") == 1 ? BagKind::Mcap : BagKind::Other;
}

FoundBag find_bag(const std::string& path, const std::vector<BagKind>& order) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {.kind = kind_of(path), .files = {.files = {path}}};
  const auto held =
      std::find_if(order.begin(), order.end(), [&](BagKind kind) { return has_any(path, endings_of(kind)); });
  FoundBag found;
  found.files = record::recording_files({path}, endings_of(held == order.end() ? BagKind::Mcap : *held));
  found.kind = kind_of(found.files.files.front());
  return found;
}

}  // namespace cardan::apps
