// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/input_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/mcap/compression.hpp"

namespace cardan::mcap {
namespace {

[[noreturn]] void cannot_read(const std::string& path, int error) {
  const std::string cause = "cannot read " + path + ": " + std::generic_category().message(error);
  if (error == ENOENT || error == ENOTDIR) throw Error(ErrorCode::InvalidArgument, cause, "check the path");
  if (error == EACCES || error == EPERM) throw Error(ErrorCode::System, cause, "check its permissions");
  throw Error(ErrorCode::System, cause, "look at the disk: sudo dmesg | tail");
}

/// A file that only its descriptor leads to: whatever ends this program, nothing is left.
class UnnamedFile {
 public:
  explicit UnnamedFile(const std::string& of) : of_(of) {
    const char* const chosen = std::getenv("TMPDIR");
    folder_ = chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
    std::string name = folder_ + "/cardan-XXXXXX";
    fd_ = Fd(::mkostemp(name.data(), O_CLOEXEC));
    if (!fd_) failed();
    (void)::unlink(name.c_str());
  }
  void write(View bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd_.get(), bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) failed();
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }
  [[nodiscard]] Fd take() { return std::move(fd_); }

 private:
  [[noreturn]] void failed() const {
    throw Error(ErrorCode::System,
                "cannot unpack " + of_ + " in " + folder_ + ": " + std::generic_category().message(errno),
                "set TMPDIR to a folder with room for it");
  }

  std::string of_, folder_;
  Fd fd_;
};

}  // namespace

InputFile InputFile::of_recording(const std::string& path) {
  InputFile packed(path);
  if (!path.ends_with(kPackedEnding)) return packed;
  UnnamedFile file(path);
  std::uint64_t at = 0;
  const auto read = [&](std::span<std::byte> into) {
    const std::size_t bytes = packed.read(at, into);
    at += bytes;
    return bytes;
  };
  const std::uint64_t most = most_unpacked_of(packed.size());
  if (const char* const why = unpack_zstd(read, [&](View bytes) { file.write(bytes); }, most))
    throw Error(ErrorCode::InvalidArgument, path + " cannot be unpacked: " + why,
                "`zstd -t` tells whether it is whole; --max-chunk permits more than the " +
                    std::to_string(most >> 20U) + " MiB that it may hold");
  return {path, file.take()};
}

// Not blocking: in a folder of others, a name may be that of a pipe without a writer, which would be waited for without
// end. The kind is that of what has been opened, so nobody can exchange it in between.
InputFile::InputFile(std::string path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (!fd_ && errno == ENXIO) refuse(S_IFSOCK);
  if (!fd_) cannot_read(path_, errno);
  struct stat status{};
  if (::fstat(fd_.get(), &status) != 0) cannot_read(path_, errno);
  if (!S_ISREG(status.st_mode)) refuse(status.st_mode);
  (void)::flock(fd_.get(), LOCK_SH | LOCK_NB);  // so that no NewFile starts in its place
}

void InputFile::refuse(unsigned mode) const {
  const char* const kind = S_ISDIR(mode) ? "folder" : S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
  throw Error(ErrorCode::InvalidArgument, path_ + " is a " + kind + ", not a file",
              S_ISDIR(mode) ? "name one file of it; `cardan bag merge` makes one of a folder"
                            : "name a regular file; `cp` or `cat` can make one of it");
}

std::uint64_t InputFile::size() const {
  const off_t end = ::lseek(fd_.get(), 0, SEEK_END);  // nothing here reads from the place that this moves
  if (end < 0) cannot_read(path_, errno);
  return static_cast<std::uint64_t>(end);
}

std::size_t InputFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - into.size()) return 0;
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t bytes = ::pread(fd_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) cannot_read(path_, errno);
    if (bytes == 0) break;
    done += static_cast<std::size_t>(bytes);
  }
  return done;
}

std::optional<Prefix> InputFile::read_prefix(std::uint64_t offset) const {
  std::array<std::byte, kPrefixBytes> bytes{};
  if (read(offset, bytes) != bytes.size()) return std::nullopt;
  return Prefix(bytes);
}

bool InputFile::read_exactly(std::uint64_t offset, std::uint64_t bytes, Bytes& into) const {
  const std::uint64_t end = size();
  if (offset > end || bytes > end - offset) return false;
  into.resize(static_cast<std::size_t>(bytes));
  return read(offset, into) == bytes;
}

}  // namespace cardan::mcap
