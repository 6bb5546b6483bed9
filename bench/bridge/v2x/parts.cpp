// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/v2x/parts.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bridge/v2x/talk.hpp"
#include "cardan/cardan.hpp"

namespace cardan::bench {
namespace {

using v2x::Channel;

[[noreturn]] void fail_socket(const char* what) {
  throw Error(ErrorCode::System, fmt::format("{}: {}", what, std::strerror(errno)), {});
}

bool is_readable(int fd, std::int64_t until) {
  const std::int64_t left = std::max<std::int64_t>(until - now_ns(), 0);
  const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  pollfd ready{fd, POLLIN, 0};
  return ::ppoll(&ready, 1, &timeout, nullptr) > 0;
}

sockaddr_in address_of(const nlohmann::json& job) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(job.at("port").get<std::uint16_t>());
  ::inet_pton(AF_INET, job.at("address").get<std::string>().c_str(), &address.sin_addr);
  return address;
}

/// A message is `bytes`, of which the first eight are its number.
class Udp final : public Channel {
 public:
  Udp(const nlohmann::json& job, bool asks)
      : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), message_(job.at("bytes").get<std::size_t>()) {
    const sockaddr_in address = address_of(job);
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    if (!fd_) fail_socket("cannot make a UDP socket");
    if ((asks ? ::connect(fd_.get(), at, sizeof address) : ::bind(fd_.get(), at, sizeof address)) != 0)
      fail_socket("cannot use the UDP address");
    connected_ = asks;
  }
  void send(std::uint64_t number) override {
    std::memcpy(message_.data(), &number, sizeof number);
    if (connected_)  // what cannot be sent now is lost
      static_cast<void>(::send(fd_.get(), message_.data(), message_.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    else
      static_cast<void>(::sendto(fd_.get(), message_.data(), message_.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                 reinterpret_cast<const sockaddr*>(&from_), sizeof from_));
  }
  std::optional<std::uint64_t> receive(std::int64_t until) override {
    if (!is_readable(fd_.get(), until)) return std::nullopt;
    socklen_t size = sizeof from_;
    const ssize_t got = ::recvfrom(fd_.get(), message_.data(), message_.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&from_), &size);
    if (got < 0 || static_cast<std::size_t>(got) != message_.size()) return std::nullopt;
    std::uint64_t number = 0;
    std::memcpy(&number, message_.data(), sizeof number);
    return number;
  }

 private:
  Fd fd_;
  std::vector<std::byte> message_;
  sockaddr_in from_{};
  bool connected_ = false;
};

class Tcp final : public Channel {
 public:
  Tcp(const nlohmann::json& job, bool asks) : message_(job.at("bytes").get<std::size_t>()), in_(message_.size()) {
    const sockaddr_in address = address_of(job);
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) fail_socket("cannot make a TCP socket");
    const int yes = 1;
    if (asks) {
      if (::connect(fd.get(), at, sizeof address) != 0) fail_socket("cannot connect");
      fd_ = std::move(fd);
    } else {
      ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      if (::bind(fd.get(), at, sizeof address) != 0 || ::listen(fd.get(), 1) != 0) fail_socket("cannot listen");
      listening_ = std::move(fd);
    }
    no_delay();
  }
  void send(std::uint64_t number) override {
    std::memcpy(message_.data(), &number, sizeof number);
    for (std::size_t done = 0; done < message_.size() && fd_;) {
      const ssize_t n = ::send(fd_.get(), message_.data() + done, message_.size() - done, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return fd_.reset();
      done += static_cast<std::size_t>(n);
    }
  }
  std::optional<std::uint64_t> receive(std::int64_t until) override {
    while (is_readable(fd_ ? fd_.get() : listening_.get(), until)) {
      if (!fd_) {
        fd_ = Fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        no_delay();
        continue;
      }
      const ssize_t got = ::recv(fd_.get(), in_.data() + here_, in_.size() - here_, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        if (!listening_) fail_socket("the other end has gone");
        fd_.reset();
        continue;
      }
      here_ += got > 0 ? static_cast<std::size_t>(got) : 0;
      if (here_ < in_.size()) continue;
      here_ = 0;
      std::uint64_t number = 0;
      std::memcpy(&number, in_.data(), sizeof number);
      return number;
    }
    return std::nullopt;
  }

 private:
  void no_delay() {
    const int yes = 1;
    if (fd_) ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  std::vector<std::byte> message_, in_;
  Fd fd_, listening_;
  std::size_t here_ = 0;
};

/// An image of one row: a type that a bridge knows without more. Its first bytes are the number.
class Topics final : public Channel {
 public:
  Topics(const nlohmann::json& job, bool asks)
      : bytes_(job.at("bytes").get<std::uint32_t>()),
        out_name_(name_of(job, asks ? "question" : "answer")),
        in_name_(name_of(job, asks ? "answer" : "question")),
        out_(topic(out_name_)),
        in_(topic(in_name_)) {}
  void send(std::uint64_t number) override {
    auto message = out_.loan();
    if (!message) return;
    const auto pixels = message->resize(1, bytes_, "mono8");
    std::memset(pixels.data(), 0, pixels.size());
    std::memcpy(pixels.data(), &number, sizeof number);
    message->header.stamp = wall_now();
    out_.publish(std::move(message));
  }
  std::optional<std::uint64_t> receive(std::int64_t until) override {
    const auto message = in_.wait(std::chrono::nanoseconds(std::max<std::int64_t>(until - now_ns(), 0)));
    std::uint64_t number = 0;
    if (!message || message->data.size() < sizeof number) return std::nullopt;
    std::memcpy(&number, message->data.data(), sizeof number);
    return number;
  }

 private:
  static std::string name_of(const nlohmann::json& job, const char* what) {
    return fmt::format("/v2x/{}/{}", job.at("name").get<std::string>(), what);
  }
  static Topic<Image> topic(const std::string& name) {
    return Topic<Image>{name.c_str(), {.max_bytes = 1U << 20U, .depth = 8}};
  }
  std::uint32_t bytes_;
  std::string out_name_, in_name_;
  Publisher<Image> out_;
  Subscriber<Image> in_;
};

std::unique_ptr<Channel> channel_of(const nlohmann::json& job, bool asks) {
  const std::string peer = job.at("peer");
  if (peer == "udp") return std::make_unique<Udp>(job, asks);
  if (peer == "tcp") return std::make_unique<Tcp>(job, asks);
  return std::make_unique<Topics>(job, asks);
}

void play_ask(const nlohmann::json& job) {
  Stage stage;
  const auto channel = channel_of(job, true);
  v2x::ask(stage, *channel, job);
}

void play_answer(const nlohmann::json& job) {
  Stage stage;
  const auto channel = channel_of(job, false);
  stage.ready();
  v2x::answer(stage, *channel);
}

}  // namespace

int play_v2x_part(const char* job) noexcept { return play_part({{"ask", play_ask}, {"answer", play_answer}}, job); }

}  // namespace cardan::bench
