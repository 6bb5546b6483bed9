// SPDX-License-Identifier: Apache-2.0
// Bytes that any client sends to the port of `cardan view`: requests, WebSocket frames, names of hosts and origins.
// Must hold: the connection ends with its other side, and nobody gets in from another page or under a foreign name.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/bridge/foxglove/origin.hpp"
#include "src/bridge/foxglove/protocol.hpp"
#include "src/bridge/foxglove/socket_server.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::foxglove_http_target {
namespace {

using namespace bridge::foxglove;

constexpr std::string_view kPage = "<the page>";

/// Sends back what it gets.
class Echo final : public Client {
 public:
  explicit Echo(Connection& connection) : connection_(connection) {}
  void text(std::string_view text) override {
    require(!nlohmann::json(std::string(text)).dump().empty(), "a text that is not UTF-8");
    waiting_.emplace_back(text);
    sent();
  }
  void binary(std::span<const std::byte> bytes) override {
    require(bytes.size() <= 1'000, "a message that is too large");
  }
  [[nodiscard]] std::size_t most_binary_bytes() const noexcept override { return 1'000; }
  [[nodiscard]] bool publishes() const noexcept override { return false; }
  void sent() override {
    if (connection_.is_busy() || waiting_.empty()) return;
    under_way_ = std::move(waiting_.front());
    waiting_.pop_front();
    connection_.send(false, {std::as_bytes(std::span(under_way_))});
  }

 private:
  Connection& connection_;
  std::deque<std::string> waiting_;
  std::string under_way_;
};

class Site final : public Application {
 public:
  std::unique_ptr<Client> connected(Connection& connection) override { return std::make_unique<Echo>(connection); }
  std::optional<Page> page(std::string_view path) override {
    return path == "/" ? std::optional(Page{.type = "text/html", .body = std::string(kPage)}) : std::nullopt;
  }
};

std::string lower(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return all;
}

/// One of these is in each name under which this server may be asked for.
bool may_be_own(std::string_view text) {
  const std::string all = lower(text);
  return all.find("localhost") != std::string::npos || all.find("127.") != std::string::npos ||
         all.find("vehicle") != std::string::npos || all.find("::") != std::string::npos ||
         all.find("0:1]") != std::string::npos || all.find("7f") != std::string::npos;
}

void check_names(std::string_view host, std::string_view origin) {
  static const OwnNames names{.hosts = {"vehicle.local"}, .address = "127.0.0.1"};
  const bool own = is_own_host(host, names);
  require(!own || may_be_own(host), "a foreign name is taken for a name of this computer");
  const bool may = may_connect(origin, host, {"https://app.example"}, names);
  require(!may || origin.empty() || lower(origin) == "https://app.example" ||
              (own && lower(origin) == lower("http://" + std::string(host))),
          "a foreign page may connect");
  const std::string_view protocol = choose_protocol(origin);
  require(protocol.empty() || origin.find(protocol) != std::string_view::npos, "a protocol that was not offered");
}

/// Sends the request, and what follows it when the answer is there.
std::string talk(SocketServer& server, std::string_view bytes) {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(server.port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    // No port is free until older ones are forgotten; or libFuzzer's own timer came.
    require(errno == EADDRNOTAVAIL || errno == EINTR, "the server does not accept");
    return {};
  }
  const std::size_t end = bytes.find("\r\n\r\n");
  std::array<std::string_view, 2> parts{bytes, {}};
  if (end != std::string_view::npos) parts = {bytes.substr(0, end + 4), bytes.substr(end + 4)};
  std::string answer;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  for (const std::string_view part : parts) {
    const bool last = part.data() == parts.back().data() || parts.back().empty();
    (void)!::send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (last) ::shutdown(fd.get(), SHUT_WR);
    while (last || answer.find("\r\n\r\n") == std::string::npos) {
      server.run({});  // it does not sleep: a busy computer would wake it late
      char some[4096];
      const ssize_t got = ::recv(fd.get(), some, sizeof(some), MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return answer;
      if (got > 0) answer.append(some, static_cast<std::size_t>(got));
      require(std::chrono::steady_clock::now() < until, "a connection that does not end");
    }
  }
  return answer;
}

/// The first line is a name of a host, the second one an origin, the rest what is sent.
void run(std::string_view input) {
  static Site site;
  static SocketServer server({.port = 0,
                              .origins = {"https://app.example"},
                              .hosts = {"vehicle.local"},
                              .max_text_bytes = 2'000,
                              .max_requests = 1'000'000,
                              .handshake = std::chrono::milliseconds(100)},
                             site);
  Input parts(input);
  const std::string_view host = parts.until('\n'), origin = parts.until('\n');
  check_names(host, origin);
  const std::string_view bytes = parts.rest();
  const std::string answer = talk(server, bytes);
  require(answer.empty() || answer.starts_with("HTTP/1.1 "), "an answer that is not HTTP's");
  if (answer.starts_with("HTTP/1.1 200"))
    require(may_be_own(bytes) && answer.find("default-src 'none'") != std::string::npos,
            "the page under a foreign name");
  if (answer.starts_with("HTTP/1.1 101"))
    require(lower(bytes).find("sec-websocket-key") != std::string::npos && bytes.find("foxglove.") != std::string::npos,
            "a client that did not ask to be one");
  server.run({});  // it does not sleep: a busy computer would wake it late
  require(server.clients() == 0, "a client that hung up is still there");
}

std::vector<std::string> seeds() {
  const std::string upgrade =
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Protocol: foxglove.websocket.v1, foxglove.sdk.v1\r\n";
  const auto frame = [](int first, std::string_view text) {
    return std::string{static_cast<char>(first), static_cast<char>(0x80U | text.size())} + std::string(4, '\0') +
           std::string(text);
  };
  const std::string names = "127.0.0.1:8765\nhttp://127.0.0.1:8765\n";
  return {
      names + "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "[::1]:8765\nhttps://app.example\nHEAD /?x HTTP/1.1\r\nHost: [::1]:8765\r\n\r\n",
      "vehicle.local\nnull\nGET /x HTTP/1.0\r\nHost: vehicle.local\r\nContent-Length: 5\r\n\r\n",
      "evil.example\nhttp://evil.example\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
      names + upgrade + "Origin: https://app.example\r\n\r\n" + frame(0x81, "{\"op\":\"x\"}") + frame(0x88, "\3\xe8"),
      names + upgrade + "\r\n" + frame(0x01, "a") + frame(0x89, "ping") + frame(0x80, "b") + frame(0x82, "\1\0\0\0\0"),
      names + upgrade + "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n" +
          frame(0xc1, "\xaa\x56\x2a\1\0"),
      names + upgrade + "Origin: https://evil.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(foxglove_http, run, seeds)
}  // namespace cardan::fuzz::foxglove_http_target
