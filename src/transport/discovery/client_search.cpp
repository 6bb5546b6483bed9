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
#include <nlohmann/json.hpp>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/announcement.hpp"
#include "src/transport/discovery/client.hpp"
#include "src/transport/discovery/wire.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kLongestTry = 5000 * kMs;
constexpr std::int64_t kBusyTry = 20 * kMs;  ///< a full backlog
constexpr std::size_t kTries = 1024;
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

using nlohmann::json;

layout::SubscriberPage* make_subscriber_page(std::byte* memory) {
  auto* page = new (memory) layout::SubscriberPage{};
  page->magic = layout::kMagic;
  page->version = layout::kVersion;
  page->pid = static_cast<std::uint32_t>(::getpid());
  return page;
}

Client::Client(Process& process)
    : process_(process), shunned_(kRemembered), refusals_(kRemembered), events_(kEventsAtOnce) {}

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
  if (ask_again_at_ != 0 && began >= ask_again_at_) {
    ask_again_at_ = 0;
    refusals_.erase_if([this](const Place& p) { return for_now_.contains(p); });
    for_now_.clear();
  }
  settle_lost();
  attach_all(process_.directory().entries());
  if (ask_again_at_ != 0) look_in(ask_again_at_ - began);
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
      look_in(kFirstTry);
      break;
    }
    for (auto it = begin; it != end; ++it) attach(*it->second, entry);
  }
  if (!dead_.empty()) process_.directory().remove_processes(std::exchange(dead_, {}));
}

/// The process has said something on a new connection, so its publishers live, and overwrite what they held for us.
void Client::cut_lost(const std::string& process) {
  for (auto& [place, lost] : lost_) {
    if (std::get<1>(place) != process || !lost.stream) continue;
    for (SubscriberCore* s : process_.subscribers())
      if (s == std::get<0>(place)) s->helper().cut_stream(*lost.stream);
    lost.taken = lost.stream->page().cursor.load(std::memory_order_relaxed);
    lost.stream.reset();
  }
}

/// The process was dying when it hung up. Its publishers' last samples do not change any more, and may be taken.
void Client::release_lost(const std::string& process) {
  for (const auto& [place, lost] : lost_) {
    if (std::get<1>(place) != process || !lost.stream) continue;
    auto end = Stream::End::Lost;
    lost.stream->end.compare_exchange_strong(end, Stream::End::Died, std::memory_order_acq_rel);
    for (SubscriberCore* s : process_.subscribers())
      if (s == std::get<0>(place)) s->helper().end_stream(lost.stream->id, Stream::End::Died);
  }
  std::erase_if(lost_, [&](const auto& x) { return std::get<1>(x.first) == process; });
}

/// It is not known yet whether this process lives, and samples wait for that.
bool Client::is_open(const std::string& process) const {
  return std::any_of(lost_.begin(), lost_.end(),
                     [&](const auto& x) { return std::get<1>(x.first) == process && x.second.stream; });
}

/// Finds out here whether processes with lost connections live, also if no name leads to them any more. That a connect
/// succeeds proves nothing: a process that is dying closes its connections before its listening socket, and until then
/// the kernel puts every connect into the backlog. A new connection tells in the end: by the first message
/// (take_message), or by its hang-up. A process that is stopped does neither, and it stays unknown whether it will
/// continue.
void Client::settle_lost() {
  std::map<std::string, uid_t> open;
  for (const auto& [place, lost] : lost_)
    if (lost.stream) open.emplace(std::get<1>(place), lost.owner);
  for (const auto& [process, owner] : open) connection_to(process, owner);
}

/// After an attachment was lost while the publisher lived: samples that were taken are not delivered again, and
/// publications in between count as lost.
void Client::resume(const Link& link, json& m) {
  const auto it = lost_.find(place_of(*link.subscriber, link.entry));
  if (it == lost_.end()) return;
  const std::uint64_t taken = it->second.taken;
  lost_.erase(it);
  if (taken == 0 || taken > wire::number(m, "owed_from")) return;
  m["cursor"] = taken;
  m["owed_from"] = taken;
}

void Client::add(SubscriberCore& subscriber, Answer* answer) {
  need_descriptors();
  watch();
  const std::uint64_t hash = hash_name(subscriber.topic());
  by_hash_.emplace(hash, &subscriber);
  Waiter& waiter = waiters_[&subscriber];
  waiter.answer = answer;
  waiter.open = 1;  // the look itself
  attach_all(process_.directory().entries(hash));
  answered(&subscriber, subscriber.publishers() != 0, nullptr);
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
  const std::int64_t now = steady_now();
  if (tries_.size() >= kTries && !tries_.contains(process))
    std::erase_if(tries_, [now](const auto& t) { return t.second.at <= now; });
  if (tries_.size() >= kTries && !tries_.contains(process)) return look_in(kLongestTry);
  Try& again = tries_[process];
  again.delay = again.delay == 0 ? first : std::min(again.delay * 2, kLongestTry);
  again.at = now + again.delay;
  look_in(again.delay);
}

