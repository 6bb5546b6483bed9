// SPDX-License-Identifier: Apache-2.0
#include "src/record/recording_folder.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/mcap/input_file.hpp"

namespace cardan::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetadataName = "metadata.yaml";
constexpr std::uint64_t kMostMetadata = std::uint64_t{16} << 20;
constexpr std::size_t kMostFiles = 16'384;
constexpr std::size_t kMostFolderProblems = 50;  ///< of names in one metadata.yaml; the rest is counted
constexpr std::string_view kUnfinished = ".mcap.active";
constexpr std::string_view kPacked = mcap::InputFile::kPackedEnding;

std::string_view stripped(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A YAML text of one line, and the rest of the line. Empty: it makes no sense.
std::optional<std::pair<std::string, std::string_view>> scalar(std::string_view text, std::string_view ends) {
  text = stripped(text);
  if (text.starts_with('"')) {
    std::size_t end = 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
    if (end >= text.size()) return std::nullopt;
    const auto parsed = nlohmann::json::parse(text.substr(0, end + 1), nullptr, false);  // the same in JSON
    if (!parsed.is_string()) return std::nullopt;
    return std::pair(parsed.get<std::string>(), stripped(text.substr(end + 1)));
  }
  if (text.starts_with('\'')) {
    std::string value;
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (text[at] != '\'') {
        value += text[at];
      } else if (at + 1 < text.size() && text[at + 1] == '\'') {
        value += text[at++];
      } else {
        return std::pair(value, stripped(text.substr(at + 1)));
      }
    }
    return std::nullopt;
  }
  std::size_t end = std::min(text.find(" #"), text.size());
  if (!ends.empty()) end = std::min(end, text.find_first_of(ends));
  return std::pair(std::string(stripped(text.substr(0, end))), stripped(text.substr(std::min(end, text.size()))));
}

/// The lines of a metadata.yaml: rosbag2, Cardan and rosbags write block lists, by hand some write [a, b].
class MetadataLines {
 public:
  explicit MetadataLines(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      const std::string_view content = stripped(line);
      if (!content.empty() && content.front() != '#' && content != "---")
        lines_.push_back({static_cast<std::size_t>(content.data() - line.data()), content});
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::optional<BagMetadata> parse(std::string& why) {
    constexpr std::string_view kRoot = "rosbag2_bagfile_information:";
    const auto root =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.indent == 0 && l.text == kRoot; });
    if (root == lines_.end() || root + 1 == lines_.end() || root[1].indent == 0) {
      why = "it is not the metadata of a ROS 2 bag";
      return std::nullopt;
    }
    const std::size_t indent = root[1].indent;
    BagMetadata out;
    bool named = false;
    for (at_ = static_cast<std::size_t>(root - lines_.begin()) + 1; at_ < lines_.size() && lines_[at_].indent > 0;) {
      const Line line = lines_[at_++];
      if (line.indent != indent) continue;  // of a value that matters to nobody here
      if (value(line, "storage_identifier:", out.storage) || value(line, "compression_mode:", out.compression_mode) ||
          value(line, "compression_format:", out.compression_format))
        continue;
      if (!line.text.starts_with("relative_file_paths:")) continue;
      named = true;
      if (!list(line, line.text.substr(std::strlen("relative_file_paths:")), out.paths)) {
        why = "its list of files is malformed";
        return std::nullopt;
      }
    }
    if (out.paths.size() > kMostFiles) {
      why = fmt::format("it names more than {} files", kMostFiles);
      return std::nullopt;
    }
    if (!named || out.paths.empty()) {
      why = named ? "it names no file" : "it has no list of files";
      return std::nullopt;
    }
    return out;
  }

 private:
  struct Line {
    std::size_t indent;
    std::string_view text;
  };

  static bool value(const Line& line, std::string_view key, std::string& out) {
    if (!line.text.starts_with(key)) return false;
    if (const auto found = scalar(line.text.substr(key.size()), {})) out = found->first;
    return true;
  }

  bool list(const Line& head, std::string_view rest, std::vector<std::string>& out) {
    rest = stripped(rest);
    if (rest.starts_with('[')) return flow(rest.substr(1), out);
    if (!rest.empty() && rest.front() != '#') return false;
    for (; at_ < lines_.size() && lines_[at_].indent >= head.indent && lines_[at_].text.starts_with('-'); ++at_) {
      const auto item = scalar(lines_[at_].text.substr(1), {});
      if (!item || item->first.empty() || !(item->second.empty() || item->second.front() == '#')) return false;
      out.push_back(item->first);
      if (out.size() > kMostFiles) break;  // which parse() reports
    }
    return true;
  }

  bool flow(std::string_view rest, std::vector<std::string>& out) {
    for (;;) {
      rest = stripped(rest);
      if (rest.empty() || rest.front() == '#') {
        if (at_ == lines_.size()) return false;
        rest = lines_[at_++].text;
      } else if (rest.front() == ']') {
        return true;
      } else if (rest.front() == ',') {
        rest.remove_prefix(1);
      } else {
        const auto item = scalar(rest, ",]");
        if (!item || item->first.empty()) return false;
        out.push_back(item->first);
        if (out.size() > kMostFiles) return true;
        rest = item->second;
      }
    }
  }

  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

bool ends_as(std::string_view name, const std::vector<std::string_view>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); });
}

