// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMaxConnections = 1024;         ///< of our own user and root
constexpr std::size_t kMaxConnectionsOfOne = 32;      ///< of one other user, which can use up only its own share
constexpr std::size_t kMaxConnectionsOfOthers = 256;  ///< of all other users together
constexpr std::int64_t kPatience = 5'000'000'000;     ///< with another user that does not read its answers

}  // namespace

Server::Server(Process& process) : process_(process), listener_(process.directory().listen(process.id())) {
  process_.loop().on(listener_.get(), [this] { accept(); });
}

Server::~Server() {
  process_.loop().off(listener_.get());
  while (!connections_.empty()) close(connections_.begin()->first);
}

Server::Counts Server::counts_of(uid_t uid) const {
  Counts counts;
  for (const auto& [fd, c] : connections_) {
    if (c->foreign) {
      ++counts.of_strangers;
      counts.attachments_of_strangers += c->attachments.size();
    }
    if (c->peer.uid != uid) continue;
    ++counts.connections;
    counts.attachments += c->attachments.size();
    if (c->foreign)
      counts.observers += static_cast<std::size_t>(std::count_if(
          c->attachments.begin(), c->attachments.end(), [](const auto& a) { return a.second.subscriber == nullptr; }));
  }
  return counts;
}

/// Why a peer can get nothing here, whatever it requests. Empty: there may be something for it.
std::string Server::nothing_for(const socket::Peer& peer) const {
  if (!is_foreign(peer.uid)) return {};
  std::string names;
  std::size_t more = 0;
  for (const auto& [serial, p] : process_.published()) {
    const TopicOptions& options = p.core->options();
    if (options.process_private) continue;
    // A policy is read when the request is about one topic, not for every connection.
    if (options.access == Access::Policy ||
        refusal(options.access, p.core->topic(), peer, process_.directory().root()).empty())
      return {};
    if (!p.listed) continue;  // its name is a secret
    if (names.size() < 200)
      names += (names.empty() ? "'" : ", '") + p.core->topic() + "'";
    else
      ++more;
  }
  if (names.empty()) return fmt::format("{} (pid {}) publishes nothing", process_.name(), ::getpid());
  if (more != 0) names += fmt::format(" and {} more", more);
  return fmt::format(
      "nothing that {} (pid {}) publishes is for you: {} belong{} to user {} or its group, the peer is "
      "{}",
      process_.name(), ::getpid(), names, names.find(',') == std::string::npos ? "s" : "", ::geteuid(),
      socket::name_of_user(peer.uid));
}

/// Gives a peer the reason why it is not admitted. It has no connection here, and costs nothing more.
void Server::send_away(const Fd& fd, const socket::Peer& peer, const std::string& why) const {
  const auto& all = process_.published();
  const bool none = std::all_of(all.begin(), all.end(), [](const auto& p) {
    return p.second.core->options().process_private;  // its publication ended while the peer was connecting
  });
  if (!none)
    log(LogLevel::Warning, Cause{"refused", peer.uid},
        fmt::format("refused pid {} ({}): {}", peer.pid, socket::name_of_user(peer.uid), why));
  socket::send(fd.get(),
               handshake::encode(handshake::SentAway{
                   .gone = none, .why = why, .remedy = "set the topic's access, or add the user to the policy"}));
}

bool Server::has_room(const socket::Peer& peer) {
  const bool foreign = is_foreign(peer.uid);
  Counts counts = counts_of(peer.uid);
  const auto full = [&] {
    return foreign ? counts.connections >= kMaxConnectionsOfOne || counts.of_strangers >= kMaxConnectionsOfOthers
                   : connections_.size() - counts.of_strangers >= kMaxConnections;
  };
  if (!full()) return true;
  // A connection of the same user without a hello is closed first. A peer that has been admitted stays.
  const auto mute = std::find_if(connections_.begin(), connections_.end(),
                                 [&](const auto& x) { return !x.second->greeted && x.second->peer.uid == peer.uid; });
  if (mute == connections_.end()) return false;
  close(mute->first);
  counts = counts_of(peer.uid);
  return !full();
}

void Server::accept() {
  Fd fd = socket::accept_from(listener_.get());
  if (!fd) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      // The waiting connection keeps the listener readable. Without this pause it would be a busy loop.
      log(LogLevel::Warning, Cause{"no descriptor", ::geteuid()}, "no descriptor left for a new peer; raise ulimit -n");
      process_.loop().off(listener_.get());
      paused_ = true;
      accept_again_ = steady_now() + 100'000'000;
    }
    return;
  }
  const std::int64_t began = thread_time();
  const socket::Peer peer = socket::peer_of(fd.get());
  // A bare connection costs its user time just as a request does. One whose user has no time left is closed, and can
  // come again.
  if (process_.strangers_time().opens_at(peer.uid, steady_now()) != 0) return;
  admit(std::move(fd), peer);
  process_.strangers_time().spend(peer.uid, thread_time() - began, steady_now());
}

