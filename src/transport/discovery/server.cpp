// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"
#include "src/base/printable.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/announcement.hpp"
#include "src/transport/discovery/wire.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMaxConnections = 1024;          ///< of our own user and root
constexpr std::size_t kMaxConnectionsOfOne = 32;       ///< of one other user, which can use up only its own share
constexpr std::size_t kMaxConnectionsOfOthers = 256;   ///< of all other users together
constexpr std::size_t kMaxAttachments = 4096;          ///< of one connection
constexpr std::size_t kMaxAttachmentsOfOne = 512;      ///< of all connections of one other user
constexpr std::size_t kMaxAttachmentsOfOthers = 4096;  ///< of all other users together
constexpr std::size_t kMaxObserversOfOne = 64;         ///< of one other user's connections, those that only observe
constexpr std::int64_t kPatience = 5'000'000'000;      ///< with a stranger that does not read its answers

}  // namespace

using nlohmann::json;

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
  socket::send(fd.get(), wire::print({{"op", none ? "gone" : "refused"},
                                      {"id", 0},
                                      {"code", "access"},
                                      {"why", why},
                                      {"remedy", "set the topic's access, or add the user to the policy"}}));
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
        const auto parsed = wire::parse(message.text);
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
  // A stranger's next request waits until it has read the answers, so that they do not pile up here. It also waits
  // until its user has paid for the earlier ones.
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
  ::shutdown(fd, SHUT_RDWR);  // a publisher may keep the descriptor for a moment longer
  connections_.erase(it);
}

void Server::reply(Connection& c, const json& message, const std::vector<int>& fds, std::shared_ptr<const void> keep,
                   DescriptorShares::Claim claim) {
  if (!c.outbox.send(c.socket->get(), wire::print(message), fds, std::move(keep), std::move(claim))) c.lost = true;
  if (c.lost || !c.outbox.empty()) process_.look_again_in(2);
}

bool Server::handle(Connection& c, const json& m, std::vector<Fd>& fds) {
  const std::string op = wire::text(m, "op");
  if (op == "hello") {
    c.greeted = true;
    c.read_hello(m);
    reply(c, hello_of(process_));
    return true;
  }
  if (!c.greeted) return false;
  const std::uint64_t id = wire::number(m, "id");
  if (op == "attach") {
    attach(c, m, fds);
    return true;
  }
  if (op == "detach") {
    if (const auto it = c.attachments.find(id); it != c.attachments.end()) {
      if (it->second.subscriber != nullptr) process_.detach(it->second.publisher, it->second.subscriber);
      c.attachments.erase(it);
    }
    return true;
  }
  if (op == "notify") {
    const auto it = c.attachments.find(id);
    if (it == c.attachments.end() || it->second.subscriber == nullptr || fds.size() != 1) return true;
    notify(it->second, c, std::move(fds[0]));
    return true;
  }
  if (op == "list") {
    list(c, m);
    return true;
  }
  return false;
}

/// The socket stays as long as the attachment does, so a stranger's socket counts in its share.
void Server::notify(Attachment& attachment, const Connection& c, Fd socket) {
  auto claim = DescriptorShares::of_process().claim(c.peer.uid, 1);
  if (!claim) {
    log(LogLevel::Warning, Cause{"no room", c.peer.uid},
        fmt::format("{} (pid {}) is not notified: user {} already has its share of descriptors", c.name, c.peer.pid,
                    c.peer.uid));
    return;
  }
  attachment.notify = std::move(*claim);
  PublisherCore::connect_notify(*attachment.subscriber, std::move(socket));
}

void Server::refuse(Connection& c, std::uint64_t id, const char* code, const std::string& why,
                    const std::string& remedy) {
  log(LogLevel::Warning, Cause{"refused", c.peer.uid},
      fmt::format("refused {} (pid {}, user {}): {}", c.name, c.peer.pid, c.peer.uid, why));
  reply(c, {{"op", "refused"}, {"id", id}, {"code", code}, {"why", why}, {"remedy", remedy}});
}