class Folder {
 public:
  Folder(std::string path, const std::vector<std::string_view>& endings, RecordingFiles& out)
      : path_(std::move(path)), out_(out) {
    std::error_code error;
    for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error))
      if (std::string name = at->path().filename().string(); ends_as(name, endings)) names_.push_back(std::move(name));
    if (error)
      throw Error(ErrorCode::System, "cannot read the folder " + path_ + ": " + error.message(),
                  "check its permissions");
    std::sort(names_.begin(), names_.end(), [](const std::string& a, const std::string& b) {
      const int order = ::strverscmp(a.c_str(), b.c_str());  // 9 before 10
      return order != 0 ? order < 0 : a < b;
    });
  }

  void add() {
    const std::size_t before = out_.files.size();
    if (!add_named())
      for (const std::string& name : names_)
        if (!is_twice(name)) take(name);
    if (out_.files.size() > before) return;
    for (const std::string& problem : out_.problems) cause_ += problem + "; ";
    throw Error(ErrorCode::InvalidArgument, cause_ + "the folder " + path_ + " does not contain a recording",
                "name a folder of .mcap files, or a file");
  }

 private:
  /// Files that were unpacked next to the packed file, or not yet removed when that was made.
  [[nodiscard]] bool is_twice(const std::string& name) const {
    return name.ends_with(kPacked) && std::find(names_.begin(), names_.end(), unpacked(name)) != names_.end();
  }
  static std::string unpacked(const std::string& name) { return name.substr(0, name.size() - kPacked.size()); }

  void take(const std::string& name) { out_.files.push_back((fs::path(path_) / name).string()); }

  /// False: no metadata.yaml lists the files.
  bool add_named() {
    const fs::path file = fs::path(path_) / kMetadataName;
    std::error_code unknown;
    if (!fs::exists(fs::symlink_status(file, unknown))) return false;
    std::string why;
    auto metadata = read(file, why);
    if (!metadata) {
      out_.problems.push_back(
          fmt::format("{} does not state which files belong together, because {}: all files in the folder are used",
                      file.string(), why));
      return false;
    }
    out_.metadata = *metadata;
    const std::string& mode = metadata->compression_mode;
    const bool is_packed = !mode.empty() && ::strcasecmp(mode.c_str(), "none") != 0;
    if (const std::string& format = metadata->compression_format; is_packed && !format.empty() && format != "zstd")
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{} is compressed with {}, which cardan does not read", path_, format),
                  "let `ros2 bag convert` unpack it, on a computer that has its plugin");
    std::error_code ignored;
    home_ = fs::canonical(path_, ignored);
    std::set<std::string> known;
    for (const std::string& name : metadata->paths) add_member(file, name, known);
    if (wrong_names_ > kMostFolderProblems)
      out_.problems.push_back(
          fmt::format("{}: {} more of its names are not used", file.string(), wrong_names_ - kMostFolderProblems));
    for (const std::string& name : names_) {
      if (known.contains(name)) continue;
      if (name.ends_with(kUnfinished)) {
        out_.notes.push_back(fmt::format("{} was never finished, but is used too", (fs::path(path_) / name).string()));
        take(name);
      } else {
        out_.notes.push_back(
            fmt::format("{} is left out: {} does not name it", (fs::path(path_) / name).string(), file.string()));
      }
    }
    return true;
  }

  static std::optional<BagMetadata> read(const fs::path& file, std::string& why) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) {  // a pipe would be waited for
      why = "it is not a file";
      return std::nullopt;
    }
    try {
      const mcap::InputFile input(file.string());
      mcap::Bytes bytes;
      const std::uint64_t size = input.size();
      if (size > kMostMetadata) {
        why = "it is larger than 16 MiB";
        return std::nullopt;
      }
      if (!input.read_exactly(0, size, bytes)) {
        why = "it cannot be read";
        return std::nullopt;
      }
      return parse_bag_metadata({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, why);
    } catch (const Error& e) {
      why = e.what();
      return std::nullopt;
    }
  }

  void add_member(const fs::path& metadata, const std::string& name, std::set<std::string>& known) {
    const auto problem = [&](const char* what) {
      if (++wrong_names_ > kMostFolderProblems) return;
      out_.problems.push_back(fmt::format("{} names {}, which {}", metadata.string(), name, what));
    };
    fs::path relative(name);
    if (relative.is_absolute() ||
        std::any_of(relative.begin(), relative.end(), [](const auto& p) { return p == ".."; }))
      return problem("is outside of the folder: it is not read");
    std::error_code ignored;
    // Early versions of rosbag2 wrote the folder's own name in front.
    if (!fs::exists(fs::path(path_) / relative, ignored)) relative = relative.filename();
    // Somebody has unpacked it.
    if (!fs::exists(fs::path(path_) / relative, ignored) && name.ends_with(kPacked)) relative.replace_extension();
    const fs::path file = fs::path(path_) / relative;
    if (!fs::exists(file, ignored)) return problem("is missing");
    const fs::path there = fs::canonical(file, ignored);
    if (std::mismatch(home_.begin(), home_.end(), there.begin(), there.end()).first != home_.end())
      return problem("is a link out of the folder: it is not read");
    if (!fs::is_regular_file(file, ignored)) return problem("is not a file");
    if (known.insert(relative.string()).second) out_.files.push_back(file.string());
  }

  std::string path_, cause_;
  fs::path home_;  ///< the folder, without links
  std::size_t wrong_names_ = 0;
  RecordingFiles& out_;
  std::vector<std::string> names_;
};

}  // namespace

std::optional<BagMetadata> parse_bag_metadata(std::string_view text, std::string& why) {
  return MetadataLines(text).parse(why);
}

RecordingFiles recording_files(const std::vector<std::string>& paths, const std::vector<std::string_view>& endings) {
  RecordingFiles out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      Folder(path, endings, out).add();
    else
      out.files.push_back(path);
  }
  return out;
}

}  // namespace cardan::record
