// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/log_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::launcher {

LogFile::LogFile(LogFileOptions options) : options_(std::move(options)) {
  if (options_.bytes < 1024 || options_.files > 1000)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("a log of {} bytes and {} files", options_.bytes, options_.files + 1),
                "use at least 1 KiB and at most 1000 files");
  open();
  if (fd_ < 0) throw Error(ErrorCode::System, std::exchange(trouble_, {}), "check the path and its rights");
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "cardan-log");
}

LogFile::~LogFile() { (void)close(); }

std::string LogFile::close() {
  if (!thread_.joinable()) return {};
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0) failed("write", errno);
  // The thread is over: the rest is ours. The lines that it left out last are not mentioned in the file.
  std::string said = std::exchange(trouble_, {});
  if (dropped_ == 0) return said;
  if (said.empty())
    said = last_trouble_.empty() ? fmt::format("the log {} is too slow", options_.path) : std::move(last_trouble_);
  return fmt::format("{}; {} line{} not in it", said, dropped_, dropped_ == 1 ? " is" : "s are");
}

void LogFile::add(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() + line.size() > kWaiting) {
    ++dropped_;
    return;
  }
  waiting_ += line;
  wake_.notify_all();
}

std::string LogFile::trouble() {
  const std::lock_guard lock(mutex_);
  return std::exchange(trouble_, {});
}

void LogFile::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::string lines = std::exchange(waiting_, {});
    const std::uint64_t dropped = std::exchange(dropped_, 0);
    if (dropped != 0)
      lines += fmt::format("cardan: {} lines were left out here: they could not be written in time\n", dropped);
    lock.unlock();
    const std::uint64_t lost = write(lines);
    lock.lock();
    // With the line that says how many were left out before these.
    if (lost != 0) dropped_ += lost + (dropped != 0 ? dropped - 1 : 0);
  }
}

std::uint64_t LogFile::write(std::string_view lines) {
  const auto count = [](std::string_view text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  };
  while (!lines.empty()) {
    // As many whole lines as fit.
    const std::size_t room = options_.bytes > size_ ? options_.bytes - size_ : 0;
    std::size_t fits = lines.size();
    if (fits > room) {
      const std::size_t end = room == 0 ? std::string_view::npos : lines.rfind('\n', room - 1);
      fits = end == std::string_view::npos ? 0 : end + 1;
    }
    if (fits == 0 && size_ > 0) {
      rotate();
      if (size_ > 0) return count(lines);  // it could not: a file must not grow without end
      continue;
    }
    if (fits == 0) fits = std::min(lines.size(), options_.bytes);  // a line that is longer than a file
    if (!write_some(lines.substr(0, fits))) return count(lines);
    lines.remove_prefix(fits);
  }
  return 0;
}

bool LogFile::write_some(std::string_view part) {
  if (fd_ < 0) open();
  while (fd_ >= 0 && !part.empty()) {
    const ssize_t wrote = ::write(fd_, part.data(), part.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      failed("write", errno);
      return false;
    }
    size_ += static_cast<std::size_t>(wrote);
    part.remove_prefix(static_cast<std::size_t>(wrote));
    failing_ = false;
  }
  return part.empty();
}

void LogFile::open() {
  // Without waiting for a pipe's reader, and not through a link that another user put into a shared folder.
  const int fd =
      ::open(options_.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640);
  if (fd < 0) return failed("open", errno);
  struct stat file{};
  const bool known = ::fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
  if (!known || file.st_uid != ::geteuid()) {  // what another user put there, that user can read and change
    ::close(fd);
    return failed("open", known ? EEXIST : EINVAL);
  }
  fd_ = fd;
  size_ = static_cast<std::size_t>(file.st_size);
}

void LogFile::rotate() {
  const auto name = [this](std::size_t n) { return n == 0 ? options_.path : fmt::format("{}.{}", options_.path, n); };
  if (options_.files == 0 && ::unlink(options_.path.c_str()) != 0 && errno != ENOENT) return failed("remove", errno);
  for (std::size_t n = options_.files; n > 0; --n)
    if (::rename(name(n - 1).c_str(), name(n).c_str()) != 0 && errno != ENOENT) return failed("rename", errno);
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  size_ = 0;
  open();
}

void LogFile::failed(const std::string& what, int error) {
  if (std::exchange(failing_, true)) return;
  const std::lock_guard lock(mutex_);
  trouble_ = fmt::format("cannot {} the log {}: {}", what, options_.path,
                         what != "open"    ? std::generic_category().message(error)
                         : error == EINVAL ? "it is not a file"
                         : error == EEXIST ? "it belongs to another user"
                                           : std::generic_category().message(error));
  last_trouble_ = trouble_;
}

}  // namespace cardan::launcher
