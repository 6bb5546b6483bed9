// SPDX-License-Identifier: Apache-2.0
// Which publishers to attach to: names in the run directory, their owners, and what those users may cost.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/announcement.hpp"
#include "src/transport/discovery/client.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBusyTry = 20 * kMs;        ///< a full backlog
constexpr std::size_t kBurst = 64;                 ///< names of our topics in 100 ms that are examined one by one
constexpr std::size_t kConnectionsOfOne = 32;      ///< to processes of one other user
constexpr std::size_t kConnectionsOfOthers = 128;  ///< of all other users
constexpr std::size_t kStreamsOfOne = kMaxStreams / 4;
constexpr std::size_t kStreamsOfOthers = kMaxStreams / 2;
constexpr std::int64_t kOthersTime = 200 * kMs;  ///< for the names of other users in one look
constexpr std::size_t kPageBytes = layout::align_up(sizeof(layout::SubscriberPage), layout::kPage);
constexpr std::uint32_t kEventsAtOnce = 8;  ///< of one topic and user, in ten seconds
constexpr std::size_t kRemembered = 4096;

bool lacks_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

/// Listing the folder, connecting, and making a page need this many descriptor numbers for a moment. A look without
/// them would find no publisher, and would prove nothing.
void need_descriptors() {
  std::array<Fd, 4> probe;
  for (Fd& fd : probe) {
    fd = make_bound([] { return ::open("/", O_PATH | O_CLOEXEC); });
    if (!fd && lacks_descriptors(errno))
      throw Error(ErrorCode::Limit,
                  fmt::format("no file descriptor is left to look for publishers ({}); {} are needed for a moment",
                              std::strerror(errno), probe.size()),
                  "raise ulimit -n (systemd: LimitNOFILE=), or close what this process does not need");
  }
}

}  // namespace

layout::SubscriberPage* make_subscriber_page(std::byte* memory) {
  auto* page = new (memory) layout::SubscriberPage{};
  page->magic = layout::kMagic;
  page->version = layout::kVersion;
  page->pid = static_cast<std::uint32_t>(::getpid());
  return page;
}

Client::Client(Process& process) : process_(process), shunned_(kRemembered), events_(kEventsAtOnce) {}

void Client::watch() {
  if (inotify_ || poll_directory_) return;
  inotify_ = BoundFd(make_bound([] { return ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }));
  if (!inotify_ ||
      ::inotify_add_watch(inotify_.get(), process_.directory().path().c_str(), IN_CREATE | IN_MOVED_TO) < 0) {
    log(LogLevel::Warning,
        fmt::format(
            "cannot watch the run directory ({}); polling every 100 ms instead — raise fs.inotify.max_user_instances",
            std::strerror(errno)));
    inotify_.reset();
    poll_directory_ = true;
    return;
  }
  process_.loop().on(inotify_.get(), [this] { changed(); });
}

void Client::changed() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  const ssize_t n = ::read(inotify_.get(), buffer.data(), buffer.size());
  const std::int64_t now = steady_now();
  if (now - burst_began_ > 100 * kMs) {
    burst_began_ = now;
    burst_ = 0;
  }
  std::vector<TopicEntry> entries;
  for (ssize_t at = 0; at < n;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof(event));
    const char* name = buffer.data() + at + sizeof(inotify_event);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event.len);
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      look_in(0);
      continue;
    }
    if (event.len == 0) continue;
    const auto parsed = RunDirectory::parse(name);
    if (!parsed || !by_hash_.contains(parsed->topic_hash)) continue;
    // A flood of names is handled by a look at the whole folder, in which our own user's names come first.
    if (++burst_ > kBurst)
      look_in(100 * kMs);
    else if (const auto entry = process_.directory().entry(name))
      entries.push_back(*entry);
  }
  attach_all(entries);
}

void Client::look_in(std::int64_t ns) {
  const std::int64_t at = std::max(steady_now() + ns, not_before_);
  if (scan_at_ == 0 || at < scan_at_) scan_at_ = at;
}

