// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/new_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cardan/base/error.hpp"

namespace cardan::mcap {

NewFile::NewFile(std::string path, bool replace)
    : path_(std::move(path)), partial_(path_ + ".partial"), replace_(replace) {
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::symlink_status(path_, ignored);
  if (!replace && std::filesystem::exists(there)) there_already();
  // A rename would put the file in the place of a device, as /dev/null, for everybody.
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) && !std::filesystem::is_symlink(there))
    throw Error(ErrorCode::InvalidArgument, path_ + " exists, but is not a file", "name another one");
  open_partial();
}

// One of that name may be there: what a writer left that was killed, which goes; what another one writes just now, or
// another program's input, which stays.
void NewFile::open_partial() {
  for (;;) {
    fd_ = Fd(::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (!fd_) failed();
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw Error(ErrorCode::InvalidArgument, partial_ + " is being written or read",
                  "wait until that ends, or name another output");
    struct stat ours{}, there{};
    if (::fstat(fd_.get(), &ours) != 0) failed();
    // Its writer may have finished it between our two calls, and given it its name.
    if (::lstat(partial_.c_str(), &there) != 0 || there.st_dev != ours.st_dev || there.st_ino != ours.st_ino) continue;
    if (!S_ISREG(ours.st_mode))
      throw Error(ErrorCode::InvalidArgument, partial_ + " exists, but is not a file", "name another output");
    if (::ftruncate(fd_.get(), 0) != 0) failed();
    return;
  }
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

void NewFile::failed() const {
  const int error = errno;
  throw Error(ErrorCode::System, "cannot write " + path_ + ": " + std::generic_category().message(error),
              error == ENOSPC || error == EDQUOT ? "make room, or write to another disk" : "check the folder");
}

void NewFile::there_already() const {
  throw Error(ErrorCode::InvalidArgument, path_ + " already exists",
              "name another file, or allow to replace it (--force)");
}

}  // namespace cardan::mcap
