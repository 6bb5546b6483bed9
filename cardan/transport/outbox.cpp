// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/outbox.hpp"

#include <fcntl.h>

#include <cerrno>

#include "cardan/memory/socket.hpp"

namespace cardan::detail {
namespace {
constexpr std::size_t kMostWaiting = 4096;
constexpr std::size_t kMostBytes = std::size_t{4}
                                   << 20;  ///< who asks for long lists and reads none must not fill our memory
bool full(int error) { return error == EAGAIN || error == ENOBUFS || error == ETOOMANYREFS; }
}  // namespace

bool Outbox::send(int socket, std::string_view text, const std::vector<int>& fds) {
  if (waiting_.empty()) {
    if (socket::send(socket, text, fds)) return true;
    if (!full(errno)) return false;
  }
  if (waiting_.size() == kMostWaiting || bytes_ + text.size() > kMostBytes) return false;
  bytes_ += text.size();
  Letter letter{std::string(text), {}};
  for (const int fd : fds) letter.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  waiting_.push_back(std::move(letter));
  return true;
}

bool Outbox::flush(int socket) {
  while (!waiting_.empty()) {
    std::vector<int> fds;
    for (const Fd& fd : waiting_.front().fds) fds.push_back(fd.get());
    if (!socket::send(socket, waiting_.front().text, fds)) return full(errno);
    bytes_ -= waiting_.front().text.size();
    waiting_.pop_front();
  }
  return true;
}

}  // namespace cardan::detail
