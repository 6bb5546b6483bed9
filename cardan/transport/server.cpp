// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "cardan/memory/error.hpp"
#include "cardan/transport/access.hpp"
#include "cardan/transport/log.hpp"
#include "cardan/transport/wire.hpp"

namespace cardan::detail {
namespace {
constexpr std::size_t kMaxConnections = 1024;
constexpr std::size_t kMaxConnectionsOfOthers = 128;  ///< of one other user: it can use up its own share only
constexpr std::size_t kMaxAttachments = 4096;         ///< of one connection
}  // namespace

using nlohmann::json;

Server::Server(Process& process)
    : process_(process), listener_(socket::listen_at(process.directory().socket_path(process.id()))) {
  process_.loop().on(listener_.get(), [this] { accept(); });
}

Server::~Server() {
  process_.loop().off(listener_.get());
  while (!connections_.empty()) close(connections_.begin()->first);
}

void Server::accept() {
  Fd fd = socket::accept_from(listener_.get());
  if (!fd) {
    if (errno == EMFILE || errno == ENFILE) {
      // The waiting connection keeps the listener readable: without a pause this would be a busy loop.
      log(LogLevel::Warning, "no descriptor left for a new peer; raise ulimit -n");
      process_.loop().off(listener_.get());
      paused_ = true;
      process_.look_again_in(100);
    }
    return;
  }
  auto c = std::make_unique<Connection>();
  c->peer = socket::peer_of(fd.get());
  const bool other = c->peer.uid != ::geteuid();
  const auto same_user = static_cast<std::size_t>(std::count_if(
      connections_.begin(), connections_.end(), [&](const auto& x) { return x.second->peer.uid == c->peer.uid; }));
  if (connections_.size() >= kMaxConnections || (other && same_user >= kMaxConnectionsOfOthers)) {
    // Those that never said who they are go first; a peer that has been let in stays.
    const auto mute = std::find_if(connections_.begin(), connections_.end(), [&](const auto& x) {
      return !x.second->greeted && x.second->peer.uid == c->peer.uid;
    });
    if (mute == connections_.end()) return;
    close(mute->first);
  }
  const int number = fd.get();
  c->fd = BoundFd(std::move(fd));
  connections_[number] = std::move(c);
  process_.loop().on(number, [this, number] { receive(number); });
}

void Server::housekeeping() {
  std::vector<int> lost;
  for (auto& [fd, c] : connections_) {
    if (c->outbox.empty()) continue;
    if (!c->outbox.flush(fd)) lost.push_back(fd);
    if (!c->outbox.empty()) process_.look_again_in(2);
  }
  for (const int fd : lost) close(fd);
  if (!paused_) return;
  paused_ = false;
  process_.loop().on(listener_.get(), [this] { accept(); });
}

void Server::receive(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  socket::Message message;
  switch (socket::receive(fd, message)) {
    case socket::Received::Nothing:
      return;
    case socket::Received::Closed:
    case socket::Received::Bad:
      return close(fd);
    case socket::Received::Message:
      break;
  }
  const auto parsed = wire::parse(message.text);
  if (!parsed || !handle(*it->second, *parsed, message.fds)) close(fd);
}

void Server::close(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  for (auto& [id, a] : it->second->attachments)
    if (a.subscriber != nullptr) process_.detach(a.publisher, a.subscriber);
  process_.loop().off(fd);
  connections_.erase(it);
}

bool Server::reply(Connection& c, const json& message, const std::vector<int>& fds) {
  const bool alive = c.outbox.send(c.fd.get(), wire::print(message), fds);
  if (!c.outbox.empty()) process_.look_again_in(2);
  return alive;
}

bool Server::handle(Connection& c, const json& m, std::vector<Fd>& fds) {
  const std::string op = wire::text(m, "op");
  if (op == "hello") {
    c.greeted = true;
    c.name = wire::text(m, "name").substr(0, 64);  // it is repeated in lists, and a datagram has 64 KiB
    c.clock_offset = wire::signed_number(m, "clock_offset");
    return reply(c, {{"op", "hello"},
                     {"version", wire::kVersion},
                     {"pid", ::getpid()},
                     {"name", process_.name()},
                     {"clock_offset", process_.clock_offset()}});
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
    PublisherCore::connect_notify(*it->second.subscriber, std::move(fds[0]));
    return true;
  }
  if (op == "list") {
    list(c, m);
    return true;
  }
  return false;
}

void Server::refuse(Connection& c, std::uint64_t id, const char* code, const std::string& why,
                    const std::string& remedy) {
  log(LogLevel::Warning, fmt::format("refused {} (pid {}, user {}): {}", c.name, c.peer.pid, c.peer.uid, why));
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

  const Area& area = core->area();
  json answer{{"op", "attached"}, {"id", id}, {"bytes", area.size()}};
  if (wire::flag(m, "observer")) {
    c.attachments[id] = {core, nullptr};
    reply(c, answer, {area.read_only_fd()});
    return;
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
  const std::uint64_t announced = wire::number(m, "holds") + wire::number(m, "threads");
  if (announced < 2 || announced > layout::kMaxHolds + layout::kMaxThreads || fds.size() != 1)
    return refuse(c, id, "limit", "holds or threads are out of range",
                  fmt::format("announce 1 to {} holds and 1 to {} threads", layout::kMaxHolds, layout::kMaxThreads));
  try {
    auto subscriber = std::make_unique<Attached>();
    subscriber->mapping = map_read_only(fds[0], layout::align_up(sizeof(layout::SubscriberPage), layout::kPage));
    subscriber->page = reinterpret_cast<const layout::SubscriberPage*>(subscriber->mapping.data());
    if (subscriber->page->magic != layout::kMagic || subscriber->page->version != layout::kVersion)
      return refuse(c, id, "version", "the subscriber's page has another layout version",
                    "build both sides with the same Cardan");
    // Unmapped users are not one user: a board for each of their connections (not for each attach, since a reader maps
    // one for a connection).
    if (c.peer.uid == socket::kUnmapped && !c.own_board) c.own_board = std::make_shared<BellBoard>();
    const std::shared_ptr<BellBoard> board = c.own_board ? c.own_board : process_.board_of(c.peer.uid);
    subscriber->bell = core->bell_for(c.peer.uid, board);
    subscriber->rung = subscriber->page->armed.load(std::memory_order_relaxed);
    subscriber->announced = static_cast<std::uint32_t>(announced);
    subscriber->prewake = wire::flag(m, "prewake");
    subscriber->reliable = core->options().reliable && wire::flag(m, "reliable");
    subscriber->floor = core->floor_for_late_joiner();
    subscriber->pid = c.peer.pid;
    subscriber->uid = c.peer.uid;
    subscriber->name = c.name;
    answer["bell"] = subscriber->bell->index;
    answer["bell_bytes"] = board->size();
    Attached* entry = core->attach(std::move(subscriber));
    // Read again now that the entry is visible: what is published from here on is owed to it, what came before is
    // history.
    answer["cursor"] = core->floor_for_late_joiner();
    answer["owed_from"] = core->published();
    c.attachments[id] = {core, entry};
    reply(c, answer, {area.read_only_fd(), board->read_only_fd()});  // only now: the table entry is visible (A1)
  } catch (const Error& e) {
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
        log(LogLevel::Warning, fmt::format("cut off {} (pid {}): it holds more samples of '{}' than it announced",
                                           c->name, c->peer.pid, published.core->topic()));
        cut_off.push_back(fd);
      } else if (std::find(attention.demoted.begin(), attention.demoted.end(), a.subscriber) !=
                 attention.demoted.end()) {
        log(LogLevel::Info,
            fmt::format("'{}': {} (pid {}) let a reliable publish time out; best effort until it has caught up",
                        published.core->topic(), c->name, c->peer.pid));
        reply(*c, {{"op", "demoted"}, {"id", id}});
      }
    }
  for (const int fd : cut_off) close(fd);
}

json Server::describe(const Process::Published& p) const {
  const PublisherCore& core = *p.core;
  const layout::Hot& hot = core.hot();
  json readers = json::array();
  json pooled = json::array();
  std::array<std::uint64_t, 128> all_latencies{};
  const bool each = core.subscribers() <= 16;  // a datagram has 64 KiB
  core.for_each_subscriber([&](const Attached& a) {
    json histogram = json::array();
    for (std::size_t b = 0; b < a.page->latency.size(); ++b) {
      const std::uint32_t count = a.page->latency[b].load(std::memory_order_relaxed);
      all_latencies[b] += count;
      if (count != 0 && each) histogram.push_back({b, count});
    }
    readers.push_back({{"pid", a.pid},
                       {"name", a.name},
                       {"uid", a.uid},
                       {"reliable", a.reliable},
                       {"demoted", a.demoted.load()},
                       {"received", a.page->received.load()},
                       {"missed", a.page->missed.load()},
                       {"bad", a.page->bad.load()},
                       {"spin_ns", a.page->spin_ns.load()},
                       {"sleeps", a.page->sleeps.load()},
                       {"announced", a.announced},
                       {"latency", histogram}});
  });
  for (std::size_t b = 0; b < all_latencies.size(); ++b)
    if (all_latencies[b] != 0) pooled.push_back({b, all_latencies[b]});
  return {{"topic", core.topic()},
          {"latency", pooled},
          {"type", core.type().name},
          {"hash", fmt::format("{:016x}", core.type().hash)},
          {"serial", p.entry.serial},
          {"depth", core.options().depth},
          {"max_bytes", core.options().max_bytes},
          {"reliable", core.options().reliable},
          {"deadline_ns", core.options().deadline.count()},
          {"slots", hot.committed.load()},
          {"area_bytes", core.area().size()},
          {"published", core.published()},
          {"bytes", hot.bytes.load()},
          {"longest_gap_ns", hot.longest_gap_ns.load()},
          {"heartbeat_ns", hot.heartbeat_ns.load()},
          {"wakes", hot.wakes.load()},
          {"prewakes", hot.prewakes.load()},
          {"reliable_timeouts", hot.reliable_timeouts.load()},
          {"subscribers", readers}};
}

void Server::list(Connection& c, const json& m) {
  const std::string only = wire::text(m, "topic");
  json topics = json::array();
  std::uint64_t next = 0;
  std::size_t bytes = 0;
  for (auto it = process_.published().lower_bound(static_cast<std::uint32_t>(wire::number(m, "from")));
       it != process_.published().end(); ++it) {
    const PublisherCore& core = *it->second.core;
    if (core.options().process_private || (!only.empty() && core.topic() != only)) continue;
    try {
      if (!refusal(core.options().access, core.topic(), c.peer, process_.directory().root()).empty()) continue;
    } catch (const Error&) {
      continue;
    }
    json one = describe(it->second);
    const std::size_t size = one.dump().size();
    if (bytes + size > socket::kMaxMessage - 1024 && !topics.empty()) {
      next = it->first;  // the rest in the next datagram
      break;
    }
    bytes += size;
    topics.push_back(std::move(one));
  }
  reply(c, {{"op", "topics"}, {"topics", topics}, {"next", next}, {"pid", ::getpid()}, {"name", process_.name()}});
}

}  // namespace cardan::detail
