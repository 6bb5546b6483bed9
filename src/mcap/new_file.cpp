// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/new_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::mcap {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  const int error = errno;
  throw Error(ErrorCode::System, "cannot write " + path + ": " + std::generic_category().message(error),
              error == ENOSPC || error == EDQUOT   ? "make room, or write to another disk"
              : error == EMFILE || error == ENFILE ? "raise ulimit -n, or take fewer topics at a time"
                                                   : "check the folder");
}

bool is_there(const std::string& path, const struct stat& file) {
  struct stat there{};
  return ::lstat(path.c_str(), &there) == 0 && there.st_dev == file.st_dev && there.st_ino == file.st_ino;
}

/// False: somebody writes or reads it.
bool lock(const Fd& fd) { return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

/// Removes what a killed writer of this user left. A file of another user stays, and so does a file that is read or
/// written at this moment.
void remove_leftover(const std::string& path) {
  const auto refuse = [&](const char* why, const char* remedy) {
    throw Error(ErrorCode::InvalidArgument, path + why, remedy);
  };
  struct stat there{}, opened{};
  if (::lstat(path.c_str(), &there) != 0) return;
  if (!S_ISREG(there.st_mode)) refuse(" exists, but is not a file", "name another output");
  if (there.st_uid != ::geteuid()) refuse(" exists, and belongs to another user", "name another output, or remove it");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return;
  if (!fd || ::fstat(fd.get(), &opened) != 0) cannot_write(path);
  if (!lock(fd)) refuse(" is being written or read", "wait until that ends, or name another output");
  // Its writer may have finished it between our calls, and given it its name.
  if (opened.st_uid == there.st_uid && is_there(path, opened) && ::unlink(path.c_str()) != 0 && errno != ENOENT)
    cannot_write(path);
}

}  // namespace

Fd make_new_file(const std::string& path) {
  for (;;) {
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    struct stat ours{};
    if (fd && ::fstat(fd.get(), &ours) != 0) cannot_write(path);
    // Before it was locked, it looked like a leftover to others.
    if (fd && lock(fd) && is_there(path, ours)) return fd;
    if (!fd && errno != EEXIST) cannot_write(path);
    remove_leftover(path);
  }
}

NewFile::NewFile(std::string path, bool replace)
    : path_(std::move(path)), partial_(path_ + ".partial"), replace_(replace) {
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::symlink_status(path_, ignored);
  if (!replace && std::filesystem::exists(there)) there_already();
  // A rename would put the file in the place of a device, as /dev/null, for everybody.
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) && !std::filesystem::is_symlink(there))
    throw Error(ErrorCode::InvalidArgument, path_ + " exists, but is not a file", "name another one");
  fd_ = make_new_file(partial_);
}

NewFile::~NewFile() {
  std::error_code ignored;
  if (!finished_) std::filesystem::remove(partial_, ignored);
}

void NewFile::write(View bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) failed();
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void NewFile::overwrite(std::uint64_t offset, View bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) failed();
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void NewFile::finish(bool to_disk) {
  if (to_disk && ::fdatasync(fd_.get()) != 0) failed();
  if (::close(fd_.release()) != 0 && errno != EINTR) failed();  // network file systems say only now that they are full
  // Somebody else may have made one of that name meanwhile. Not every file system can refuse that (EINVAL).
  finished_ = !replace_ && ::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
  if (finished_) return;
  if (!replace_ && errno == EEXIST) there_already();
  if (::rename(partial_.c_str(), path_.c_str()) != 0) failed();
  finished_ = true;
}

void NewFile::failed() const { cannot_write(path_); }

void NewFile::there_already() const {
  throw Error(ErrorCode::InvalidArgument, path_ + " already exists",
              "name another file, or allow to replace it (--force)");
}

}  // namespace cardan::mcap
