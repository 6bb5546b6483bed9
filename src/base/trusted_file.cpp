// SPDX-License-Identifier: Apache-2.0
#include "src/base/trusted_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "cardan/error.hpp"
#include "src/base/socket.hpp"

namespace cardan {
namespace {

std::int64_t ns(const timespec& t) noexcept { return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec; }

/// A problem and its remedy.
struct Fault {
  std::string what;
  std::string remedy;
};

std::optional<Fault> fault_of(const struct stat& st, const std::string& path, std::size_t max_bytes) {
  const uid_t owner = socket::user_of(st.st_uid);
  if (!S_ISREG(st.st_mode)) return Fault{"is not a regular file", "put a regular file in its place"};
  if (owner != 0 && (owner != ::geteuid() || owner == socket::kUnmapped))
    return Fault{
        fmt::format("belongs to {}, neither to root nor to this user ({})", socket::name_of_user(owner), ::geteuid()),
        fmt::format("remove it if you did not put it there, else as root: chown root {}", path)};
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Fault{fmt::format("can be written by others (mode {:04o})", st.st_mode & 07777),
                 fmt::format("look at what it says, then: chmod go-w {}", path)};
  if (static_cast<std::uint64_t>(st.st_size) > max_bytes)
    return Fault{fmt::format("has {} bytes, more than {}", st.st_size, max_bytes), "make it shorter"};
  return std::nullopt;
}

}  // namespace

bool FileState::is_settled() const noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::abs(ns(now) - changed_ns) > 100'000'000;
}

std::optional<TrustedFile> TrustedFile::open(const std::string& path, std::size_t max_bytes) {
  const auto refuse = [&](const Fault& fault) {
    return Error(ErrorCode::Refused, fmt::format("the file {} is not trusted: it {}", path, fault.what), fault.remedy);
  };
  TrustedFile file(path, Fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)),
                   max_bytes);
  if (!file.fd_) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return std::nullopt;
    if (error == ELOOP) throw refuse({"is a link", "put the file itself there"});
    // A socket (ENXIO), or not for us to read: what it is still says best what to do.
    struct stat st{};
    if (::lstat(path.c_str(), &st) == 0)
      if (const auto fault = fault_of(st, path, max_bytes)) throw refuse(*fault);
    const bool limit = error == EMFILE || error == ENFILE;
    throw Error(limit ? ErrorCode::Limit : ErrorCode::Unavailable,
                fmt::format("the file {} cannot be opened: {}", path, std::strerror(error)),
                limit ? "raise ulimit -n" : "let this user read it");
  }
  struct stat st{};
  if (::fstat(file.fd_.get(), &st) != 0)
    throw Error(ErrorCode::Unavailable, fmt::format("the file {} cannot be examined: {}", path, std::strerror(errno)),
                "look at its file system");
  if (const auto fault = fault_of(st, path, max_bytes)) throw refuse(*fault);
  file.state_ = {st.st_dev, st.st_ino, st.st_size, ns(st.st_mtim), ns(st.st_ctim)};
  return file;
}

std::string TrustedFile::read() const {
  std::string text;
  std::array<char, 16384> part;
  for (;;) {
    const ssize_t n = ::pread(fd_.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(ErrorCode::Unavailable, fmt::format("the file {} cannot be read: {}", path_, std::strerror(errno)),
                  "look at its file system");
    if (n == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(n));
    if (text.size() > max_bytes_)
      throw Error(ErrorCode::Refused,
                  fmt::format("the file {} is not trusted: it has more than {} bytes", path_, max_bytes_),
                  "make it shorter");
  }
}

}  // namespace cardan
