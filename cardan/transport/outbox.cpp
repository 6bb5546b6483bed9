// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/outbox.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "cardan/memory/bound_fd.hpp"
#include "cardan/memory/clock.hpp"
#include "cardan/memory/socket.hpp"

namespace cardan::detail {
namespace {

bool full(int error) { return error == EAGAIN || error == ENOBUFS || error == ETOOMANYREFS; }

/// Bytes that the peer has not received yet, as the kernel counts them.
bool all_read(int socket) {
  int unread = 0;
  return ::ioctl(socket, SIOCOUTQ, &unread) == 0 && unread == 0;
}

}  // namespace

void Outbox::for_peer(uid_t uid) {
  uid_ = uid;
  foreign_ = is_foreign(uid);
  limits_ = foreign_ ? kForeign : kOwn;
}

void Outbox::settle(int socket) {
  if (on_the_way_ == 0 || !all_read(socket)) return;
  on_the_way_ = 0;
  claim_.give_back();
}

bool Outbox::room_on_the_way(int socket, std::size_t descriptors) {
  if (descriptors == 0 || !foreign_) return true;
  settle(socket);
  if (on_the_way_ == limits_.with_descriptors) return false;
  auto claim = DescriptorShares::of_process().claim(uid_, descriptors);
  if (!claim) return false;
  claim_.join(std::move(*claim));
  ++on_the_way_;
  return true;
}

Outbox::Sent Outbox::try_send(int socket, std::string_view text, const std::vector<int>& fds) {
  if (!room_on_the_way(socket, fds.size())) return Sent::Full;
  if (socket::send(socket, text, fds)) return Sent::Yes;
  return full(errno) ? Sent::Full : Sent::Never;
}

bool Outbox::send(int socket, std::string_view text, const std::vector<int>& fds, std::shared_ptr<const void> keep) {
  if (waiting_.empty()) {
    const Sent sent = try_send(socket, text, fds);
    if (sent != Sent::Full) return sent == Sent::Yes;
    since_ = steady_now();
  }
  if (waiting_.size() == limits_.letters || bytes_ + text.size() > limits_.bytes ||
      (!fds.empty() && with_descriptors_ == limits_.with_descriptors)) {
    errno = ENOBUFS;
    return false;
  }
  Letter letter{std::string(text), fds, {}, std::move(keep)};
  if (!letter.keep)
    for (int& fd : letter.fds) {
      letter.own.push_back(make_bound([fd] { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }));
      if (!letter.own.back()) return false;
      fd = letter.own.back().get();
    }
  bytes_ += text.size();
  if (!fds.empty()) ++with_descriptors_;
  waiting_.push_back(std::move(letter));
  return true;
}

bool Outbox::flush(int socket) {
  while (!waiting_.empty()) {
    const Letter& first = waiting_.front();
    const Sent sent = try_send(socket, first.text, first.fds);
    if (sent != Sent::Yes) return sent == Sent::Full;
    bytes_ -= first.text.size();
    if (!first.fds.empty()) --with_descriptors_;
    waiting_.pop_front();
    since_ = steady_now();
  }
  return true;
}

}  // namespace cardan::detail
