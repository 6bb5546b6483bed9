// SPDX-License-Identifier: Apache-2.0
// Part of socket_server.cpp: it brings in Boost.
#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cctype>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "src/bridge/foxglove/allowance.hpp"
#include "src/bridge/foxglove/origin.hpp"
#include "src/bridge/foxglove/peer_share.hpp"
#include "src/bridge/foxglove/places.hpp"
#include "src/bridge/foxglove/protocol.hpp"
#include "src/bridge/foxglove/socket_server.hpp"

namespace cardan::bridge::foxglove {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

inline constexpr std::size_t kChunk = 64 << 10;  ///< bytes of one read
inline constexpr std::size_t kHeaderBytes = 8 << 10;
inline constexpr std::size_t kQuickText = 4 << 10;  ///< bytes of a text that is handled at once
inline constexpr std::size_t kMostReasons = 24;
inline constexpr std::size_t kMostNamed = 8;  ///< of them, with text of another user
inline constexpr std::string_view kNoMemory = "a connection ended because memory ran out";

inline std::int64_t ns_of(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

class Session;

struct SocketServer::Parts {
  Parts(ServerOptions o, Application& a) : options(std::move(o)), application(a) {}
  void listen();
  void accept();
  void tick();
  void accepted(tcp::socket socket);
  /// The shares of the clients, or of the other connections.
  [[nodiscard]] Shares shares(bool of_clients) const;
  /// `rest`: counted instead, if the reason has text of another user in it and there are many such.
  void note(std::string_view why, std::string_view rest = {}) noexcept {
    try {
      if (const auto known = reasons.find(why); known != reasons.end())
        ++known->second;
      else if (!rest.empty() && named >= kMostNamed)
        note(rest);
      else if (reasons.size() < kMostReasons && reasons.emplace(why, 1).second && !rest.empty())
        ++named;
    } catch (const std::bad_alloc&) {  // it stays unsaid
    }
  }
  /// Ends what had to wait for memory.
  void clean_up();
  /// A long text costs milliseconds. They are handled one by one, and in between whatever else has come.
  void put_off(std::shared_ptr<Session> session);
  void wait_for_turn(std::chrono::nanoseconds rest);
  void take_turn();

  const ServerOptions options;
  Application& application;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer ticks{io}, pause{io}, turn{io};
  std::vector<std::shared_ptr<Session>> sessions;   ///< in the order in which they came
  std::shared_ptr<Session> ended;                   ///< those that could not be posted; a chain
  std::deque<std::shared_ptr<Session>> long_texts;  ///< each has one, in the order in which they were complete
  std::size_t clients = 0, named = 0;
  Budgets budgets{options.max_requests};
  bool accepts = false, ticking = false, turning = false;  ///< the wait for it is under way
  std::map<std::string, std::uint64_t, std::less<>> reasons;
};

/// Beast asks it before each read, and waits up to a second if nothing may be read.
class ReadPolicy {
 public:
  Allowance* allowance = nullptr;  ///< of the session that owns the stream

 private:
  friend class beast::rate_policy_access;
  [[nodiscard]] std::size_t available_read_bytes() const noexcept { return allowance->raw(steady_now()); }
  [[nodiscard]] static std::size_t available_write_bytes() noexcept { return std::numeric_limits<std::size_t>::max(); }
  void transfer_read_bytes(std::size_t bytes) const noexcept { allowance->take_raw(bytes, steady_now()); }
  static void transfer_write_bytes(std::size_t) noexcept {}
  static void on_timer() noexcept {}
};

/// A connection: HTTP at first, then perhaps a WebSocket.
class Session final : public Connection, public std::enable_shared_from_this<Session> {
 public:
  using Server = SocketServer::Parts;
  using Stream = beast::basic_stream<tcp, tcp::socket::executor_type, ReadPolicy>;
  Session(Server& server, tcp::socket socket, std::string share)
      : server_(server),
        share_(std::move(share)),
        allowance_(server.budgets, share_, steady_now()),
        ws_(std::move(socket)) {
    ws_.next_layer().rate_policy().allowance = &allowance_;
    error_code ignored;
    const auto end = tcp_().remote_endpoint(ignored);
    peer_ = fmt::format("{}:{}", end.address().to_string(ignored), end.port());
    tcp_().set_option(tcp::no_delay(true), ignored);
    heard_ns_ = steady_now();
  }

  void start() {
    parser_.header_limit(kHeaderBytes);
    parser_.body_limit(0);
    ws_.next_layer().expires_after(server_.options.handshake);
    http::async_read(ws_.next_layer(), head_, parser_, [self = shared_from_this()](error_code ec, std::size_t) {
      self->guarded([&] { ec ? self->refuse_bytes(ec) : self->request(); });
    });
  }

  /// Does what the other side has caused. If memory runs out, it costs this connection its life.
  template <class Work>
  void guarded(Work&& work) noexcept {
    try {
      work();
    } catch (const std::exception&) {
      give_up();
    }
  }

  // Connection
  [[nodiscard]] bool is_busy() const noexcept override { return sending_ || ended_; }
  void send(bool binary, const Parts& parts) override {
    sending_ = true;
    progress_ns_ = steady_now();
    ws_.binary(binary);
    std::array<asio::const_buffer, 4> buffers;
    for (std::size_t i = 0; i < parts.size(); ++i) buffers[i] = {parts[i].data(), parts[i].size()};
    ws_.async_write(buffers, [self = shared_from_this()](error_code ec, std::size_t) {
      self->sending_ = false;
      if (ec) return self->end("a client has gone");
      if (self->client_ && !self->ended_) self->guarded([&] { self->client_->sent(); });
    });
  }
  void pause() override { paused_ = true; }
  void resume() override {
    if (!std::exchange(paused_, false) || !waits_) return;
    waits_ = false;
    read();
  }
  void give_up() noexcept override { drop(kNoMemory); }
  [[nodiscard]] const std::string& peer() const noexcept override { return peer_; }
  [[nodiscard]] bool is_ours() const noexcept override { return share_.empty(); }

  /// Ends what makes no progress.
  void tick(std::int64_t now) {
    if (!client_ || ended_) return;
    const ServerOptions& o = server_.options;
    // A client that waits for its allowance, answers or turn is not read: its end would be noticed after all that it
    // has sent.
    const bool unheard = allowance_.waits() || waits_ || put_off_;
    if (unheard && has_hung_up()) return drop("");
    int unread = 0;  // bytes that the client's side has not acknowledged
    if (::ioctl(tcp_().native_handle(), TIOCOUTQ, &unread) == 0 && unread != unread_) {
      unread_ = unread;
      progress_ns_ = now;
    }
    if ((sending_ || unread != 0) && now - progress_ns_ > ns_of(o.dead))
      return drop("a client read nothing of a message");
    if (sending_) heard_ns_ = std::max(heard_ns_, progress_ns_);
    if (now - heard_ns_ > ns_of(o.dead) && !unheard) return drop("a client was silent");
    // Without room for more in our buffer, the end of the other side cannot arrive: its answer to a ping tells it.
    if (now - std::max(asked_ns_, unheard ? 0 : heard_ns_) > ns_of(o.ping) && !pinging_) {
      pinging_ = true;
      asked_ns_ = now;
      ws_.async_ping({}, [self = shared_from_this()](error_code) { self->pinging_ = false; });
    }
  }

  /// Handles the text that was put off. False: its connection has ended.
  bool take_turn() {
    put_off_ = false;
    if (ended_) return false;
    guarded([this] { handle(true); });
    return true;
  }

  /// In whose share it counts, and whether among the clients.
  [[nodiscard]] const std::string& share() const noexcept { return share_; }
  [[nodiscard]] bool is_counted() const noexcept { return counted_; }

  /// Closes the socket without a message.
  void drop(std::string_view why) noexcept {
    error_code ignored;
    beast::get_lowest_layer(ws_).socket().close(ignored);
    end(why);
  }
  /// Lets go of its client, and names the one that ended before it.
  std::shared_ptr<Session> bury() noexcept {
    client_.reset();
    return std::exchange(next_ended_, nullptr);
  }

 private:
  tcp::socket& tcp_() { return beast::get_lowest_layer(ws_).socket(); }

  bool has_hung_up() {
    pollfd poll{.fd = tcp_().native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&poll, 1, 0) > 0 && (poll.revents & (POLLRDHUP | POLLERR | POLLHUP)) != 0;
  }

  void refuse_bytes(error_code ec) {
    if (ec == http::error::header_limit || ec == http::error::body_limit)
      drop("a request was too large");
    else if (ec == beast::error::timeout)
      drop("a request did not arrive in time");
    else
      drop(ec == http::error::end_of_stream ? "" : "what arrived was not a request");
  }

  void request() {
    allowance_.spend(kPageUnits, steady_now());
    const auto& request = parser_.get();
    const std::string host(request[http::field::host]), origin(request[http::field::origin]);
    if (!websocket::is_upgrade(request)) return serve(host);
    if (!may_connect(origin, host, server_.options.origins, own_names())) {
      server_.note("a page of " + (is_plain(origin) ? origin : std::string("another origin")) +
                       " was refused; 'origins' or --origin lets it in",
                   "pages of more origins were refused");
      return answer(http::status::forbidden, "text/plain", "this origin may not connect\n");
    }
    const std::string_view protocol = choose_protocol(std::string(request[http::field::sec_websocket_protocol]));
    if (protocol.empty())
      return answer(http::status::bad_request, "text/plain",
                    fmt::format("this server speaks {} and {}\n", kNewProtocol, kOldProtocol));
    const auto place = Places(server_.options.max_clients).ask(server_.shares(true), share_);
    if (place != Places::Answer::Yes) {
      const bool full = place == Places::Answer::Full;
      server_.note(
          full ? "a client was refused because there are as many as max_clients allows"
               : "a client of another user was refused: its user, or all others, have their share of max_clients");
      return answer(http::status::service_unavailable, "text/plain",
                    full ? "too many clients\n" : "too many clients of other users\n");
    }
    upgrade(protocol);
  }

  OwnNames own_names() {
    error_code ignored;
    return {.hosts = server_.options.hosts, .address = tcp_().local_endpoint(ignored).address().to_string(ignored)};
  }

  static bool is_plain(const std::string& text) {
    return text.size() <= 80 && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  }

  /// Nothing that could end a directive of a policy.
  static bool is_host_text(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
    });
  }

