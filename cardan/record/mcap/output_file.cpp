// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/mcap/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cardan/memory/error.hpp"

namespace cardan::mcap {

OutputFile::OutputFile(std::string path, bool replace) : path_(std::move(path)), partial_(path_ + ".partial") {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(path_, ignored))
    throw Error(ErrorCode::InvalidArgument, path_ + " is there already", "name another file, or allow to replace it");
  fd_ = Fd(::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd_) failed();
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (fd_) std::filesystem::remove(partial_, ignored);
}

void OutputFile::write(View bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) failed();
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void OutputFile::finish() {
  if (::fdatasync(fd_.get()) != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) failed();
  fd_.reset();
}

void OutputFile::failed() const {
  const int error = errno;
  throw Error(ErrorCode::System, "cannot write " + path_ + ": " + std::generic_category().message(error),
              error == ENOSPC || error == EDQUOT ? "make room, or write to another disk" : "check the folder");
}

}  // namespace cardan::mcap