void Client::scan() {
  const std::int64_t began = steady_now();
  scan_at_ = 0;
  if (by_hash_.empty()) return;
  declined_.release_due(began);
  settle_lost();
  attach_all(process_.directory().entries());
  if (const std::int64_t due = declined_.due_at(); due != 0) look_in(due - began);
  // For any number of names, nine tenths of this thread's time remain for other work.
  const std::int64_t now = steady_now();
  not_before_ = now + 10 * (now - began);
}

void Client::attach_all(const std::vector<TopicEntry>& entries) {
  const std::int64_t until = steady_now() + kOthersTime;
  for (const TopicEntry& entry : entries) {
    const auto [begin, end] = by_hash_.equal_range(entry.topic_hash);
    if (begin == end) continue;
    if (is_foreign(entry.owner) && steady_now() > until) {
      look_in(Tries::kFirst);
      break;
    }
    for (auto it = begin; it != end; ++it) attach(*it->second, entry);
  }
  if (!dead_.empty()) process_.directory().remove_processes(std::exchange(dead_, {}));
}

/// Finds out here whether processes with lost connections live, also if no name leads to them any more. That a connect
/// succeeds proves nothing: a process that is dying closes its connections before its listening socket, and until then
/// the kernel puts every connect into the backlog. A new connection tells in the end: by the first message
/// (take_message), or by its hang-up. A process that is stopped does neither, and it stays unknown whether it will
/// continue.
void Client::settle_lost() {
  for (const auto& [process, owner] : lost_.open()) connection_to(process, owner);
}

void Client::add(SubscriberCore& subscriber, FirstAnswers::Answer* answer) {
  need_descriptors();
  watch();
  const std::uint64_t hash = hash_name(subscriber.topic());
  by_hash_.emplace(hash, &subscriber);
  answers_.open(subscriber, answer);
  attach_all(process_.directory().entries(hash));
  answers_.answered(subscriber, subscriber.publishers() != 0, nullptr);
}

bool Client::is_linked(const SubscriberCore& subscriber, const TopicEntry& entry) const {
  const auto known = by_process_.find(entry.process);
  if (known == by_process_.end()) return false;
  const auto& links = connections_.at(known->second)->links;
  return std::any_of(links.begin(), links.end(), [&](const auto& x) {
    return x.second.subscriber == &subscriber && x.second.entry.serial == entry.serial;
  });
}

/// Of a subscriber's streams, half are reserved for our own user and root.
bool Client::has_room(const SubscriberCore& subscriber, uid_t uid) {
  if (!is_foreign(uid)) return true;
  std::vector<Held>& held = held_[&subscriber];
  std::erase_if(held, [&](const Held& h) { return subscriber.helper().find_stream(h.stream) == nullptr; });
  std::size_t of_one = 0;
  std::size_t of_others = held.size();
  for (const Held& h : held) of_one += h.uid == uid ? 1 : 0;
  for (const auto& [fd, c] : connections_) {
    if (!c->foreign) continue;
    const auto open = static_cast<std::size_t>(std::count_if(c->links.begin(), c->links.end(), [&](const auto& x) {
      return x.second.subscriber == &subscriber && x.second.stream == 0;
    }));
    of_others += open;
    if (c->peer.uid == uid) of_one += open;
  }
  return of_one < kStreamsOfOne && of_others < kStreamsOfOthers;
}

void Client::try_later(const std::string& process, std::int64_t first) {
  look_in(tries_.failed(process, first, steady_now()));
}

void Client::no_descriptor(SubscriberCore& subscriber, int pid, const std::string& why) {
  const std::string text = fmt::format(
      "a publisher of '{}' cannot be reached yet: {}; trying again — raise ulimit -n (systemd: LimitNOFILE=)",
      subscriber.topic(), why);
  answers_.failed(subscriber, [&] {
    return Error(ErrorCode::Limit, fmt::format("a publisher of '{}' cannot be reached: {}", subscriber.topic(), why),
                 "raise ulimit -n (systemd: LimitNOFILE=)");
  });
  events_.ended(steady_now());
  if (!events_.allow({("descriptors " + subscriber.topic()).c_str(), ::geteuid()}, steady_now())) return;
  log(LogLevel::Warning, Cause{"no descriptor", ::geteuid()}, text);
  subscriber.helper().emit({Event::Kind::Refused, pid, text});
}

