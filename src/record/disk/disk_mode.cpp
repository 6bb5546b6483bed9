// SPDX-License-Identifier: Apache-2.0
#include "cardan/disk_mode.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "src/record/disk/io_queue.hpp"

namespace cardan::record {
namespace {

constexpr std::array<const char*, 4> kModeNames{"direct", "dontcache", "sync-range", "plain"};
constexpr std::size_t kProbeBytes = 8192;

struct FreeAligned {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

std::string words(int error) { return std::generic_category().message(error); }

/// A file without a name in the folder, or with one for as long as it takes where that is not known.
Fd scratch_file(const std::string& folder, int flags) {
  Fd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
  if (fd || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
  std::string name = folder + "/.cardan-probe-XXXXXX";
  fd = Fd(::mkostemp(name.data(), O_CLOEXEC | flags));
  const int error = errno;
  if (fd) ::unlink(name.c_str());
  errno = error;
  return fd;
}

/// Tries the mode out; errno, or 0.
int try_mode(const std::string& folder, DiskMode mode) {
  const Fd fd = scratch_file(folder, mode == DiskMode::Direct ? O_DIRECT : 0);
  if (!fd) return errno;
  const std::unique_ptr<void, FreeAligned> memory(std::aligned_alloc(4096, kProbeBytes));
  std::fill_n(static_cast<char*>(memory.get()), kProbeBytes, 'x');
  const iovec part{memory.get(), kProbeBytes};
  const ssize_t n = ::pwritev2(fd.get(), &part, 1, 0, mode == DiskMode::DontCache ? disk::kDontCache : 0);
  if (n < 0) return errno;
  if (n != static_cast<ssize_t>(kProbeBytes)) return EIO;
  if (mode == DiskMode::SyncRange && ::sync_file_range(fd.get(), 0, kProbeBytes, SYNC_FILE_RANGE_WRITE) != 0)
    return errno;
  return 0;
}

/// Tries io_uring out with a write in this mode; why not, or nothing.
std::string try_uring(const std::string& folder, DiskMode mode) {
  const Fd fd = scratch_file(folder, mode == DiskMode::Direct ? O_DIRECT : 0);
  const std::unique_ptr<void, FreeAligned> memory(std::aligned_alloc(4096, kProbeBytes));
  if (!fd) return words(errno);
  try {
    const auto queue = disk::make_uring_queue(mode, 4);
    std::fill_n(static_cast<char*>(memory.get()), kProbeBytes, 'x');
    DiskWrite write{.fd = fd.get()};
    write.add(memory.get(), kProbeBytes);
    queue->write(1, write);
    queue->submit();
    std::vector<DiskDone> done;
    const std::int64_t until = steady_now() + 2'000'000'000;
    while (done.empty() && steady_now() < until) {
      queue->wait(until);
      queue->reap(done);
    }
    if (done.empty()) return "a write did not complete within 2 s";
    return done[0].error == 0 ? std::string() : words(done[0].error);
  } catch (const Error& e) {
    return e.cause();
  }
}

}  // namespace

const char* to_string(DiskMode mode) noexcept { return kModeNames[static_cast<std::size_t>(mode)]; }

std::optional<DiskMode> disk_mode_of(const std::string& word) noexcept {
  for (std::size_t i = 0; i < kModeNames.size(); ++i)
    if (word == kModeNames[i]) return static_cast<DiskMode>(i);
  return std::nullopt;
}

DiskProbe probe_disk(const std::string& folder, std::optional<DiskMode> wanted, bool want_io_uring) {
  DiskProbe probe;
  if (const int error = try_mode(folder, DiskMode::Plain); error != 0)
    throw Error(ErrorCode::System, "cannot write in the folder " + folder + ": " + words(error),
                "make the folder, or record into another one");
  std::string why;
  for (const DiskMode mode : {DiskMode::Direct, DiskMode::DontCache, DiskMode::SyncRange, DiskMode::Plain}) {
    if (wanted && mode != *wanted) continue;
    const int error = try_mode(folder, mode);
    if (error == 0) {
      probe.mode = mode;
      break;
    }
    if (wanted)
      throw Error(ErrorCode::Unavailable,
                  std::string("writing by '") + to_string(mode) + "' does not work in " + folder + ": " + words(error),
                  "let the recorder choose, or record to another file system");
    why += std::string("no ") + to_string(mode) + " (" + words(error) + "), ";
  }
  std::string no_uring = want_io_uring ? try_uring(folder, probe.mode) : "not wanted";
  probe.io_uring = no_uring.empty();
  probe.why = why + to_string(probe.mode) + " by " +
              (probe.io_uring ? std::string("io_uring") : "threads (io_uring: " + no_uring + ")");
  return probe;
}

}  // namespace cardan::record
