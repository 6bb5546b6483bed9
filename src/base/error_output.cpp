// SPDX-License-Identifier: Apache-2.0
#include "src/base/error_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <string_view>

#include "cardan/detail/atomic.hpp"
#include "cardan/detail/fd.hpp"

namespace cardan::detail {
namespace {

Atomic<std::uint64_t> lines_left_out{0};

bool write_all(int fd, std::string_view text, bool is_socket) noexcept {
  while (!text.empty()) {
    const ssize_t n = is_socket ? ::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Up to PIPE_BUF bytes, so that a pipe takes all of them or none.
bool write_now(std::string_view text) noexcept {
  struct stat st{};
  if (::fstat(STDERR_FILENO, &st) != 0) return false;
  if (S_ISSOCK(st.st_mode)) return write_all(STDERR_FILENO, text, true);
  // A file takes what is written; a separate description would not move the offset that standard output may share.
  if (S_ISREG(st.st_mode)) return write_all(STDERR_FILENO, text, false);
  // O_NONBLOCK belongs to the open description, and that one to the application: so one of our own.
  const Fd own(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own) return write_all(own.get(), text, false);
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};  // a pipe of another user: it cannot be re-opened
  return ::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0 && write_all(STDERR_FILENO, text, false);
}

}  // namespace

void write_error_line(const std::string& line) noexcept {
  if (const std::uint64_t n = lines_left_out.exchange(0, std::memory_order_relaxed); n != 0) {
    char text[128];
    const int length = std::snprintf(
        text, sizeof(text), "cardan: warning: %llu lines before this one are missing: standard error was full\n",
        static_cast<unsigned long long>(n));
    if (!write_now({text, static_cast<std::size_t>(length)})) lines_left_out.fetch_add(n, std::memory_order_relaxed);
  }
  // In one piece, so that lines of several processes do not mix.
  char piece[PIPE_BUF];
  const std::size_t length = line.size() < sizeof(piece) - 1 ? line.size() : sizeof(piece) - 1;
  line.copy(piece, length);
  piece[length] = '\n';
  if (!write_now({piece, length + 1})) lines_left_out.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cardan::detail