/// Another user's events push only a few of our own user's events out of the queue.
void Client::tell(SubscriberCore& subscriber, uid_t uid, Event event) {
  events_.ended(steady_now());  // starts new windows; what was left out repeats what was reported
  if (!is_foreign(uid)) return subscriber.helper().emit(std::move(event));
  if (events_.allow({subscriber.topic().c_str(), uid}, steady_now())) subscriber.helper().emit(std::move(event), uid);
}

/// A publication that we do not accept is an event and not an error, because any user can put a name there.
void Client::not_accepted(SubscriberCore& subscriber, const TopicEntry& entry, const socket::Peer& peer,
                          const std::string& why) {
  tell(
      subscriber, peer.uid,
      {Event::Kind::Refused, peer.pid,
       fmt::format("a publication of '{}' by {}{} is not accepted: {} — set the topic's access, or add the user to the "
                   "policy",
                   subscriber.topic(), socket::name_of_user(peer.uid),
                   peer.pid != 0 ? fmt::format(" (pid {})", peer.pid) : "", why)});
  declined_.insert(Offer::of(subscriber, entry));
}

/// The connection to this process, or a new one. `owner`: of the name that leads there; nobody else is connected to.
Client::Connection* Client::connection_to(const std::string& process, uid_t owner) {
  if (const auto it = by_process_.find(process); it != by_process_.end()) return connections_.at(it->second).get();
  if (const std::int64_t wait = tries_.wait_for(process, steady_now()); wait != 0) {
    look_in(wait);
    return nullptr;
  }
  auto share = share_of_connection(owner);
  if (!share) {
    log(LogLevel::Warning, Cause{"no room", owner},
        fmt::format("{} already has its share of connections", socket::name_of_user(owner)));
    try_later(process);
    return nullptr;
  }
  Fd fd = reach(process, owner);
  if (!fd) return nullptr;
  auto c = std::make_unique<Connection>();
  c->process = process;
  c->socket = std::make_shared<Socket>();
  c->belongs_to(socket::peer_of(fd.get()));
  c->socket->claim = std::move(*share);
  c->since = steady_now();
  const int number = fd.get();
  c->socket->fd = BoundFd(std::move(fd));
  send(*c, hello_of(process_));
  Connection* raw = c.get();
  by_process_[process] = number;
  connections_[number] = std::move(c);
  process_.loop().on(number, [this, number] { receive(number); });
  return raw;
}

/// Our own user's and root's connections are not counted. Empty: `owner`, or all other users together, have their
/// share.
std::optional<DescriptorShares::Claim> Client::share_of_connection(uid_t owner) const {
  if (!is_foreign(owner)) return DescriptorShares::Claim{};
  std::size_t of_one = 0;
  std::size_t of_others = 0;
  for (const auto& [fd, c] : connections_) {
    if (!c->foreign) continue;
    ++of_others;
    if (c->peer.uid == owner) ++of_one;
  }
  if (of_one >= kConnectionsOfOne || of_others >= kConnectionsOfOthers) return std::nullopt;
  return DescriptorShares::of_process().claim(owner, 1);
}

/// Empty: it is dead, or tried again later.
Fd Client::reach(const std::string& process, uid_t owner) {
  int error = 0;
  Fd fd = process_.directory().connect(process, error, [&](uid_t whose) { return whose == owner; });
  if (fd) return fd;
  if (error == ECONNREFUSED || error == ENOENT) {
    dead_.insert(process);
    tries_.forget(process);
    lost_.process_died(process, process_.subscribers());
  } else {
    try_later(process, error == EAGAIN ? kBusyTry : Tries::kFirst);
  }
  short_of_descriptors_ = lacks_descriptors(error);
  return {};
}

