// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/recorded_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <fstream>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLongestLine = 256;

struct File {
  std::uint64_t number;
  fs::path path;
};

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && end == digits.data() + digits.size() && !digits.empty() ? number : kNoNumber;
}

/// "frame_%04d.png": the text before the number and after it, and how many digits it has at least.
struct Pattern {
  std::string before, after;
  std::size_t digits = 1;

  [[nodiscard]] static std::optional<Pattern> of(const std::string& name) {
    const std::size_t percent = name.find('%');
    const std::size_t d = name.find('d', percent);
    if (percent == std::string::npos || d == std::string::npos || name.find('%', percent + 1) != std::string::npos)
      return std::nullopt;
    const std::string width = name.substr(percent + 1, d - percent - 1);
    const std::uint64_t digits = width.empty() ? 1 : number_of(width);
    if (digits == 0 || digits > 18) return std::nullopt;
    return Pattern{name.substr(0, percent), name.substr(d + 1), static_cast<std::size_t>(digits)};
  }
  /// The number in a file's name; kNoNumber: it is not of this pattern.
  [[nodiscard]] std::uint64_t number(const std::string& name) const {
    if (name.size() < before.size() + digits + after.size() || !name.starts_with(before) || !name.ends_with(after))
      return kNoNumber;
    return number_of(std::string_view(name).substr(before.size(), name.size() - before.size() - after.size()));
  }
};

/// Calls `number_of_name` for each name in the folder: the file's number, or empty for other files.
template <class NumberOf>
std::vector<File> list(const fs::path& folder, const FrameFiles& of, const NumberOf& number_of_name) {
  std::vector<File> files;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    std::error_code gone;
    const std::optional<std::uint64_t> number = number_of_name(it->path());
    if (!number || !it->is_regular_file(gone)) continue;
    files.push_back({*number, it->path()});
    if (files.size() > RecordedFolder::kMostFiles)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("{} {}: more than {} {}s", of.option, folder.string(), RecordedFolder::kMostFiles, of.what),
          "give a folder of one drive");
  }
  if (failure)
    throw Error(ErrorCode::Unavailable,
                fmt::format("{}: cannot read the folder {}: {}", of.option, folder.string(), failure.message()),
                fmt::format("give an existing, readable folder of {}s", of.what));
  return files;
}

std::string small(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string ends_text(const FrameFiles& of) {
  std::string text;
  for (const std::string_view end : of.ends)
    if (!end.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", end);
  return text;
}

std::vector<File> frames_in(const fs::path& folder, const FrameFiles& of) {
  return list(folder, of, [&](const fs::path& path) -> std::optional<std::uint64_t> {
    const std::string end = small(path.extension().string());
    if (end.empty() || std::find(of.ends.begin(), of.ends.end(), end) == of.ends.end()) return {};
    return number_of(path.stem().string());
  });
}

void sort(std::vector<File>& files) {
  const bool numbered = std::none_of(files.begin(), files.end(), [](const File& f) { return f.number == kNoNumber; });
  std::sort(files.begin(), files.end(), [&](const File& a, const File& b) {
    return numbered && a.number != b.number ? a.number < b.number : a.path < b.path;
  });
}

[[noreturn]] void bad_times(const fs::path& file, const std::string& why) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", file.string(), why),
              "give the file as KITTI has it, a line such as 2011-09-26 13:02:25.964389445 for each file; or remove it "
              "to play the files at 10 Hz");
}

std::vector<std::int64_t> read_times(const fs::path& file) {
  std::vector<std::int64_t> times;
  std::ifstream in(file);
  if (!in) throw Error(ErrorCode::Unavailable, "cannot read " + file.string(), "check its permissions");
  std::string line;
  for (char c = 0; in.get(c);) {
    if (c != '\n') {
      if (line.size() == kLongestLine) bad_times(file, fmt::format("line {} is longer than a time", times.size() + 1));
      line += c;
      if (in.peek() != std::ifstream::traits_type::eof()) continue;
    }
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    if (!line.empty()) {
      const auto time = parse_time(line);
      if (!time) bad_times(file, fmt::format("line {} is not a time: '{}'", times.size() + 1, line));
      times.push_back(*time);
    }
    line.clear();
    if (times.size() > RecordedFolder::kMostFiles)
      bad_times(file, fmt::format("more than {} lines", RecordedFolder::kMostFiles));
  }
  return times;
}

