// SPDX-License-Identifier: Apache-2.0
// A server on a thread, clients that are made of bytes, and clients of other users.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/bridge/foxglove/socket_server.hpp"

namespace cardan::bridge::foxglove {

using namespace std::chrono_literals;

inline constexpr const char* kUpgrade =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
inline const std::string kHello = std::string(kUpgrade) + "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n";

/// Sends back each text, and on "large" a message that does not fit into the kernel's buffers. On "no memory" it has
/// none; on "no memory then", once its answer has been sent. On "wait" it waits for `hold`.
class Echo final : public Client {
 public:
  Echo(Connection& connection, std::atomic<int>& gone, std::mutex& hold, std::vector<std::size_t>& sizes)
      : connection_(connection), gone_(gone), hold_(hold), sizes_(sizes) {}
  ~Echo() override { ++gone_; }
  void text(std::string_view text) override {
    sizes_.push_back(text.size());
    if (text == "wait") {
      const std::lock_guard wait(hold_);
    }
    if (text == "no memory") throw std::bad_alloc();
    fails_then_ = text == "no memory then";
    waiting_.push_back(text == "large" ? std::string(64 << 20, 'x') : std::string(text));
    next();
  }
  void binary(std::span<const std::byte>) override {}
  [[nodiscard]] std::size_t most_binary_bytes() const noexcept override { return 10'000; }
  [[nodiscard]] bool publishes() const noexcept override { return false; }
  void sent() override {
    if (fails_then_) throw std::bad_alloc();
    next();
  }

 private:
  void next() {
    if (connection_.is_busy() || waiting_.empty()) return;
    under_way_ = std::move(waiting_.front());
    waiting_.pop_front();
    connection_.send(false, {std::as_bytes(std::span(under_way_))});
  }
  Connection& connection_;
  std::atomic<int>& gone_;
  std::mutex& hold_;
  std::vector<std::size_t>& sizes_;
  std::deque<std::string> waiting_;
  std::string under_way_;
  bool fails_then_ = false;
};

class FoxgloveServer : public testing::Test, public Application {
 protected:
  static constexpr unsigned kStranger = 47110;  ///< the first of the users that only attack
  static bool is_root() { return ::geteuid() == 0; }
  void serve(ServerOptions options) {
    options.port = 0;
    server_ = std::make_unique<SocketServer>(options, static_cast<Application&>(*this));
    port_ = server_->port();
    thread_ = std::thread([this] {
      while (!stop_) server_->run(10ms);
    });
  }
  void TearDown() override { stop(); }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// A socket belongs to the user whose file system rights its maker has.
  static Fd socket_of(std::optional<unsigned> user, int family = AF_INET) {
    if (user) ::setfsuid(*user);
    Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (user) ::setfsuid(::geteuid());
    return fd;
  }
  /// `user`: not ours; as root alone.
  [[nodiscard]] Fd connection(std::optional<unsigned> user = {}) const {
    Fd fd = socket_of(user);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }
  static bool send(const Fd& fd, const std::string& bytes) {
    return ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// The bytes until the other side ends, or until `end` is in it.
  static std::string receive(const Fd& fd, const std::string& end = {}) {
    std::string all;
    char bytes[4096];
    while (end.empty() || all.find(end) == std::string::npos) {
      const ssize_t got = ::recv(fd.get(), bytes, sizeof(bytes), 0);
      if (got <= 0) break;
      all.append(bytes, static_cast<std::size_t>(got));
    }
    return all;
  }
  [[nodiscard]] Fd client(std::optional<unsigned> user = {}) const {
    Fd fd = connection(user);
    EXPECT_TRUE(send(fd, kHello));
    EXPECT_TRUE(receive(fd, "\r\n\r\n").starts_with("HTTP/1.1 101"));
    return fd;
  }
  /// Empty: it was refused.
  [[nodiscard]] Fd try_client(std::optional<unsigned> user = {}) const {
    Fd fd = connection(user);
    return send(fd, kHello) && receive(fd, "\r\n\r\n").starts_with("HTTP/1.1 101") ? std::move(fd) : Fd();
  }
  /// As a client masks it, with zeros.
  static std::string frame(int opcode, const std::string& text, std::uint64_t claimed = 0) {
    const std::uint64_t size = std::max<std::uint64_t>(claimed, text.size());
    std::string bytes{static_cast<char>(0x80 | opcode)};
    if (size < 126) {
      bytes += static_cast<char>(0x80 | size);
    } else {
      const bool is_short = size < 65'536;  // the shortest form is a must
      bytes += static_cast<char>(is_short ? 0xfe : 0xff);
      for (int shift = is_short ? 8 : 56; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
    }
    return bytes + std::string(4, '\0') + text;
  }
  static bool echoes(const Fd& fd, const std::string& text) {
    return send(fd, frame(1, text)) && receive(fd, text).find(text) != std::string::npos;
  }

  std::atomic<int> gone_{0};  ///< clients
  std::mutex hold_;
  std::vector<std::size_t> sizes_;  ///< of the texts that were handled, in order; read it after stop()
  std::atomic<bool> no_memory_{false};
  std::unique_ptr<SocketServer> server_;

 private:
  std::unique_ptr<Client> connected(Connection& connection) override {
    if (no_memory_) throw std::bad_alloc();
    return std::make_unique<Echo>(connection, gone_, hold_, sizes_);
  }
  std::optional<Page> page(std::string_view path) override {
    if (path == "/large") throw std::bad_alloc();
    if (path == "/look.json") return Page{.type = "application/json", .body = "{}"};
    if (path != "/") return std::nullopt;
    return Page{.type = "text/html", .body = "the page"};
  }

  std::atomic<bool> stop_{false};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace cardan::bridge::foxglove
