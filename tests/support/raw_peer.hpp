// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/socket.hpp"
#include "src/transport/discovery/handshake.hpp"

namespace cardan::test {

namespace handshake = detail::handshake;

/// The handshake spoken by hand: a peer that says what the test wants it to say.
class RawPeer {
 public:
  explicit RawPeer(const std::string& path) {
    int error = 0;
    fd_ = socket::connect_to(path, error);
  }
  explicit RawPeer(Fd fd) : fd_(std::move(fd)) {}

  explicit operator bool() const { return static_cast<bool>(fd_); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  bool send(const std::string& text, const std::vector<int>& fds = {}) const {
    return socket::send(fd_.get(), text, fds);
  }
  bool send(const handshake::Message& message, const std::vector<int>& fds = {}) const {
    return send(handshake::encode(message), fds);
  }
  /// The next message; empty at the end of the connection or after `timeout`.
  std::optional<socket::Message> receive(std::chrono::milliseconds timeout = std::chrono::seconds(5)) const {
    pollfd p{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&p, 1, static_cast<int>(timeout.count())) <= 0) return std::nullopt;
    socket::Message message;
    if (socket::receive(fd_.get(), message) != socket::Received::Message) return std::nullopt;
    return message;
  }
  /// Messages until one has this `op`.
  std::optional<socket::Message> receive_op(const std::string& op,
                                            std::chrono::milliseconds timeout = std::chrono::seconds(5)) const {
    for (;;) {
      auto message = receive(timeout);
      if (!message || message->text.find("\"op\":\"" + op + "\"") != std::string::npos) return message;
    }
  }
  bool hello(const std::string& name = "raw") const {
    return send(handshake::Hello{.pid = 1, .name = name}) && receive_op("hello");
  }

 private:
  Fd fd_;
};

/// The attachment that a message is about; 0: none.
inline std::uint64_t id_of(const socket::Message& m) {
  const auto message = handshake::decode(m.text);
  return message ? handshake::id_of(*message) : 0;
}

/// All numbers that follow `"key":` in a text of JSON.
inline std::vector<std::uint64_t> numbers_of(const std::string& json, const std::string& key) {
  std::vector<std::uint64_t> all;
  const std::string mark = "\"" + key + "\":";
  for (auto at = json.find(mark); at != std::string::npos; at = json.find(mark, at + 1))
    all.push_back(std::strtoull(json.c_str() + at + mark.size(), nullptr, 10));
  return all;
}

/// The sockets in a domain's folder.
inline std::vector<std::string> sockets_in(const std::string& folder) {
  std::vector<std::string> all;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("p.")) all.push_back(it->path().string());
  return all;
}

/// Topic entries and sockets there.
inline std::size_t names_in(const std::string& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) ++count;
  return count;
}

}  // namespace cardan::test
