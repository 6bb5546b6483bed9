// SPDX-License-Identifier: Apache-2.0
#include "src/record/disk/recording_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::record {

namespace {

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// There, fallocate() takes memory and fills it with zeros: for seconds, while no sample is taken.
bool is_in_memory(int fd) noexcept {
  struct statfs system{};
  return ::fstatfs(fd, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::uint64_t free_space(const std::string& folder) noexcept {
  struct statvfs status{};
  if (::statvfs(folder.c_str(), &status) != 0) return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

RecordingFile::RecordingFile(std::string path, DiskMode mode) : path_(std::move(path)), mode_(mode) {
  std::error_code ignored;
  for (const std::string& there : {path_, active_path()})
    if (std::filesystem::exists(there, ignored))
      throw Error(ErrorCode::InvalidArgument, there + " already exists",
                  there == path_ ? "name another file"
                                 : "finish it with `cardan bag recover`, or remove it, or name another file");
  folder_ = Fd(::open(folder_of(path_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder_)
    fd_ = Fd(::openat(folder_.get(), name_of(active_path()).c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (mode == DiskMode::Direct ? O_DIRECT : 0), 0666));
  if (!fd_) failed(errno, "make");
}

void RecordingFile::failed(int error, const char* what) const {
  throw Error(ErrorCode::System,
              std::string("cannot ") + what + " " + active_path() + ": " + std::generic_category().message(error),
              error == ENOSPC || error == EDQUOT ? "make room, or record to another disk" : "check the folder");
}

int RecordingFile::allocate_to(std::uint64_t bytes) noexcept {
  const std::uint64_t from = allocated();
  if (bytes <= from) return 0;
  int result = is_in_memory(fd_.get()) ? EOPNOTSUPP : EINTR;
  while (result == EINTR)
    result = ::fallocate(fd_.get(), 0, static_cast<off_t>(from), static_cast<off_t>(bytes - from)) == 0 ? 0 : errno;
  if (result == EOPNOTSUPP || result == ENOSYS) {
    allocated_.store(kAllOfIt, std::memory_order_release);
    return 0;
  }
  if (result == 0) allocated_.store(bytes, std::memory_order_release);
  return result;
}

void RecordingFile::write_now(std::uint64_t offset, mcap::View blocks) const {
  while (!blocks.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), blocks.data(), blocks.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) failed(n < 0 ? errno : EIO, "write");
    offset += static_cast<std::uint64_t>(n);
    blocks = blocks.subspan(static_cast<std::size_t>(n));
  }
}

void RecordingFile::sync() const {
  if (::fdatasync(fd_.get()) != 0) failed(errno, "sync");
}

void RecordingFile::finish(std::uint64_t bytes) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) failed(errno, "cut off");
  if (::fsync(fd_.get()) != 0) failed(errno, "sync");
  drop_cache(bytes);
  const int folder = folder_.get();
  give_name();
  fd_.reset();
  const Fd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (readable) ::fsync(readable.get());
}

// Somebody may have made one of that name since we looked. Not every file system can refuse that (EINVAL).
void RecordingFile::give_name() const {
  const int folder = folder_.get();
  const std::string from = name_of(active_path()), to = name_of(path_);
  if (::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return;
  const bool is_there = errno == EEXIST || (errno == EINVAL && ::faccessat(folder, to.c_str(), F_OK, 0) == 0);
  if (is_there)
    throw Error(ErrorCode::System,
                path_ + " is there now, made by another program, so the recording stays " + active_path(),
                "it is complete: give it another name");
  if (errno != EINVAL) failed(errno, "rename");
  if (::renameat(folder, from.c_str(), folder, to.c_str()) != 0) failed(errno, "rename");
}

void RecordingFile::drop_cache(std::uint64_t bytes) const noexcept {
  if (mode_ != DiskMode::Direct) ::posix_fadvise(fd_.get(), 0, static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

std::string RecordingFile::missing() const {
  struct stat ours{}, there{};
  const bool found = ::stat(active_path().c_str(), &there) == 0;
  // After the look at its name: what is deleted between the two would seem to have been moved.
  if (::fstat(fd_.get(), &ours) != 0) return {};
  if (ours.st_nlink == 0)
    return active_path() +
           " was deleted while it was being recorded, and its data is lost; record again, to another folder";
  if (found && there.st_ino == ours.st_ino && there.st_dev == ours.st_dev) return {};
  return active_path() + " does not exist any more: the file or its folder was moved while it was being recorded";
}

void RecordingFile::remove() noexcept {
  ::unlinkat(folder_.get(), name_of(active_path()).c_str(), 0);
  fd_.reset();
}

}  // namespace cardan::record
