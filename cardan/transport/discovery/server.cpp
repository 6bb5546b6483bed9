// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/discovery/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/base/log.hpp"
#include "cardan/base/printable.hpp"
#include "cardan/transport/discovery/access.hpp"
#include "cardan/transport/discovery/wire.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMaxConnections = 1024;          ///< of our own user and root
constexpr std::size_t kMaxConnectionsOfOne = 32;       ///< of one other user: it can use up its own share only
constexpr std::size_t kMaxConnectionsOfOthers = 256;   ///< of all other users together
constexpr std::size_t kMaxAttachments = 4096;          ///< of one connection
constexpr std::size_t kMaxAttachmentsOfOne = 512;      ///< of all connections of one other user
constexpr std::size_t kMaxAttachmentsOfOthers = 4096;  ///< of all other users together
constexpr std::size_t kMaxObserversOfOne = 64;         ///< of them such that only look
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

/// Why a peer can get nothing here, whatever it asks for; empty: there may be something for it.
std::string Server::nothing_for(const socket::Peer& peer) const {
  if (!is_foreign(peer.uid)) return {};
  std::string names;
  std::size_t more = 0;
  for (const auto& [serial, p] : process_.published()) {
    const TopicOptions& options = p.core->options();
    if (options.process_private) continue;
    // A policy is read when the question is about one topic: not for whoever knocks.
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

/// Tells a peer why it is not let in. It has no connection here, and costs nothing more.
void Server::send_away(const Fd& fd, const socket::Peer& peer, const std::string& why) const {
  const auto& all = process_.published();
  const bool none = std::all_of(all.begin(), all.end(), [](const auto& p) {
    return p.second.core->options().process_private;  // its publication ended while the peer was on its way
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
  // Those of the same user that never said who they are go first; a peer that has been let in stays.
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
      // The waiting connection keeps the listener readable: without a pause this would be a busy loop.
      log(LogLevel::Warning, Cause{"no descriptor", ::geteuid()}, "no descriptor left for a new peer; raise ulimit -n");
      process_.loop().off(listener_.get());
      paused_ = true;
      accept_again_ = steady_now() + 100'000'000;
    }
    return;
  }
  const std::int64_t began = thread_time();
  const socket::Peer peer = socket::peer_of(fd.get());
  // Who only knocks has time as who asks has: one that has had its share is hung up on, and comes again.
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
        fmt::format("refused pid {}: user {} has its share of connections already", peer.pid, peer.uid));
    return;
  }
  auto c = std::make_unique<Connection>();
  c->peer = peer;
  c->foreign = is_foreign(peer.uid);
  c->claim = std::move(*claim);
  c->outbox.for_peer(peer.uid);
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
      const std::int64_t opens = c->paused ? process_.strangers_time().opens_at(c->peer.uid, now) : 0;
      if (opens != 0)
        process_.look_again_in(static_cast<int>(std::clamp<std::int64_t>((opens - now) / 1'000'000 + 1, 1, 100)));
      else if (std::exchange(c->paused, false))
        process_.loop().on(fd, [this, number = fd] { receive(number); });
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
      case socket::Received::NoDescriptors:  // our lack: samples that the peer holds depend on its connection
        log(LogLevel::Warning, Cause{"no descriptor", ::geteuid()},
            "no descriptor left for what a peer hands over; raise ulimit -n");
        [[fallthrough]];
      case socket::Received::Message: {
        const auto parsed = wire::parse(message.text);
        stays = parsed && handle(c, *parsed, message.fds);
        break;
      }
    }
  } catch (const std::exception& e) {  // no memory for what it asks: its connection ends, nobody's process
    log(LogLevel::Warning, Cause{"failed", c.peer.uid},
        fmt::format("cut off pid {} (user {}): {}", c.peer.pid, c.peer.uid, e.what()));
  }
  const uid_t uid = c.peer.uid;
  const bool foreign = c.foreign;
  if (!stays || c.lost)
    close(fd);
  else if (foreign && (!c.outbox.empty() || process_.strangers_time().opens_at(uid, steady_now()) != 0))
    pause(c);
  if (foreign) process_.strangers_time().spend(uid, thread_time() - began, steady_now());
}