void Client::no_descriptor(SubscriberCore& subscriber, int pid, const std::string& why) {
  const std::string text = fmt::format(
      "a publisher of '{}' cannot be reached yet: {}; trying again — raise ulimit -n (systemd: LimitNOFILE=)",
      subscriber.topic(), why);
  const auto waiter = waiters_.find(&subscriber);
  if (waiter != waiters_.end() && !waiter->second.error)
    waiter->second.error = std::make_exception_ptr(
        Error(ErrorCode::Limit, fmt::format("a publisher of '{}' cannot be reached: {}", subscriber.topic(), why),
              "raise ulimit -n (systemd: LimitNOFILE=)"));
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
  refusals_.insert(place_of(subscriber, entry));
}

/// The connection to this process, or a new one. `owner`: of the name that leads there; nobody else is connected to.
Client::Connection* Client::connection_to(const std::string& process, uid_t owner) {
  if (const auto it = by_process_.find(process); it != by_process_.end()) return connections_.at(it->second).get();
  if (const auto it = tries_.find(process); it != tries_.end() && steady_now() < it->second.at) {
    look_in(it->second.at - steady_now());
    return nullptr;
  }
  DescriptorShares::Claim claim;
  if (is_foreign(owner)) {
    std::size_t of_one = 0;
    std::size_t of_others = 0;
    for (const auto& [fd, c] : connections_) {
      if (!c->foreign) continue;
      ++of_others;
      if (c->peer.uid == owner) ++of_one;
    }
    auto share = of_one < kConnectionsOfOne && of_others < kConnectionsOfOthers
                     ? DescriptorShares::of_process().claim(owner, 1)
                     : std::nullopt;
    if (!share) {
      log(LogLevel::Warning, Cause{"no room", owner},
          fmt::format("{} already has its share of connections", socket::name_of_user(owner)));
      try_later(process, kFirstTry);
      return nullptr;
    }
    claim = std::move(*share);
  }
  int error = 0;
  Fd fd = process_.directory().connect(process, error, [&](uid_t whose) { return whose == owner; });
  if (!fd) {
    if (error == ECONNREFUSED || error == ENOENT) {
      dead_.insert(process);
      tries_.erase(process);
      release_lost(process);
    } else {
      try_later(process, error == EAGAIN ? kBusyTry : kFirstTry);
    }
    short_of_descriptors_ = lacks_descriptors(error);
    return nullptr;
  }
  auto c = std::make_unique<Connection>();
  c->process = process;
  c->socket = std::make_shared<Socket>();
  c->belongs_to(socket::peer_of(fd.get()));
  c->socket->claim = std::move(claim);
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

void Client::attach(SubscriberCore& subscriber, const TopicEntry& entry) {
  if (entry.process == process_.id()) return;  // its publishers are attached without a socket
  if (shunned_.contains(entry.process) || refusals_.contains(place_of(subscriber, entry))) return;
  if (is_linked(subscriber, entry) || process_.directory().topic_of(entry) != subscriber.topic()) return;
  const Access access = subscriber.options().access;
  if (access == Access::Owner) {  // the name's owner decides alone; a stranger's process gets no request
    const socket::Peer owner{.pid = 0, .uid = entry.owner, .gid = socket::kUnmapped, .groups = {}};
    if (const std::string no = refusal(access, subscriber.topic(), owner, process_.directory().root()); !no.empty())
      return not_accepted(subscriber, entry, owner, no);
  }
  if (!has_room(subscriber, entry.owner)) {
    tell(subscriber, entry.owner,
         {Event::Kind::Refused, 0,
          fmt::format("publishers of '{}' by {} wait: it has its share of this subscriber's {} streams",
                      subscriber.topic(), socket::name_of_user(entry.owner), kMaxStreams)});
    return look_in(kLongestTry);
  }
  short_of_descriptors_ = false;
  Connection* c = connection_to(entry.process, entry.owner);
  if (c == nullptr) {
    if (short_of_descriptors_) no_descriptor(subscriber, 0, "no file descriptor is left");
    return;
  }
  std::string no;
  try {
    no = refusal(access, subscriber.topic(), c->peer, process_.directory().root());
  } catch (const Error& e) {  // a policy that cannot be read
    no = e.what();
  }
  if (!no.empty()) {
    not_accepted(subscriber, entry, c->peer, no);
    if (c->links.empty() && !c->had_stream) hang_up(c->fd());
    return;
  }
  Link link;
  link.subscriber = &subscriber;
  link.entry = entry;
  link.id = next_id_++;
  try {
    link.page = std::make_shared<Area>("subscriber of " + subscriber.topic(), kPageBytes);
    link.page->commit(0, kPageBytes);
  } catch (const Error& e) {
    try_later(entry.process, kFirstTry);
    no_descriptor(subscriber, c->peer.pid, e.cause());
    if (c->links.empty() && !c->had_stream) hang_up(c->fd());
    return;
  }
  make_subscriber_page(link.page->data());
  json request{{"op", "attach"},
               {"id", link.id},
               {"serial", entry.serial},
               {"topic", subscriber.topic()},
               {"type", subscriber.type().name},
               {"hash", fmt::format("{:016x}", subscriber.type().hash)}};
  Announcement::of(subscriber).write(request);
  const bool sent = send(*c, request, {link.page->read_only_fd()});
  if (!sent && errno == EMFILE) {  // the peer has not read earlier letters yet
    try_later(entry.process, kFirstTry);
    return;
  }
  link.page->forget_descriptor();
  if (const auto waiter = waiters_.find(&subscriber); waiter != waiters_.end()) ++waiter->second.open;
  const std::uint64_t id = link.id;
  c->links[id] = std::move(link);
}

}  // namespace cardan::detail
