// SPDX-License-Identifier: Apache-2.0
#include "src/base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(ErrorCode::System, "cannot write " + path + ": " + std::generic_category().message(errno),
              "check the path, its rights, and whether the disk is full");
}

void refuse_foreign(const std::string& path, const struct stat& there) {
  const bool link = S_ISLNK(there.st_mode), device = S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode);
  if (!device && there.st_uid != ::geteuid() && !(link && there.st_uid == 0))
    throw Error(ErrorCode::InvalidArgument, "cannot write " + path + ": it belongs to another user",
                "name another one, or remove it");
}

Fd open_existing(const std::string& path, const struct stat& there) {
  refuse_foreign(path, there);
  const bool link = S_ISLNK(there.st_mode);
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (link ? 0 : O_NOFOLLOW)));
  struct stat opened{};
  if (!fd || ::fstat(fd.get(), &opened) != 0) cannot_write(path);
  if (!link && (opened.st_dev != there.st_dev || opened.st_ino != there.st_ino))
    throw Error(ErrorCode::System, "cannot write " + path + ": another program has just replaced it", "try again");
  return fd;
}

}  // namespace

Fd open_output(const std::string& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) return open_existing(path, there);
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) cannot_write(path);
  return fd;
}

void empty_output(const Fd& output, const std::string& path) {
  struct stat opened{};
  if (::fstat(output.get(), &opened) != 0) cannot_write(path);
  if (S_ISREG(opened.st_mode) && ::ftruncate(output.get(), 0) != 0) cannot_write(path);
}

void refuse_output_of_others(const std::string& path) {
  const std::string name = path.substr(0, path.find_last_not_of('/') + 1);  // "link/" is what the link leads to
  struct stat there{};
  if (!name.empty() && ::lstat(name.c_str(), &there) == 0 && !S_ISDIR(there.st_mode)) refuse_foreign(path, there);
}

void make_output_folder(const std::string& path) {
  refuse_output_of_others(path);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw Error(ErrorCode::System, "cannot make the folder " + path + ": " + error.message(),
                "name another one, or check what is there");
}

void write_output(const std::string& path, const std::string& content) {
  Fd fd = open_output(path);
  empty_output(fd, path);
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t bytes = ::write(fd.get(), content.data() + done, content.size() - done);
    if (bytes < 0 && errno != EINTR) cannot_write(path);
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
  if (::close(fd.release()) != 0 && errno != EINTR) cannot_write(path);  // network file systems say only now
}

}  // namespace cardan