/// A stranger's next question waits until it has read the answers: then nothing of it piles up here. And it waits until
/// its user has paid for those before.
void Server::pause(Connection& c) {
  process_.loop().off(c.socket->get());
  c.paused = true;
  process_.look_again_in(2);
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
    c.name = printable(wire::text(m, "name"), 64);  // it is repeated in lists, and a datagram has 64 KiB
    c.clock_offset = wire::signed_number(m, "clock_offset");
    reply(c, {{"op", "hello"},
              {"version", wire::kVersion},
              {"pid", ::getpid()},
              {"name", process_.name()},
              {"clock_offset", process_.clock_offset()}});
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

/// The socket stays as long as the attachment does, so a stranger's counts in its share.
void Server::notify(Attachment& attachment, const Connection& c, Fd socket) {
  auto claim = DescriptorShares::of_process().claim(c.peer.uid, 1);
  if (!claim) {
    log(LogLevel::Warning, Cause{"no room", c.peer.uid},
        fmt::format("{} (pid {}) is not notified: user {} has its share of descriptors already", c.name, c.peer.pid,
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
    reply(c, {{"op", "gone"}, {"id", id}});  // it ended while the subscriber was on its way
    return;
  }
  const std::shared_ptr<PublisherCore>& core = it->second.core;
  if (c.attachments.contains(id) || c.attachments.size() >= kMaxAttachments)
    return refuse(c, id, "limit", "too many or doubled attachments on one connection", "use more processes");
  const bool observes = wire::flag(m, "observer");
  if (c.foreign) {
    const Counts counts = counts_of(c.peer.uid);
    if (counts.attachments >= kMaxAttachmentsOfOne || counts.attachments_of_strangers >= kMaxAttachmentsOfOthers ||
        (observes && counts.observers >= kMaxObserversOfOne))
      return refuse(c, id, "limit", fmt::format("user {} has its share of attachments already", c.peer.uid),
                    "detach from what is not needed any more");
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

  // Before anything comes of it: an answer that has to wait for others' shares would look like one that is not read.
  auto claim = c.outbox.claim_for(c.socket->get(), observes ? 1 : 2);
  if (!claim)
    return refuse(c, id, "limit",
                  fmt::format("user {}, or other users together, have their share of the descriptors of {} (pid {})",
                              c.peer.uid, process_.name(), ::getpid()),
                  "raise ulimit -n of the publisher (systemd: LimitNOFILE=)");
  const Area& area = core->area();
  json answer{{"op", "attached"}, {"id", id}, {"bytes", area.size()}};
  if (observes) {
    c.attachments[id] = {core, nullptr, {}};
    return reply(c, answer, {area.read_only_fd()}, core, std::move(*claim));
  }
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
  const std::uint64_t holds = wire::number(m, "holds");
  const std::uint64_t threads = wire::number(m, "threads");
  if (holds < 1 || holds > layout::kMaxHolds || threads < 1 || threads > layout::kMaxThreads)
    return refuse(c, id, "limit", "holds or threads are out of range",
                  fmt::format("announce 1 to {} holds and 1 to {} threads", layout::kMaxHolds, layout::kMaxThreads));
  if (fds.size() != 1)
    return refuse(c, id, "limit",
                  fmt::format("the subscriber's page did not reach {} (pid {})", process_.name(), ::getpid()),
                  "raise ulimit -n of the publisher (systemd: LimitNOFILE=)");
  try {
    auto subscriber = std::make_unique<Attached>();
    subscriber->mapping = map_read_only(fds[0], layout::align_up(sizeof(layout::SubscriberPage), layout::kPage));
    subscriber->page = reinterpret_cast<const layout::SubscriberPage*>(subscriber->mapping.data());
    if (subscriber->page->magic != layout::kMagic || subscriber->page->version != layout::kVersion)
      return refuse(c, id, "version", "the subscriber's page has another layout version",
                    "build both sides with the same Cardan");
    // Unmapped users are not one user: a board for each of their connections (not for each attach, since a reader maps
    // one for a connection).
    // It is kept as long as the connection, because the reader keeps its mapping of it.
    if (!c.board)
      c.board = c.peer.uid == socket::kUnmapped ? std::make_shared<BellBoard>() : process_.board_of(c.peer.uid);
    const std::shared_ptr<BellBoard> board = c.board;
    subscriber->bell = core->bell_for(c.peer.uid, board, wire::flag(m, "background"));
    subscriber->rung = subscriber->page->armed.load(std::memory_order_relaxed);
    subscriber->announced = static_cast<std::uint32_t>(holds + threads);
    subscriber->threads = static_cast<std::uint32_t>(threads);
    subscriber->prewake = wire::flag(m, "prewake");
    subscriber->reliable = core->options().reliable && wire::flag(m, "reliable");
    subscriber->floor = core->floor_for_late_joiner();
    subscriber->connection = c.socket;
    subscriber->pid = c.peer.pid;
    subscriber->uid = c.peer.uid;
    subscriber->name = c.name;
    subscriber->depth =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(wire::number(m, "depth"), layout::kMaxDepth));
    answer["bell"] = subscriber->bell->index;
    answer["bell_bytes"] = board->size();
    Attachment& place = c.attachments[id];  // before: without memory for it the table would keep the entry
    place.publisher = core;
    place.subscriber = core->attach(std::move(subscriber));
    // Read again now that the entry is visible: what is published from here on is owed to it, what came before is
    // history.
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
