// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/bag_rerun.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/become.hpp"
#include "cardan/error.hpp"
#include "src/record/player/file_set.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRerun = "rerun";

/// "bags/drive.mcap", "bags/drive.mcap.active" and "bags/drive/" → "bags/drive.rrd".
std::string beside(const std::string& recording) {
  fs::path path = recording;
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  for (const std::string end : {".active", ".partial", ".mcap"})
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  if (name.empty() || name == "." || name == "..")
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("--to rerun gives the file the recording's name, and '{}' has none", recording),
                "name the file: --to FILE.rrd");
  return path.replace_filename(name + ".rrd").string();
}

}  // namespace

std::string rerun_file(const BagExportOptions& o) {
  if (o.to.ends_with(".rrd")) return o.to;
  if (o.to != kRerun) return {};
  std::string file = beside(o.file);
  std::error_code ignored;
  if (fs::is_directory(kRerun, ignored))
    throw Error(ErrorCode::InvalidArgument, "rerun is a folder here, but --to rerun means a file for the viewer Rerun",
                fmt::format("--to ./rerun exports to the folder; --to {} writes the file", file));
  return file;
}

void become_rerun(const BagExportOptions& o, const std::string& file) {
  // The recording first: what else is missing takes longer to get.
  const record::FileSet files({o.file});
  (void)read_options(o.selection, files, o.file);
  const auto seconds = [&](const replay::RecordedTime& time) {
    return time.at ? (static_cast<double>(*time.at) - static_cast<double>(files.first())) / 1e9 : time.seconds;
  };
  if (o.json || o.images != "png" || o.list != BagExportOptions{}.list)
    throw Error(ErrorCode::InvalidArgument, "--json, --images and --list have no meaning for a file of Rerun",
                "leave them out, or name a folder with --to");
  std::error_code ignored;
  if (!o.force && fs::exists(fs::symlink_status(file, ignored)))
    throw Error(ErrorCode::InvalidArgument, file + " already exists", "name another file, or replace it: --force");
  std::vector<std::string> words;
  for (const std::string& topic : o.selection.exclude) words.push_back("--exclude=" + topic);
  if (o.selection.start) words.push_back(fmt::format("--start={}", seconds(*o.selection.start)));
  if (o.selection.end) words.push_back(fmt::format("--end={}", seconds(*o.selection.end)));
  if (o.force) words.emplace_back("--force");
  words.insert(words.end(), {"--", o.file, file});
  words.insert(words.end(), o.selection.topics.begin(), o.selection.topics.end());
  become_interpreter("", "cardan.rerun", words, {.rerun = true});
}

}  // namespace cardan::apps
