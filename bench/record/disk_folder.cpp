// SPDX-License-Identifier: Apache-2.0
#include "bench/record/disk_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"

namespace cardan::bench::recording {
namespace {

namespace fs = std::filesystem;

std::string usual_parent() {
  std::error_code ignored;
  const fs::path built = program_folder().parent_path();
  if (!built.empty() && ::access(built.c_str(), W_OK) == 0) return built.string();
  return fs::current_path(ignored).string();
}

// "\040" is how mountinfo writes a blank.
std::string unescaped(const std::string& word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '\\' || i + 3 >= word.size()) {
      out.push_back(word[i]);
      continue;
    }
    out.push_back(static_cast<char>(std::strtol(word.substr(i + 1, 3).c_str(), nullptr, 8)));
    i += 3;
  }
  return out;
}

bool is_under(const std::string& path, const std::string& mount) {
  if (mount == "/") return true;
  return path.compare(0, mount.size(), mount) == 0 && (path.size() == mount.size() || path[mount.size()] == '/');
}

}  // namespace

const char* memory_file_system(std::int64_t type) noexcept {
  if (type == TMPFS_MAGIC) return "tmpfs";
  if (type == RAMFS_MAGIC) return "ramfs";
  return nullptr;
}

std::string mount_of(const std::string& mountinfo, const std::string& path) {
  std::istringstream lines(mountinfo);
  std::string best;
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    // id parent major:minor root mount-point options … - type source super-options
    std::istringstream words(line);
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    std::size_t dash = 6;
    while (dash < all.size() && all[dash] != "-") ++dash;
    if (dash + 2 >= all.size()) continue;
    const std::string mount = unescaped(all[4]);
    if (!is_under(path, mount) || mount.size() < longest) continue;  // of equal ones the later hides the earlier
    longest = mount.size();
    best = fmt::format("{} on {} ({})", all[dash + 1], all[dash + 2], all[5]);
  }
  return best;
}

DiskFolder::DiskFolder(const std::string& parent, bool keep) : keep_(keep) {
  std::error_code failure;
  const std::string where = fs::absolute(parent.empty() ? usual_parent() : parent, failure).string();
  struct statfs info{};
  if (failure || ::statfs(where.c_str(), &info) != 0)
    throw Error(ErrorCode::InvalidArgument, fmt::format("cannot use the folder {}: {}", where, std::strerror(errno)),
                "--folder names a folder that is there, on the disk to be measured");
  if (const char* name = memory_file_system(static_cast<std::int64_t>(info.f_type)); name != nullptr)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} is {}: that is memory, not a disk", where, name),
                "give --folder a folder on the disk to be measured");
  path_ = where + "/cardan-bench-record-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr)
    throw Error(ErrorCode::InvalidArgument, fmt::format("cannot make a folder in {}: {}", where, std::strerror(errno)),
                "give --folder one that you may write");
  std::ifstream mounts("/proc/self/mountinfo");
  file_system_ = mount_of({std::istreambuf_iterator<char>(mounts), {}}, fs::canonical(path_, failure).string());
}

DiskFolder::~DiskFolder() {
  std::error_code ignored;
  if (!keep_ || fs::is_empty(path_, ignored)) fs::remove_all(path_, ignored);
}

std::uint64_t DiskFolder::free_bytes() const {
  struct statfs info{};
  if (::statfs(path_.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
}

std::vector<std::string> DiskFolder::files() const {
  std::vector<std::string> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) all.push_back(entry.path().string());
  return all;
}

void DiskFolder::clear() {
  std::error_code ignored;
  if (!keep_)
    for (const std::string& file : files()) fs::remove(file, ignored);
  if (const Fd folder{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}; folder) ::syncfs(folder.get());
}

void DiskFolder::synchronize(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (const Fd fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC)}; fd) ::fdatasync(fd.get());
}

}  // namespace cardan::bench::recording