void Server::admit(Fd fd, const socket::Peer& peer) {
  if (const std::string why = nothing_for(peer); !why.empty()) return send_away(fd, peer, why);
  for (auto& [number, c] : connections_) c->outbox.settle(number);
  // One for the connection, one for its user's bells.
  auto claim = has_room(peer) ? DescriptorShares::of_process().claim(peer.uid, 2) : std::nullopt;
  if (!claim) {
    log(LogLevel::Warning, Cause{"no room", peer.uid},
        fmt::format("refused pid {}: user {} already has its share of connections", peer.pid, peer.uid));
    return;
  }
  auto c = std::make_unique<Connection>();
  c->belongs_to(peer);
  c->claim = std::move(*claim);
  const int number = fd.get();
  c->socket = std::make_shared<BoundFd>(std::move(fd));
  connections_[number] = std::move(c);
  process_.loop().on(number, [this, number] { receive(number); });
}

void Server::housekeeping() {
  const std::int64_t now = steady_now();
  std::vector<int> lost;
  for (auto& [fd, c] : connections_) {
    if (!c->outbox.empty() && !c->outbox.flush(fd)) c->lost = true;
    if (c->outbox.empty()) {
      c->go_on(process_, fd, now, [this, number = fd] { receive(number); });
    } else if (const std::int64_t waits = now - c->outbox.waiting_since(); c->foreign && waits > kPatience) {
      log(LogLevel::Warning, Cause{"unread answers", c->peer.uid},
          fmt::format("cut off {} (pid {}, user {}): it does not read its answers", c->name, c->peer.pid, c->peer.uid));
      c->lost = true;
    } else {
      process_.look_again_in(static_cast<int>(std::clamp<std::int64_t>(waits / 4'000'000, 2, 100)));
    }
    if (c->lost) lost.push_back(fd);
  }
  for (const int fd : lost) close(fd);
  if (!paused_) return;
  if (now < accept_again_) return process_.look_again_in(static_cast<int>((accept_again_ - now) / 1'000'000 + 1));
  paused_ = false;
  process_.loop().on(listener_.get(), [this] { accept(); });
}

void Server::receive(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  Connection& c = *it->second;
  const std::int64_t began = c.foreign ? thread_time() : 0;
  bool stays = false;
  try {
    socket::Message message;
    switch (socket::receive(fd, message)) {
      case socket::Received::Nothing:
        return;
      case socket::Received::Closed:
      case socket::Received::Bad:
        break;
      case socket::Received::NoDescriptors:  // our lack; samples that the peer holds depend on its connection
        log(LogLevel::Warning, Cause{"no descriptor", ::geteuid()},
            "no descriptor left to receive from a peer; raise ulimit -n");
        [[fallthrough]];
      case socket::Received::Message: {
        const auto parsed = handshake::decode(message.text);
        stays = parsed && handle(c, *parsed, message.fds);
        break;
      }
    }
  } catch (const std::exception& e) {  // no memory for its request: ends its connection, but no process
    log(LogLevel::Warning, Cause{"failed", c.peer.uid},
        fmt::format("cut off pid {} (user {}): {}", c.peer.pid, c.peer.uid, e.what()));
  }
  const uid_t uid = c.peer.uid;
  const bool foreign = c.foreign;
  if (!stays || c.lost) close(fd);
  // The next request of another user waits until it has read the answers, so that they do not pile up here. It also
  // waits until its user has paid for the earlier ones.
  else if (foreign && (!c.outbox.empty() || process_.strangers_time().opens_at(uid, steady_now()) != 0))
    c.pause(process_, fd);
  if (foreign) process_.strangers_time().spend(uid, thread_time() - began, steady_now());
}

void Server::close(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  for (auto& [id, a] : it->second->attachments)
    if (a.subscriber != nullptr) process_.detach(a.publisher, a.subscriber);
  process_.loop().off(fd);
  forget_asked(*it->second);
  ::shutdown(fd, SHUT_RDWR);  // a publisher may keep the descriptor for a moment longer
  connections_.erase(it);
}

