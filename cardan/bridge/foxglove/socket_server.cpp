// SPDX-License-Identifier: Apache-2.0
// With descriptor_watch.hpp, the only file with Boost, which takes seconds to compile.
#include <utility>  // before asio: Boost 1.74 forgets it, and gcc 12 no longer brings it along
// clang-format off
#include "cardan/bridge/foxglove/socket_server.hpp"
// clang-format on

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cctype>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <string_view>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/bridge/foxglove/descriptor_watch.hpp"
#include "cardan/bridge/foxglove/origin.hpp"
#include "cardan/bridge/foxglove/protocol.hpp"

namespace cardan::bridge::foxglove {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kChunk = 64 << 10;  ///< bytes of one read
constexpr std::size_t kHeaderBytes = 8 << 10;
constexpr auto kTick = std::chrono::milliseconds(250);
constexpr std::size_t kMostReasons = 16;
constexpr std::string_view kNoMemory = "a connection ended because memory ran out";

std::int64_t ns_of(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

}  // namespace

class Session;

struct SocketServer::Parts {
  Parts(ServerOptions o, Application& a) : options(std::move(o)), application(a) {}
  void listen();
  void accept();
  void tick();
  void accepted(tcp::socket socket);
  void note(std::string_view why) noexcept {
    try {
      if (const auto known = reasons.find(why); known != reasons.end())
        ++known->second;
      else if (reasons.size() < kMostReasons)
        reasons.emplace(why, 1);
    } catch (const std::bad_alloc&) {  // it stays unsaid
    }
  }
  /// Ends what had to wait for memory.
  void clean_up();