void Server::attach(Connection& c, const json& m, std::vector<Fd>& fds) {
  const std::uint64_t id = wire::number(m, "id");
  const std::string topic = wire::text(m, "topic");
  const auto it = process_.published().find(static_cast<std::uint32_t>(wire::number(m, "serial")));
  if (it == process_.published().end() || it->second.core->topic() != topic ||
      it->second.core->options().process_private) {
    reply(c, {{"op", "gone"}, {"id", id}});  // it ended while the subscriber was attaching
    return;
  }
  const std::shared_ptr<PublisherCore>& core = it->second.core;
  if (c.attachments.contains(id) || c.attachments.size() >= kMaxAttachments)
    return refuse(c, id, "limit", "too many or duplicate attachments on one connection", "use more processes");
  const bool observes = wire::flag(m, "observer");
  if (c.foreign) {
    const Counts counts = counts_of(c.peer.uid);
    if (counts.attachments >= kMaxAttachmentsOfOne || counts.attachments_of_strangers >= kMaxAttachmentsOfOthers ||
        (observes && counts.observers >= kMaxObserversOfOne))
      return refuse(c, id, "limit", fmt::format("user {} already has its share of attachments", c.peer.uid),
                    "detach from topics that are not needed any more");
  }
  std::string no;
  try {
    no = refusal(core->options().access, topic, c.peer, process_.directory().root());
  } catch (const Error& e) {
    no = e.what();
  }
  if (!no.empty())
    return refuse(c, id, "access",
                  fmt::format("'{}' of {} (pid {}) is not for you: {}", topic, process_.name(), ::getpid(), no),
                  "set the topic's access, or add the user to the policy");

  // Claimed before anything is done: an answer that has to wait for others' shares would look like one that is not
  // read.
  auto claim = c.outbox.claim_for(c.socket->get(), observes ? 1 : 2);
  if (!claim)
    return refuse(c, id, "limit",
                  fmt::format("user {}, or other users together, have their share of the descriptors of {} (pid {})",
                              c.peer.uid, process_.name(), ::getpid()),
                  "raise ulimit -n of the publisher (systemd: LimitNOFILE=)");
  const Area& area = core->area();
  json answer{{"op", "attached"}, {"id", id}, {"bytes", area.size()}};
  if (observes) {
    answer["access"] = static_cast<unsigned>(core->options().access);
    c.attachments[id] = {core, nullptr, {}};
    return reply(c, answer, {area.read_only_fd()}, core, std::move(*claim));
  }
  if (came_through(core->via(), wire::text(m, "not_via")))  // no line of the log: nothing is wrong
    return reply(c, {{"op", "refused"}, {"id", id}, {"code", "via"}});
  const std::string type = wire::text(m, "type");
  const std::string hash = wire::text(m, "hash");
  const std::string our_hash = fmt::format("{:016x}", core->type().hash);
  if (type != core->type().name || hash != our_hash)
    return refuse(
        c, id, "type",
        fmt::format("'{}' has type {} (layout {}) at its publisher {} (pid {}), but {} (layout {}) at its subscriber "
                    "{} (pid {})",
                    topic, core->type().name, our_hash, process_.name(), ::getpid(), type, hash, c.name, c.peer.pid),
        "build both sides with the same message definition");
  const auto announced = Announcement::read(m);
  if (!announced)
    return refuse(c, id, "limit", "holds or threads are out of range",
                  fmt::format("announce 1 to {} holds and 1 to {} threads", layout::kMaxHolds, layout::kMaxThreads));
  if (fds.size() != 1)
    return refuse(c, id, "limit",
                  fmt::format("the subscriber's page did not reach {} (pid {})", process_.name(), ::getpid()),
                  "raise ulimit -n of the publisher (systemd: LimitNOFILE=)");
  try {
    Mapping mapping = map_read_only(fds[0], layout::align_up(sizeof(layout::SubscriberPage), layout::kPage));
    const auto* page = reinterpret_cast<const layout::SubscriberPage*>(mapping.data());
    if (page->magic != layout::kMagic || page->version != layout::kVersion)
      return refuse(c, id, "version", "the subscriber's page has another layout version",
                    "build both sides with the same Cardan");
    // Unmapped users are not one user: each of their connections gets a board (not each attach, because a subscriber
    // maps one board for each connection). The board is kept as long as the connection, because the subscriber keeps
    // its mapping.
    if (!c.board)
      c.board = c.peer.uid == socket::kUnmapped ? std::make_shared<BellBoard>() : process_.board_of(c.peer.uid);
    const std::shared_ptr<BellBoard> board = c.board;
    auto subscriber = make_attached(*core, *announced, c.peer.uid, board, page);
    subscriber->mapping = std::move(mapping);
    subscriber->connection = c.socket;
    subscriber->pid = c.peer.pid;
    subscriber->name = c.name;
    answer["bell"] = subscriber->bell->index;
    answer["bell_bytes"] = board->size();
    Attachment& place = c.attachments[id];  // made first: without memory for it the table would keep the entry
    place.publisher = core;
    place.subscriber = core->attach(std::move(subscriber));
    // Read again now that the entry is visible: later publications must be delivered to it, earlier ones are history.
    answer["cursor"] = core->floor_for_late_joiner();
    answer["owed_from"] = core->published();
    // Only now: the table entry is visible (A1).
    reply(c, answer, {area.read_only_fd(), board->read_only_fd()},
          std::make_shared<std::pair<std::shared_ptr<PublisherCore>, std::shared_ptr<BellBoard>>>(core, board),
          std::move(*claim));
  } catch (const Error& e) {
    c.attachments.erase(id);
    refuse(c, id,
           e.code() == ErrorCode::NoMemory       ? "memory"
           : e.code() == ErrorCode::Incompatible ? "area"
                                                 : "limit",
           e.cause(), e.remedy());
  }
}

void Server::publisher_ended(const Process::Published& published) {
  for (auto& [fd, c] : connections_)
    for (const auto& [id, a] : c->attachments)
      if (a.publisher == published.core) reply(*c, {{"op", "ended"}, {"id", id}});
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
        reply(*c, {{"op", "demoted"}, {"id", id}});
      }
    }
  for (const int fd : cut_off) close(fd);
}

}  // namespace cardan::detail
