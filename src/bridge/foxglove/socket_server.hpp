// SPDX-License-Identifier: Apache-2.0
// The sockets of the bridge: HTTP and WebSocket on one port, on one thread. It trusts no byte. Only this part uses
// Boost.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::bridge::foxglove {

/// One client's connection. All functions: the thread of SocketServer::run(); none blocks.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  using Parts = std::array<std::span<const std::byte>, 4>;
  /// Whether a message is under way. One at a time.
  [[nodiscard]] virtual bool is_busy() const noexcept = 0;
  /// Sends one message without copying it. The bytes stay valid until Client::sent() or Client::closed().
  virtual void send(bool binary, const Parts& parts) = 0;
  /// The client was too slow to read answers: nothing more is read from it until resume().
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// Ends the connection soon, because memory has run out for it. The Client stays until the caller has returned.
  virtual void give_up() noexcept = 0;
  [[nodiscard]] virtual const std::string& peer() const noexcept = 0;
  /// Whether our own user or root has the other end. False also if nobody knows: see share_of_peer().
  [[nodiscard]] virtual bool is_ours() const noexcept = 0;
};

/// The handler of a client's messages. An exception costs the client its connection, and nobody else anything.
class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  virtual void text(std::string_view text) = 0;
  virtual void binary(std::span<const std::byte> bytes) = 0;
  /// The largest binary message that is accepted now.
  [[nodiscard]] virtual std::size_t most_binary_bytes() const noexcept = 0;
  /// Whether there is a topic that it may send messages for.
  [[nodiscard]] virtual bool publishes() const noexcept = 0;
  /// The message under way has reached the kernel.
  virtual void sent() = 0;
};

struct Page {
  std::string_view type{};
  std::string body{};
};

/// The contents that the server serves.
class Application {
 public:
  virtual ~Application() = default;
  /// A client has connected. The connection lives as long as what is returned.
  [[nodiscard]] virtual std::unique_ptr<Client> connected(Connection& connection) = 0;
  /// Answers a GET. Empty: there is no such page.
  [[nodiscard]] virtual std::optional<Page> page(std::string_view path) = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;        ///< 0: any that is free
  std::size_t max_clients = 16;  ///< WebSocket connections; see Places for the shares of other users
  std::size_t max_pending = 32;  ///< others; the oldest gives way
  std::vector<std::string> origins{};
  std::vector<std::string> hosts{};  ///< names under which browsers may ask for the page; see OwnNames
  std::size_t max_text_bytes = 256 << 10;
  /// Of a client in a second, if they are short; it is read more slowly beyond. A text of 512 bytes counts as two.
  std::uint32_t max_requests = 500;
  std::chrono::milliseconds handshake{5'000};  ///< for a whole request, and for its answer
  std::chrono::milliseconds ping{10'000};      ///< silence before a client is asked whether it is there
  std::chrono::milliseconds dead{30'000};      ///< silence, or a message under way of which it reads nothing
};

class SocketServer {
 public:
  /// Listens. Throws Error (InvalidArgument: the address; Unavailable: the port is taken or not allowed). `application`
  /// outlives the server.
  SocketServer(ServerOptions options, Application& application);
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;
  ~SocketServer();

  /// Ends all connections, and accepts no others.
  void end();
  /// Serves for this long, or once what is there already (0). No client's doing makes it throw.
  void run(std::chrono::nanoseconds timeout);
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// "127.0.0.1:8765", "[::1]:8765"
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::size_t clients() const noexcept;
  /// Why connections were refused or ended, each with how often; bounded.
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Calls `ready` once after each arm(), when the descriptor is readable or the time has come, and again after a while
  /// if it throws bad_alloc. It ends with the
  /// object, which must end before the descriptor is closed.
  class Watch {
   public:
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    virtual ~Watch() = default;
    virtual void arm() = 0;
    virtual void arm_at(std::int64_t steady_ns) = 0;
  };
  [[nodiscard]] std::unique_ptr<Watch> watch(int fd, std::function<void()> ready);

  struct Parts;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace cardan::bridge::foxglove