  void serve(const std::string& host) {
    const auto& request = parser_.get();
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return answer(http::status::method_not_allowed, "text/plain", "only GET\n");
    // A page elsewhere whose name was made to point here must not read what we serve.
    if (!is_own_host(host, own_names())) {
      server_.note("the page was asked for under " + (is_plain(host) ? host : std::string("a strange name")) +
                       " and refused; 'hosts' or --host lets it in",
                   "the page was asked for under more names and refused");
      return answer(http::status::forbidden, "text/plain",
                    "unknown host name; --host names the ones that may be used\n");
    }
    const std::string target(request.target()), site(request["Sec-Fetch-Site"]);
    const std::string_view path = std::string_view(target).substr(0, target.find('?'));
    // A page elsewhere could not read the answer, but the question alone is work here, and may switch tracing on.
    if (path.ends_with(".json") && (site == "cross-site" || site == "same-site"))
      return answer(http::status::forbidden, "text/plain", "pages of other sites may not ask for this\n");
    std::optional<Page> page = server_.application.page(path);
    if (!page) return answer(http::status::not_found, "text/plain", "no such page\n");
    answer(http::status::ok, page->type, std::move(page->body));
  }

  void answer(http::status status, std::string_view type, std::string body) {
    auto response = std::make_shared<http::response<http::string_body>>(status, 11);
    response->set(http::field::content_type, std::string(type));
    response->set(http::field::cache_control, "no-store");
    response->set("X-Content-Type-Options", "nosniff");
    // The page connects to where it comes from; older browsers do not count a WebSocket there as 'self'.
    const std::string host(parser_.get()[http::field::host]);
    const std::string socket = is_own_host(host, own_names()) && is_host_text(host) ? " ws://" + host : "";
    response->set("Content-Security-Policy",
                  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" + socket +
                      "; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response->set("Cross-Origin-Resource-Policy", "same-origin");
    response->keep_alive(false);
    response->content_length(body.size());
    if (parser_.get().method() != http::verb::head) response->body() = std::move(body);
    ws_.next_layer().expires_after(server_.options.handshake);
    http::async_write(ws_.next_layer(), *response, [self = shared_from_this(), response](error_code, std::size_t) {
      error_code ignored;
      self->tcp_().shutdown(tcp::socket::shutdown_send, ignored);
      self->drop("");
    });
  }

  void upgrade(std::string_view protocol) {
    ++server_.clients;
    counted_ = true;
    ws_.next_layer().expires_never();
    ws_.set_option(websocket::stream_base::timeout{.handshake_timeout = server_.options.handshake,
                                                   .idle_timeout = websocket::stream_base::none(),
                                                   .keep_alive_pings = false});
    ws_.set_option(websocket::stream_base::decorator([protocol](websocket::response_type& response) {
      response.set(http::field::sec_websocket_protocol, std::string(protocol));
      response.set(http::field::server, "cardan");
    }));
    ws_.auto_fragment(false);
    ws_.read_message_max(0);  // read() limits by kind
    ws_.control_callback([this](websocket::frame_type, beast::string_view) {
      heard_ns_ = steady_now();
      allowance_.spend(kRequestUnits, heard_ns_);
    });
    ws_.async_accept(parser_.get(), [self = shared_from_this()](error_code ec) {
      if (ec || self->ended_) return self->end("a client's handshake failed");
      self->heard_ns_ = steady_now();
      self->guarded([&] {
        self->client_ = self->server_.application.connected(*self);
        self->read();
      });
    });
  }

  void read() {
    ws_.async_read_some(data_, kChunk, [self = shared_from_this()](error_code ec, std::size_t bytes) {
      if (ec || self->ended_) return self->end("");
      self->guarded([&] { self->received(bytes); });
    });
  }

  void received(std::size_t read_bytes) {
    heard_ns_ = steady_now();
    const bool is_text = ws_.got_text();
    allowance_.take_part(read_bytes, is_text, heard_ns_);
    if (data_.size() > (is_text ? server_.options.max_text_bytes : client_->most_binary_bytes()))
      return close(websocket::close_code::too_big, "a client's message was too large");
    if (!ws_.is_message_done()) return read();
    allowance_.take_message(is_text, heard_ns_);
    if (!is_text || data_.size() <= kQuickText) return handle(is_text);
    server_.put_off(shared_from_this());
    put_off_ = true;
  }

  void handle(bool is_text) {
    const auto bytes = data_.cdata();
    if (is_text)
      client_->text({static_cast<const char*>(bytes.data()), bytes.size()});
    else
      client_->binary({static_cast<const std::byte*>(bytes.data()), bytes.size()});
    if (ended_) return;
    allowance_.publishes(client_->publishes());
    data_.consume(data_.size());
    if (paused_)
      waits_ = true;
    else
      read();
  }

  void close(websocket::close_code code, const std::string& why) {
    server_.note(why);
    ws_.async_close(code, [self = shared_from_this()](error_code) { self->drop(""); });
  }

  void end(std::string_view why) noexcept {
    if (std::exchange(ended_, true)) return;
    const auto self = shared_from_this();
    if (!why.empty()) server_.note(why);
    if (counted_) --server_.clients;
    error_code ignored;
    beast::get_lowest_layer(ws_).socket().close(ignored);
    beast::get_lowest_layer(ws_).cancel();
    std::erase_if(server_.sessions, [this](const auto& one) { return one.get() == this; });
    // Work under way refers to the client's bytes until its handler has run.
    try {
      if (client_) asio::post(server_.io, [self] { self->client_.reset(); });
    } catch (const std::exception&) {  // no memory: the server does it before it serves again
      next_ended_ = std::exchange(server_.ended, self);
    }
  }

  Server& server_;
  const std::string share_;
  Allowance allowance_;
  websocket::stream<Stream> ws_;
  beast::flat_buffer head_{2 * kHeaderBytes}, data_;
  http::request_parser<http::empty_body> parser_;
  std::unique_ptr<Client> client_;
  std::shared_ptr<Session> next_ended_;
  std::string peer_;
  std::int64_t heard_ns_ = 0, asked_ns_ = 0, progress_ns_ = 0;
  int unread_ = 0;
  bool sending_ = false, ended_ = false, counted_ = false, pinging_ = false;
  bool paused_ = false, waits_ = false;  ///< nothing is to be read; a read was put off
  bool put_off_ = false;                 ///< a text waits for its turn
};

}  // namespace cardan::bridge::foxglove
