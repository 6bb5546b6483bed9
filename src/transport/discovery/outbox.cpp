// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/outbox.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "cardan/clock.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/socket.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {
namespace {

bool full(int error) { return error == EAGAIN || error == ENOBUFS || error == ETOOMANYREFS; }

/// Whether the peer has received all bytes, as the kernel counts them.
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

std::optional<DescriptorShares::Claim> Outbox::claim_for(int socket, std::size_t descriptors) {
  if (!foreign_) return DescriptorShares::Claim();
  settle(socket);
  return DescriptorShares::of_process().claim(uid_, descriptors);
}

bool Outbox::room_on_the_way(int socket, std::size_t descriptors, DescriptorShares::Claim& claim) {
  if (descriptors == 0 || !foreign_) return true;
  settle(socket);
  if (on_the_way_ == limits_.with_descriptors) return false;
  if (claim) return true;
  auto share = DescriptorShares::of_process().claim(uid_, descriptors);
  if (share) claim = std::move(*share);
  return share.has_value();
}

Outbox::Sent Outbox::try_send(int socket, std::string_view text, const std::vector<int>& fds,
                              DescriptorShares::Claim& claim) {
  if (!room_on_the_way(socket, fds.size(), claim)) return Sent::Full;
  if (!socket::send(socket, text, fds)) return full(errno) ? Sent::Full : Sent::Never;
  if (claim) {
    claim_.join(std::move(claim));
    ++on_the_way_;
  }
  return Sent::Yes;
}

bool Outbox::send(int socket, std::string_view text, const std::vector<int>& fds, std::shared_ptr<const void> keep,
                  DescriptorShares::Claim claim) {
  if (waiting_.empty()) {
    const Sent sent = try_send(socket, text, fds, claim);
    if (sent != Sent::Full) return sent == Sent::Yes;
    since_ = steady_now();
  }
  if (waiting_.size() == limits_.letters || bytes_ + text.size() > limits_.bytes ||
      (!fds.empty() && with_descriptors_ == limits_.with_descriptors)) {
    errno = ENOBUFS;
    return false;
  }
  Letter letter{std::string(text), fds, {}, std::move(keep), std::move(claim), {}};
  if (!letter.keep && !fds.empty()) {
    auto share = DescriptorShares::of_process().claim(uid_, fds.size());
    if (!share) {
      errno = EMFILE;
      return false;
    }
    letter.of_own = std::move(*share);
    for (int& fd : letter.fds) {
      letter.own.push_back(make_bound([fd] { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); }));
      if (!letter.own.back()) return false;
      fd = letter.own.back().get();
    }
  }
  bytes_ += text.size();
  if (!fds.empty()) ++with_descriptors_;
  waiting_.push_back(std::move(letter));
  return true;
}

bool Outbox::flush(int socket) {
  while (!waiting_.empty()) {
    Letter& first = waiting_.front();
    const Sent sent = try_send(socket, first.text, first.fds, first.on_the_way);
    if (sent != Sent::Yes) return sent == Sent::Full;
    bytes_ -= first.text.size();
    if (!first.fds.empty()) --with_descriptors_;
    waiting_.pop_front();
    since_ = steady_now();
  }
  return true;
}

}  // namespace cardan::detail