void Client::attach(SubscriberCore& subscriber, const TopicEntry& entry) {
  if (entry.process == process_.id()) return;  // its publishers are attached without a socket
  if (shunned_.contains(entry.process) || declined_.contains(Offer::of(subscriber, entry))) return;
  if (is_linked(subscriber, entry) || process_.directory().topic_of(entry) != subscriber.topic()) return;
  if (!accepts_name(subscriber, entry)) return;
  if (!has_room(subscriber, entry.owner)) {
    tell(subscriber, entry.owner,
         {Event::Kind::Refused, 0,
          fmt::format("publishers of '{}' by {} wait: it has its share of this subscriber's {} streams",
                      subscriber.topic(), socket::name_of_user(entry.owner), kMaxStreams)});
    return look_in(Tries::kLongest);
  }
  short_of_descriptors_ = false;
  Connection* c = connection_to(entry.process, entry.owner);
  if (c == nullptr) {
    if (short_of_descriptors_) no_descriptor(subscriber, 0, "no file descriptor is left");
    return;
  }
  const bool asked = accepts_peer(subscriber, entry, c->peer) && request(subscriber, entry, *c);
  if (!asked && c->links.empty() && !c->had_stream) hang_up(c->fd());
}

/// With Access::Owner the name's owner decides alone; another user's process gets no request.
bool Client::accepts_name(SubscriberCore& subscriber, const TopicEntry& entry) {
  const Access access = subscriber.options().access;
  if (access != Access::Owner) return true;
  const socket::Peer owner{.pid = 0, .uid = entry.owner, .gid = socket::kUnmapped, .groups = {}};
  const std::string no = refusal(access, subscriber.topic(), owner, process_.directory().root());
  if (!no.empty()) not_accepted(subscriber, entry, owner, no);
  return no.empty();
}

bool Client::accepts_peer(SubscriberCore& subscriber, const TopicEntry& entry, const socket::Peer& peer) {
  std::string no;
  try {
    no = refusal(subscriber.options().access, subscriber.topic(), peer, process_.directory().root());
  } catch (const Error& e) {  // a policy that cannot be read
    no = e.what();
  }
  if (!no.empty()) not_accepted(subscriber, entry, peer, no);
  return no.empty();
}

/// Returns false if no descriptor is left for a page.
bool Client::request(SubscriberCore& subscriber, const TopicEntry& entry, Connection& c, const std::string& unlisted,
                     std::uint64_t tag) {
  Link link;
  link.unlisted = unlisted;
  link.tag = tag;
  link.subscriber = &subscriber;
  link.entry = entry;
  link.id = next_id_++;
  try {
    link.page = std::make_shared<Area>("subscriber of " + subscriber.topic(), kPageBytes);
    link.page->commit(0, kPageBytes);
  } catch (const Error& e) {
    try_later(entry.process);
    no_descriptor(subscriber, c.peer.pid, e.cause());
    return false;
  }
  make_subscriber_page(link.page->data());
  const handshake::Attach attach{.id = link.id,
                                 .serial = entry.serial,
                                 .topic = unlisted.empty() ? subscriber.topic() : unlisted,
                                 .type = subscriber.type().name,
                                 .hash = fmt::format("{:016x}", subscriber.type().hash),
                                 .not_via = subscriber.endpoint().not_via,
                                 .announced = announcement_of(subscriber)};
  const bool sent = send(c, attach, {link.page->read_only_fd()});
  if (!sent && errno == EMFILE) {  // the peer has not read earlier letters yet
    try_later(entry.process);
    return unlisted.empty();  // nothing looks for it again
  }
  link.page->forget_descriptor();
  answers_.asked(subscriber);
  const std::uint64_t id = link.id;
  c.links[id] = std::move(link);
  return true;
}

}  // namespace cardan::detail