/// The lines that belong to `files`.
std::vector<std::int64_t> times_of(const std::vector<File>& files, const fs::path& file) {
  std::vector<std::int64_t> lines = read_times(file);
  std::vector<std::int64_t> times;
  if (lines.size() == files.size()) {
    times = std::move(lines);
  } else if (std::all_of(files.begin(), files.end(), [&](const File& f) { return f.number < lines.size(); })) {
    // Numbered: files that are missing have their line all the same.
    for (const File& f : files) times.push_back(lines[f.number]);
  } else {
    bad_times(file, fmt::format("it has {} times for {} files", lines.size(), files.size()));
  }
  if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end())
    bad_times(file, "its times do not ascend");
  constexpr std::int64_t kDay = 86'400'000'000'000;
  if (times.back() - times.front() > kDay) bad_times(file, "its times cover more than a day");
  return times;
}

}  // namespace

bool is_folder_of_frames(const std::string& argument) {
  std::error_code ignored;
  const auto status = fs::status(argument, ignored);
  if (fs::exists(status)) return fs::is_directory(status);
  return argument.find("://") == std::string::npos &&
         fs::path(argument).filename().string().find('%') != std::string::npos;
}

RecordedFolder read_recorded_folder(const std::string& argument, const FrameFiles& of) {
  std::error_code ignored;
  fs::path folder = argument;
  std::vector<File> files;
  if (fs::is_directory(folder, ignored)) {
    files = frames_in(folder, of);
    if (files.empty() && fs::is_directory(folder / "data", ignored)) {
      folder /= "data";
      files = frames_in(folder, of);
    }
  } else {
    const auto pattern = Pattern::of(folder.filename().string());
    if (!pattern)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{} {}: this is not a pattern of numbered files", of.option, argument),
                  "write the number as %010d, or as %d where its digits vary");
    folder = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    files = list(folder, of, [&](const fs::path& path) -> std::optional<std::uint64_t> {
      const std::uint64_t number = pattern->number(path.filename().string());
      return number == kNoNumber ? std::nullopt : std::optional(number);
    });
  }
  if (files.empty())
    throw Error(
        ErrorCode::InvalidArgument, fmt::format("{} {}: no {} file in it", of.option, argument, ends_text(of)),
        fmt::format("give the folder that holds the {}s, as KITTI's image_02 or velodyne_points, or a pattern such "
                    "as DIR/%010d{}",
                    of.what, of.ends.front()));
  sort(files);
  RecordedFolder found;
  folder = fs::absolute(folder, ignored).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // DIR/
  for (const fs::path& place : {folder, folder.filename() == "data" ? folder.parent_path() : folder})
    if (found.times.empty() && fs::exists(place / "timestamps.txt", ignored))
      found.times = times_of(files, place / "timestamps.txt");
  for (File& file : files) found.files.push_back(std::move(file.path));
  return found;
}

std::vector<std::int64_t> times_of_folder(const std::string& argument, const FrameFiles& files) noexcept {
  try {
    if (is_folder_of_frames(argument)) return read_recorded_folder(argument, files).times;
  } catch (...) {  // its player reports the error
  }
  return {};
}

std::optional<std::int64_t> parse_time(std::string_view text) noexcept {
  const auto digits = [&](std::size_t count) {
    int value = 0;
    if (text.size() < count) return -1;
    for (std::size_t i = 0; i < count; ++i) {
      if (text[i] < '0' || text[i] > '9') return -1;
      value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
  };
  const auto mark = [&](char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
  };
  const int year = digits(4);
  if (!mark('-')) return {};
  const int month = digits(2);
  if (!mark('-')) return {};
  const int day = digits(2);
  if (!mark(' ')) return {};
  const int hour = digits(2);
  if (!mark(':')) return {};
  const int minute = digits(2);
  if (!mark(':')) return {};
  const int second = digits(2);
  std::int64_t nanoseconds = 0;
  if (mark('.')) {
    if (text.empty() || text.size() > 9) return {};
    const std::size_t places = text.size();
    const int fraction = digits(places);
    if (fraction < 0) return {};
    nanoseconds = fraction;
    for (std::size_t i = places; i < 9; ++i) nanoseconds *= 10;
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  const bool real = text.empty() && year >= 1970 && year < 2200 && month > 0 && day > 0 && date.ok() && hour >= 0 &&
                    hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  if (!real) return {};
  const std::int64_t days = sys_days{date}.time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60'000'000'000 + second * 1'000'000'000LL + nanoseconds;
}

}  // namespace cardan::street
