// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/crash_report.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cardan/error.hpp"
#include "src/base/output_file.hpp"
#include "src/system/launcher/crash_details.hpp"

namespace cardan::launcher {
namespace {

std::tm local(std::int64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  std::tm time{};
  ::localtime_r(&seconds, &time);
  return time;
}

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::System, fmt::format("cannot write the crash report {}: {}", path, why),
              "give another folder with --reports");
}

}  // namespace

std::string clock_text(std::int64_t wall_ns) {
  const std::tm t = local(wall_ns);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", t.tm_hour, t.tm_min, t.tm_sec, wall_ns / 1'000'000 % 1000);
}

std::string date_text(std::int64_t wall_ns) {
  const std::tm t = local(wall_ns);
  return fmt::format("{}-{:02}-{:02} {}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, clock_text(wall_ns));
}

std::string text(const CrashReport& r) {
  std::string out = fmt::format("process   {} (pid {}) of {}\nend       {}\n", r.process, r.pid, r.system, r.ending);
  if (!r.remedy.empty()) out += fmt::format("          {}\n", r.remedy);
  out += fmt::format("noticed   {}\nlived     {:.3f} s\nrestarts  {} before\n", date_text(r.wall_ns),
                     static_cast<double>(r.lived_ns) / 1e9, r.restarts);
  if (!r.own_words.empty()) {
    out += "\n" + demangled(r.own_words);
    if (out.back() != '\n') out += '\n';
  }
  if (!r.keeps_lines) return out;
  out += r.last_lines.empty() ? "\nIt wrote nothing.\n" : "\nThe last lines that it wrote:\n";
  for (const std::string& line : r.last_lines) out += fmt::format("  {}\n", line);
  return out;
}

namespace {

/// Whether the name is that of a report of the process: crash-PROCESS-20261126-120000-4711.txt
bool is_report_of(const std::string& process, std::string_view name) {
  const std::string start = fmt::format("crash-{}-", process);
  if (!name.starts_with(start) || !name.ends_with(".txt")) return false;
  name.remove_prefix(start.size());
  name.remove_suffix(4);
  return name.size() > 16 && name[8] == '-' && name[15] == '-' &&
         name.find_first_not_of("0123456789-") == std::string_view::npos &&
         std::count(name.begin(), name.end(), '-') == 2;
}

/// Removes this user's reports of the process but the newest. The time is in their names.
void remove_old(const std::string& process, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    if (const std::string name = entry->path().filename(); is_report_of(process, name)) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i + kMostReports < names.size(); ++i) {
    const std::string path = fmt::format("{}/{}", folder, names[i]);
    struct stat st{};
    if (::lstat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == ::geteuid()) ::unlink(path.c_str());
  }
}

}  // namespace

std::string write(const CrashReport& report, const std::string& folder) {
  const std::tm t = local(report.wall_ns);
  const std::string path =
      fmt::format("{}/crash-{}-{}{:02}{:02}-{:02}{:02}{:02}-{}.txt", folder, report.process, t.tm_year + 1900,
                  t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, report.pid);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  refuse_output_of_others(folder);  // a link that has come since the start
  // A new file: in a folder that others can write, a link with this name would lead to one of ours.
  std::FILE* const file = std::fopen(path.c_str(), "wxe");
  if (file == nullptr) cannot_write(path, std::generic_category().message(errno));
  const std::string words = text(report);
  const bool whole = std::fwrite(words.data(), 1, words.size(), file) == words.size();
  if (std::fclose(file) != 0 || !whole) cannot_write(path, "the disk is full, or the file system has a fault");
  remove_old(report.process, folder);
  return path;
}

}  // namespace cardan::launcher
