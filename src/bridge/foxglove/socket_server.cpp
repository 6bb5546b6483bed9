// SPDX-License-Identifier: Apache-2.0
// With descriptor_watch.hpp and session.hpp, the only file with Boost, which takes seconds to compile.
#include <utility>  // before asio: Boost 1.74 forgets it, and gcc 12 no longer brings it along
// clang-format off
#include "src/bridge/foxglove/socket_server.hpp"
// clang-format on

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/bridge/foxglove/descriptor_watch.hpp"
#include "src/bridge/foxglove/session.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr auto kTick = std::chrono::milliseconds(250);
constexpr std::int64_t kLongestPause = 250'000'000;  ///< ns between two long texts

}  // namespace

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

Shares SocketServer::Parts::shares(bool of_clients) const {
  Shares all;
  for (const auto& session : sessions)
    if (session->is_counted() == of_clients) all.push_back(session->share());
  return all;
}

void SocketServer::Parts::accepted(tcp::socket socket) {
  std::string share = share_of_peer(socket.native_handle());
  if (const auto number = Places(options.max_pending).who_gives_way(shares(false), share)) {
    const std::string_view why = "too many connections waited with their requests";
    std::size_t n = 0;
    const auto it = std::find_if(sessions.begin(), sessions.end(),
                                 [&](const auto& one) { return !one->is_counted() && n++ == *number; });
    if (it == sessions.end()) return note(why);
    const std::shared_ptr<Session> gives_way = *it;
    gives_way->drop(why);
  }
  const auto session = std::make_shared<Session>(*this, std::move(socket), std::move(share));
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

void SocketServer::Parts::put_off(std::shared_ptr<Session> session) {
  long_texts.push_back(std::move(session));
  if (!turning) wait_for_turn({});
}

void SocketServer::Parts::wait_for_turn(std::chrono::nanoseconds rest) {
  turn.expires_after(rest);
  turn.async_wait([this](error_code ec) {
    turning = false;
    if (!ec) take_turn();
  });
  turning = true;
}

void SocketServer::Parts::take_turn() {
  const std::int64_t begin = steady_now();
  for (bool handled = false; !handled && !long_texts.empty();) {
    const std::shared_ptr<Session> session = std::move(long_texts.front());
    long_texts.pop_front();
    handled = session->take_turn();
  }
  // Half of the time is left for everything else, also where processors are busy.
  if (!long_texts.empty() && !turning)
    wait_for_turn(std::chrono::nanoseconds(std::min(steady_now() - begin, kLongestPause)));
}

void SocketServer::Parts::clean_up() {
  for (auto session = std::exchange(ended, nullptr); session != nullptr;) session = session->bury();
  if (!accepts && acceptor.is_open() && pause.expiry() <= std::chrono::steady_clock::now()) accept();
  if (!ticking) tick();
  if (!turning && !long_texts.empty()) wait_for_turn({});
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
  parts_->turn.cancel();
  parts_->long_texts.clear();
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
      if (timeout.count() > 0)
        parts_->io.run_until(until);
      else
        parts_->io.poll();
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
