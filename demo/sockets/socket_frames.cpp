// SPDX-License-Identifier: Apache-2.0
#include "demo/sockets/socket_frames.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <system_error>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::street {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr int kLook = 20;  // ms

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

// All of it or false.
bool send_all(int fd, std::span<iovec> parts) noexcept {
  while (!parts.empty()) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    auto left = static_cast<std::size_t>(sent);
    while (!parts.empty() && left >= parts.front().iov_len) {
      left -= parts.front().iov_len;
      parts = parts.subspan(1);
    }
    if (!parts.empty()) {
      parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + left;
      parts.front().iov_len -= left;
    }
  }
  return true;
}

}  // namespace

SocketServer::SocketServer(std::string path)
    : path_(std::move(path)), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (path_.size() >= sizeof(sockaddr_un::sun_path)) {
    throw Error(ErrorCode::Limit, "the socket path " + path_ + " is longer than the 107 bytes that Linux allows",
                "set TMPDIR to a shorter folder");
  }
  const sockaddr_un address = address_of(path_);
  ::unlink(path_.c_str());
  if (!listener_ || ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_.get(), 64) != 0) {
    throw Error(ErrorCode::Unavailable,
                "cannot make the socket " + path_ + ": " + std::generic_category().message(errno),
                "check that the folder exists and is writable");
  }
}

SocketServer::~SocketServer() { ::unlink(path_.c_str()); }

void SocketServer::publish(std::span<const std::byte> frame) noexcept {
  while (true) {
    Fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (!client) break;
    const timeval second{1, 0};
    ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
    clients_.push_back(std::move(client));
  }
  SocketReader::Head head{frame.size(), ++published_, steady_now()};
  std::erase_if(clients_, [&](const Fd& client) {
    iovec parts[2] = {{&head, sizeof(head)}, {const_cast<std::byte*>(frame.data()), frame.size()}};
    return !send_all(client.get(), parts);
  });
}

void SocketReader::Buffer::Free::operator()(std::byte* p) const noexcept {
  ::operator delete[](p, std::align_val_t{kAlignment});
}

void SocketReader::Buffer::need(std::size_t wanted) {
  size = wanted;
  if (wanted <= capacity && bytes) return;
  bytes.reset(
      static_cast<std::byte*>(::operator new[](std::max<std::size_t>(wanted, 1), std::align_val_t{kAlignment})));
  capacity = wanted;
}

void SocketReader::restart() noexcept {
  socket_.reset();
  head_read_ = body_read_ = 0;
  last_taken_ = 0;  // a new server counts from 1 again
}

void SocketReader::connect() {
  Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un address = address_of(path_);
  if (fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    socket_ = std::move(fd);
}

void SocketReader::pump() {
  if (!socket_) connect();
  while (socket_) {
    const bool in_head = head_read_ < sizeof(head_);
    void* const to = in_head ? static_cast<void*>(reinterpret_cast<std::byte*>(&head_) + head_read_)
                             : incoming_.bytes.get() + body_read_;
    const std::size_t wanted = in_head ? sizeof(head_) - head_read_ : incoming_.size - body_read_;
    const ssize_t got = wanted == 0 ? 0 : ::recv(socket_.get(), to, wanted, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0 && wanted > 0) return restart();
    (in_head ? head_read_ : body_read_) += static_cast<std::size_t>(got);
    if (in_head && head_read_ == sizeof(head_)) {
      if (head_.bytes > kLargest) return restart();
      incoming_.need(head_.bytes);
      body_read_ = 0;
    }
    if (head_read_ < sizeof(head_) || body_read_ < incoming_.size) continue;
    incoming_.sequence = head_.sequence;
    incoming_.published = head_.published;
    std::swap(incoming_, ready_);
    fresh_ = true;
    head_read_ = body_read_ = 0;
  }
}

std::optional<SocketReader::Frame> SocketReader::take() {
  if (!fresh_) return std::nullopt;
  fresh_ = false;
  std::swap(ready_, held_);
  Frame frame{{held_.bytes.get(), held_.size}, held_.sequence, 0, held_.published};
  if (last_taken_ != 0 && held_.sequence > last_taken_) frame.missed = held_.sequence - last_taken_ - 1;
  last_taken_ = held_.sequence;
  return frame;
}

SocketInbox::SocketInbox() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_)
    throw Error(ErrorCode::Limit, "cannot make an eventfd: " + std::generic_category().message(errno),
                "raise `ulimit -n`");
  // Signals are for the main thread: it looks at stopping().
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  helper_ = std::thread([this] { drain(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SocketInbox::~SocketInbox() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  ::eventfd_write(wake_.get(), 1);
  helper_.join();
}

SocketReader& SocketInbox::open(std::string path) {
  const std::lock_guard lock(mutex_);
  readers_.push_back(std::unique_ptr<SocketReader>(new SocketReader(std::move(path))));
  return *readers_.back();
}

void SocketInbox::pump_all() {
  for (const auto& reader : readers_) reader->pump();
}

bool SocketInbox::any_fresh() const noexcept {
  return std::any_of(readers_.begin(), readers_.end(), [](const auto& reader) { return reader->fresh_; });
}

bool SocketInbox::wait(const std::function<bool()>& stopping) {
  bool helper_reads = false;
  {
    const std::lock_guard lock(mutex_);
    helper_reads = std::exchange(computing_, false);
  }
  if (helper_reads) ::eventfd_write(wake_.get(), 1);
  std::vector<pollfd> fds;
  while (!stopping()) {
    fds.clear();
    {
      const std::lock_guard lock(mutex_);
      pump_all();
      if (any_fresh()) return true;
      for (const auto& reader : readers_) {
        if (reader->socket_) fds.push_back({reader->socket_.get(), POLLIN, 0});
      }
    }
    ::poll(fds.data(), fds.size(), kLook);
  }
  return false;
}

std::optional<SocketReader::Frame> SocketInbox::take(SocketReader& reader) {
  const std::lock_guard lock(mutex_);
  return reader.take();
}

void SocketInbox::compute() {
  {
    const std::lock_guard lock(mutex_);
    computing_ = true;
  }
  changed_.notify_one();
}

void SocketInbox::drain() {
  std::vector<pollfd> fds;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return computing_ || ended_; });
    if (ended_) return;
    pump_all();
    fds.assign(1, {wake_.get(), POLLIN, 0});
    for (const auto& reader : readers_) {
      if (reader->socket_) fds.push_back({reader->socket_.get(), POLLIN, 0});
    }
    lock.unlock();
    ::poll(fds.data(), fds.size(), kLook);
    eventfd_t rung = 0;
    ::eventfd_read(wake_.get(), &rung);
    lock.lock();
  }
}

}  // namespace cardan::street