  const ServerOptions options;
  Application& application;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer ticks{io}, pause{io};
  std::vector<std::shared_ptr<Session>> sessions;  ///< in the order in which they came
  std::shared_ptr<Session> ended;                  ///< those that could not be posted; a chain
  std::size_t clients = 0;
  bool accepts = false, ticking = false;  ///< the wait for it is under way
  std::map<std::string, std::uint64_t, std::less<>> reasons;
};

/// A connection: HTTP at first, then perhaps a WebSocket.
class Session final : public Connection, public std::enable_shared_from_this<Session> {
 public:
  using Server = SocketServer::Parts;
  Session(Server& server, tcp::socket socket) : server_(server), ws_(std::move(socket)), again_(server.io) {
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

  /// Ends what makes no progress.
  void tick(std::int64_t now) {
    if (!client_ || ended_) return;
    const ServerOptions& o = server_.options;
    if (sending_) {
      int unread = 0;  // bytes that the client's side has not acknowledged
      if (::ioctl(tcp_().native_handle(), TIOCOUTQ, &unread) == 0 && unread != unread_) {
        unread_ = unread;
        progress_ns_ = now;
      }
      if (now - progress_ns_ > ns_of(o.dead)) return drop("a client read nothing of a message");
      heard_ns_ = std::max(heard_ns_, progress_ns_);
    }
    if (now - heard_ns_ > ns_of(o.dead) && !waits_) return drop("a client was silent");
    if (now - heard_ns_ > ns_of(o.ping) && !pinging_) {
      pinging_ = true;
      ws_.async_ping({}, [self = shared_from_this()](error_code) { self->pinging_ = false; });
    }
  }

  [[nodiscard]] bool is_client() const noexcept { return client_ != nullptr; }

  /// Closes the socket without a word.
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

  void refuse_bytes(error_code ec) {
    if (ec == http::error::header_limit || ec == http::error::body_limit)
      drop("a request was too large");
    else if (ec == beast::error::timeout)
      drop("a request did not arrive in time");
    else
      drop(ec == http::error::end_of_stream ? "" : "what arrived was not a request");
  }

  void request() {
    const auto& request = parser_.get();
    const std::string host(request[http::field::host]), origin(request[http::field::origin]);
    if (!websocket::is_upgrade(request)) return serve(host);
    if (!may_connect(origin, host, server_.options.origins)) {
      server_.note("a page of " + (is_plain(origin) ? origin : std::string("another origin")) +
                   " was refused; 'origins' or --origin lets it in");
      return answer(http::status::forbidden, "text/plain", "this origin may not connect\n");
    }
    const std::string_view protocol = choose_protocol(std::string(request[http::field::sec_websocket_protocol]));
    if (protocol.empty())
      return answer(http::status::bad_request, "text/plain",
                    fmt::format("this server speaks {} and {}\n", kNewProtocol, kOldProtocol));
    if (server_.clients >= server_.options.max_clients) {
      server_.note("a client was refused because there are as many as max_clients allows");
      return answer(http::status::service_unavailable, "text/plain", "too many clients\n");
    }
    upgrade(protocol);
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
    if (!is_own_host(host)) return answer(http::status::forbidden, "text/plain", "unknown host name\n");
    const std::string target(request.target());
    std::optional<Page> page = server_.application.page(std::string_view(target).substr(0, target.find('?')));
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
    const std::string socket = is_own_host(host) && is_host_text(host) ? " ws://" + host : "";
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
    ws_.control_callback([this](websocket::frame_type, beast::string_view) { heard_ns_ = steady_now(); });
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
    ws_.async_read_some(data_, kChunk, [self = shared_from_this()](error_code ec, std::size_t) {
      if (ec || self->ended_) return self->end("");
      self->guarded([&] { self->received(); });
    });
  }

  void received() {
    heard_ns_ = steady_now();
    const bool is_text = ws_.got_text();
    if (data_.size() > (is_text ? server_.options.max_text_bytes : client_->most_binary_bytes()))
      return close(websocket::close_code::too_big, "a client's message was too large");
    if (!ws_.is_message_done()) return read();
    const auto bytes = data_.cdata();
    if (is_text)
      client_->text({static_cast<const char*>(bytes.data()), bytes.size()});
    else
      client_->binary({static_cast<const std::byte*>(bytes.data()), bytes.size()});
    if (ended_) return;
    data_.consume(data_.size());
    if (paused_) {
      waits_ = true;
      return;
    }
    if (is_text && heard_ns_ - second_ns_ >= 1'000'000'000) {
      second_ns_ = heard_ns_;
      requests_ = 0;
    }
    if (!is_text || ++requests_ < server_.options.max_requests) return read();
    again_.expires_after(std::chrono::nanoseconds(second_ns_ + 1'000'000'000 - heard_ns_));
    again_.async_wait([self = shared_from_this()](error_code) {
      if (!self->ended_) self->guarded([&] { self->read(); });
    });
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
    // What is under way refers to the client's bytes until its handler has run.
    try {
      again_.cancel();
      if (client_) asio::post(server_.io, [self] { self->client_.reset(); });
    } catch (const std::exception&) {  // no memory: the server does it before it serves again
      next_ended_ = std::exchange(server_.ended, self);
    }
  }

  Server& server_;
  websocket::stream<beast::tcp_stream> ws_;
  beast::flat_buffer head_{2 * kHeaderBytes}, data_;
  http::request_parser<http::empty_body> parser_;
  asio::steady_timer again_;
  std::unique_ptr<Client> client_;
  std::shared_ptr<Session> next_ended_;
  std::string peer_;
  std::int64_t heard_ns_ = 0, progress_ns_ = 0, second_ns_ = 0;
  std::uint32_t requests_ = 0;
  int unread_ = 0;
  bool sending_ = false, ended_ = false, counted_ = false, pinging_ = false;
  bool paused_ = false, waits_ = false;  ///< nothing is to be read; a read was put off
};

void SocketServer::Parts::listen() {
  error_code ec;
  const auto address = asio::ip::make_address(options.address, ec);
  if (ec)
    throw Error(ErrorCode::InvalidArgument, "'" + options.address + "' is not an IP address",
                "use 127.0.0.1 for this computer, 0.0.0.0 for all networks");
  const tcp::endpoint end(address, options.port);
  acceptor.open(end.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) acceptor.bind(end, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec)
    throw Error(ErrorCode::Unavailable,
                fmt::format("cannot listen on {} port {}: {}", options.address, options.port, ec.message()),
                ec == asio::error::address_in_use ? "end the other program there, or choose another --port"
                : ec == asio::error::access_denied
                    ? "choose a --port from 1024 on, which needs no privilege"
                    : "give --address one of this computer, 127.0.0.1 for itself alone, 0.0.0.0 for all networks");
}

void SocketServer::Parts::accept() {
  acceptor.async_accept([this](error_code ec, tcp::socket socket) {
    accepts = false;
    if (ec == asio::error::operation_aborted) return;
    if (ec) {  // no descriptors are left: others end soon
      note("a connection was not accepted: " + ec.message());
      pause.expires_after(std::chrono::milliseconds(100));
      return pause.async_wait([this](error_code cancelled) {
        if (!cancelled && !accepts) accept();
      });
    }
    try {
      accepted(std::move(socket));
    } catch (const std::exception&) {
      note(kNoMemory);
    }
    accept();
  });
  accepts = true;
}

void SocketServer::Parts::accepted(tcp::socket socket) {
  const auto is_pending = [](const auto& session) { return !session->is_client(); };
  if (static_cast<std::size_t>(std::count_if(sessions.begin(), sessions.end(), is_pending)) >= options.max_pending) {
    const std::shared_ptr<Session> oldest = *std::find_if(sessions.begin(), sessions.end(), is_pending);
    oldest->drop("too many connections waited with their requests");
  }
  const auto session = std::make_shared<Session>(*this, std::move(socket));
  sessions.push_back(session);
  session->guarded([&] { session->start(); });
}

void SocketServer::Parts::tick() {
  ticks.expires_after(kTick);
  ticks.async_wait([this](error_code ec) {
    ticking = false;
    if (ec) return;
    const auto now = steady_now();
    const auto all = sessions;  // a tick may end some
    for (const auto& session : all) session->guarded([&] { session->tick(now); });
    tick();
  });
  ticking = true;
}

void SocketServer::Parts::clean_up() {
  for (auto session = std::exchange(ended, nullptr); session != nullptr;) session = session->bury();
  if (!accepts && acceptor.is_open() && pause.expiry() <= std::chrono::steady_clock::now()) accept();
  if (!ticking) tick();
}

SocketServer::SocketServer(ServerOptions options, Application& application)
    : parts_(std::make_unique<Parts>(std::move(options), application)) {
  parts_->listen();
  parts_->accept();
  parts_->tick();
}

SocketServer::~SocketServer() { end(); }

void SocketServer::end() {
  while (!parts_->sessions.empty()) parts_->sessions.back()->drop("");
  parts_->acceptor.close();
  parts_->ticks.cancel();
  parts_->pause.cancel();
  parts_->io.restart();
  parts_->io.poll();  // the handlers run, and let go of the sessions
  for (auto session = std::exchange(parts_->ended, nullptr); session != nullptr;) session = session->bury();
}

void SocketServer::run(std::chrono::nanoseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  do {
    try {
      parts_->clean_up();
      parts_->io.restart();
      parts_->io.run_until(until);
    } catch (const std::bad_alloc&) {  // within Beast: the connection that it was for is silent, and ends as such
      parts_->note(kNoMemory);
    }
  } while (std::chrono::steady_clock::now() < until);
}

std::uint16_t SocketServer::port() const noexcept {
  error_code ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

std::string SocketServer::where() const {
  const bool six = parts_->options.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", parts_->options.address, six ? "]" : "", port());
}

std::size_t SocketServer::clients() const noexcept { return parts_->clients; }

std::vector<std::string> SocketServer::notes() const {
  std::vector<std::string> all;
  for (const auto& [why, times] : parts_->reasons) all.push_back(fmt::format("{} ({} times)", why, times));
  return all;
}

std::unique_ptr<SocketServer::Watch> SocketServer::watch(int fd, std::function<void()> ready) {
  return std::make_unique<DescriptorWatch>(parts_->io, fd, std::move(ready));
}

}  // namespace cardan::bridge::foxglove