void Server::reply(Connection& c, const handshake::Message& message, const std::vector<int>& fds,
                   std::shared_ptr<const void> keep, DescriptorShares::Claim claim) {
  if (!c.outbox.send(c.socket->get(), handshake::encode(message), fds, std::move(keep), std::move(claim)))
    c.lost = true;
  if (c.lost || !c.outbox.empty()) process_.look_again_in(2);
}

bool Server::handle(Connection& c, const handshake::Message& message, std::vector<Fd>& fds) {
  if (const auto* hello = std::get_if<handshake::Hello>(&message)) {
    c.greeted = true;
    c.read_hello(*hello);
    reply(c, hello_of(process_));
    return true;
  }
  if (!c.greeted) return false;
  if (const auto* asked = std::get_if<handshake::Attach>(&message))
    attach(c, *asked, fds);
  else if (const auto* leaves = std::get_if<handshake::Detach>(&message))
    detach(c, *leaves);
  else if (const auto* waits = std::get_if<handshake::Notify>(&message))
    notify(c, *waits, fds);
  else if (const auto* looks = std::get_if<handshake::List>(&message))
    list(c, *looks);
  else if (const auto* traces = std::get_if<handshake::Trace>(&message))
    trace(c, *traces);
  else if (const auto* asks = std::get_if<handshake::Ask>(&message))
    ask(c, *asks);
  else if (const auto* cancels = std::get_if<handshake::Cancel>(&message))
    cancel(c, *cancels);
  else
    return false;
  return true;
}

void Server::detach(Connection& c, const handshake::Detach& asked) {
  if (const auto one = c.asked.find(asked.id); one != c.asked.end()) {
    const Connection::Asked served = one->second;
    c.asked.erase(one);
    return served.desk->caller_gone(served.number);
  }
  const auto it = c.attachments.find(asked.id);
  if (it == c.attachments.end()) return;
  if (it->second.subscriber != nullptr) process_.detach(it->second.publisher, it->second.subscriber);
  c.attachments.erase(it);
}

/// The socket stays as long as the attachment does, so another user's socket counts in that user's share.
void Server::notify(Connection& c, const handshake::Notify& asked, std::vector<Fd>& fds) {
  const auto it = c.attachments.find(asked.id);
  if (it == c.attachments.end() || it->second.subscriber == nullptr || fds.size() != 1) return;
  auto claim = DescriptorShares::of_process().claim(c.peer.uid, 1);
  if (!claim) {
    log(LogLevel::Warning, Cause{"no room", c.peer.uid},
        fmt::format("{} (pid {}) is not notified: user {} already has its share of descriptors", c.name, c.peer.pid,
                    c.peer.uid));
    return;
  }
  it->second.notify = std::move(*claim);
  it->second.subscriber->connect_notify(std::move(fds[0]));
}

void Server::refuse(Connection& c, std::uint64_t id, handshake::Refused refused) {
  log(LogLevel::Warning, Cause{"refused", c.peer.uid},
      fmt::format("refused {} (pid {}, user {}): {}", c.name, c.peer.pid, c.peer.uid, refused.why));
  refused.id = id;
  reply(c, std::move(refused));
}

void Server::publisher_ended(const Process::Published& published) {
  if (published.desk != nullptr)
    for (auto& [fd, c] : connections_)
      std::erase_if(c->asked, [&](const auto& one) { return one.second.desk == published.desk; });
  for (auto& [fd, c] : connections_)
    for (const auto& [id, a] : c->attachments)
      if (a.publisher == published.core) reply(*c, handshake::Ended{id});
}

void Server::attend(const Process::Published& published) {
  const auto attention = published.core->take_attention();
  std::vector<int> cut_off;
  for (auto& [fd, c] : connections_)
    for (const auto& [id, a] : c->attachments) {
      if (std::find(attention.liars.begin(), attention.liars.end(), a.subscriber) != attention.liars.end()) {
        log(LogLevel::Warning, Cause{"cut off", c->peer.uid},
            fmt::format("cut off {} (pid {}): it holds more samples of '{}' than it announced", c->name, c->peer.pid,
                        published.core->topic()));
        cut_off.push_back(fd);
      } else if (std::find(attention.demoted.begin(), attention.demoted.end(), a.subscriber) !=
                 attention.demoted.end()) {
        log(LogLevel::Info, Cause{"demoted", c->peer.uid},
            fmt::format("'{}': {} (pid {}) let a reliable publish time out; best effort until it has caught up",
                        published.core->topic(), c->name, c->peer.pid));
        reply(*c, handshake::Demoted{id});
      }
    }
  for (const int fd : cut_off) close(fd);
}

}  // namespace cardan::detail
