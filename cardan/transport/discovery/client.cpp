// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/discovery/client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/base/log.hpp"
#include "cardan/transport/discovery/access.hpp"
#include "cardan/transport/discovery/wire.hpp"
#include "cardan/transport/endpoint/publisher_area.hpp"

namespace cardan::detail {
namespace {
constexpr std::int64_t kTenYears = 10LL * 365 * 86'400 * 1'000'000'000;
constexpr std::int64_t kFirstTry = 100'000'000;
constexpr std::int64_t kSettled = 10'000'000'000;  ///< a connection that lives this long was not evicted
constexpr std::int64_t kFullTry = 2'000'000'000;   ///< after a refusal for want of room
constexpr std::size_t kLost = 256;
constexpr std::size_t kForNow = 4096;
constexpr std::size_t kMostPrefaulted = 64U << 20;  ///< of a stranger's area: the rest as it is read
}  // namespace

using nlohmann::json;

Client::~Client() {
  for (const auto& [fd, c] : connections_) process_.loop().off(fd);
  if (inotify_) process_.loop().off(inotify_.get());
}

void Client::forget_answer(const SubscriberCore& subscriber) { waiters_.erase(&subscriber); }

void Client::answered(const SubscriberCore* subscriber, bool attached, std::exception_ptr error) {
  const auto it = waiters_.find(subscriber);
  if (it == waiters_.end()) return;
  Waiter& w = it->second;
  if (attached) ++w.attached;
  if (error && !w.error) w.error = std::move(error);
  if (--w.open != 0) return;
  Answer& answer = *w.answer;
  if (w.attached == 0) answer.error = std::move(w.error);
  waiters_.erase(it);
  answer.given.set_value();
}

void Client::remove(SubscriberCore& subscriber) {
  std::erase_if(by_hash_, [&](const auto& x) { return x.second == &subscriber; });
  std::erase_if(locals_, [&](const Local& l) { return l.subscriber == &subscriber; });
  std::erase_if(lost_, [&](const auto& x) { return std::get<0>(x.first) == &subscriber; });
  refusals_.erase_if([&](const Place& p) { return std::get<0>(p) == &subscriber; });
  std::erase_if(for_now_, [&](const Place& p) { return std::get<0>(p) == &subscriber; });
  held_.erase(&subscriber);
  waiters_.erase(&subscriber);
  for (auto& [fd, c] : connections_)
    std::erase_if(c->links, [&](const auto& x) {
      if (x.second.subscriber != &subscriber) return false;
      // An attached stream detaches itself when its last sample is gone; an unanswered one has to be taken back here.
      if (x.second.stream == 0) send(*c, {{"op", "detach"}, {"id", x.first}});
      return true;
    });
}

/// False: it cannot be sent. The connection is lost then, but where the peer is gone, which hangs up by itself and may
/// have said why, and where the letter lacked a descriptor of its own.
bool Client::send(Connection& c, const json& message, const std::vector<int>& fds) {
  const bool sent = c.outbox.send(c.fd(), wire::print(message), fds);
  if (!sent && errno != EPIPE && errno != ECONNRESET && errno != EMFILE) c.lost = true;
  if (c.lost || !c.outbox.empty()) process_.look_again_in(2);
  return sent;
}

/// What a stranger's process says costs its user's time; then it waits.
void Client::receive(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  const uid_t uid = it->second->peer.uid;
  if (!it->second->foreign) return take_message(fd, *it->second);
  const std::int64_t began = thread_time();
  take_message(fd, *it->second);
  HelperTime& time = process_.strangers_time();
  time.spend(uid, thread_time() - began, steady_now());
  const auto still = connections_.find(fd);
  if (still == connections_.end() || time.opens_at(uid, steady_now()) == 0) return;
  process_.loop().off(fd);
  still->second->paused = true;
  process_.look_again_in(2);
}

void Client::take_message(int fd, Connection& c) {
  try {
    socket::Message message;
    const socket::Received got = socket::receive(fd, message);
    switch (got) {
      case socket::Received::Nothing:
        return;
      case socket::Received::Closed:
        return hang_up(fd);
      case socket::Received::Bad:
        return hang_up(fd, true);
      case socket::Received::NoDescriptors:
      case socket::Received::Message:
        break;
    }
    const bool all_there = got == socket::Received::Message;
    auto parsed = wire::parse(message.text);
    if (!parsed || !(all_there ? handle(c, *parsed, message.fds) : without_descriptors(c, *parsed)))
      return hang_up(fd, true);
    if (c.links.empty() && !c.had_stream && c.name != "?") hang_up(fd);
  } catch (const std::exception& e) {  // no memory for what it says: its connection ends, nobody's process
    log(LogLevel::Warning, Cause{"failed", c.peer.uid},
        fmt::format("hung up on pid {} (user {}): {}", c.peer.pid, c.peer.uid, e.what()));
    hang_up(fd);
  }
}

void Client::hang_up(int fd, bool shun) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  const std::unique_ptr<Connection> c = std::move(it->second);
  process_.loop().off(fd);
  by_process_.erase(c->process);
  if (shun) shunned_.insert(c->process);
  connections_.erase(it);
  int error = 0;
  const bool dead = !process_.directory().connect(c->process, error) && (error == ECONNREFUSED || error == ENOENT);
  if (dead && error == ECONNREFUSED) process_.directory().remove_process(c->process);
  const bool again = !dead && !shun && !c->links.empty();
  if (again) {
    if (steady_now() - c->since > kSettled) tries_.erase(c->process);
    try_later(c->process, kFirstTry);
  }
  for (auto& [id, link] : c->links) {
    if (link.stream == 0) {
      answered(link.subscriber, false, nullptr);
      continue;
    }
    Stream* stream = link.subscriber->find_stream(link.stream);
    const bool kept = again && stream != nullptr && lost_.size() < kLost;
    if (kept) {
      stream->add_reference();
      lost_[place_of(*link.subscriber, link.entry)].stream =
          std::shared_ptr<Stream>(stream, [](Stream* s) { s->drop_reference(); });
    } else if (again && stream != nullptr) {
      link.subscriber->cut_stream(*stream);
      continue;
    }
    link.subscriber->end_stream(link.stream, again ? Stream::End::Lost : Stream::End::Died);
  }
}

void Client::forget_link(Connection& c, std::uint64_t id, bool for_now) {
  const auto it = c.links.find(id);
  if (it == c.links.end()) return;
  const Place place = place_of(*it->second.subscriber, it->second.entry);
  refusals_.insert(place);
  if (for_now && for_now_.size() < kForNow) {
    for_now_.insert(place);
    if (ask_again_at_ == 0) ask_again_at_ = steady_now() + kFullTry;
    look_in(kFullTry);
  }
  c.links.erase(it);
}

bool Client::handle(Connection& c, json& m, std::vector<Fd>& fds) {
  const std::string op = wire::text(m, "op");
  if (op == "hello") {
    c.name = wire::text(m, "name");
    c.clock_offset = wire::signed_number(m, "clock_offset");
    return true;
  }
  const std::uint64_t id = wire::number(m, "id");
  if (id == 0 && (op == "refused" || op == "gone")) return sent_away(c, m);
  const auto it = c.links.find(id);
  if (it == c.links.end()) return true;  // taken back meanwhile
  Link& link = it->second;
  if (op == "attached") {
    if (link.stream == 0) answered_attach(c, id, m, fds);
    return true;
  }
  if (op == "demoted") {
    tell(*link.subscriber, c.peer.uid,
         {Event::Kind::Demoted, c.peer.pid,
          fmt::format("a reliable publish of '{}' timed out on this subscriber; best effort until it has caught up",
                      link.subscriber->topic())});
    return true;
  }
  if (op == "ended") {
    if (link.stream != 0)
      link.subscriber->end_stream(link.stream, Stream::End::Left);
    else
      answered(link.subscriber, false, nullptr);
  } else if (link.stream != 0) {
    return false;  // the rest answers a question: a stream that is there ends by its end, or with the connection
  } else if (op == "refused") {
    refused(c, link, m, wire::text(m, "why"));
    const std::string code = wire::text(m, "code");
    forget_link(c, id, code == "limit" || code == "memory");
    return true;
  } else if (op == "gone") {
    answered(link.subscriber, false, nullptr);
  } else {
    return false;
  }
  c.links.erase(it);
  return true;
}

void Client::answered_attach(Connection& c, std::uint64_t id, json& m, std::vector<Fd>& fds) {
  Link& link = c.links.at(id);
  // A foreign area's descriptor, and a notify socket.
  auto claim = DescriptorShares::of_process().claim(c.peer.uid, 2);
  resume(link, m);
  SubscriberCore* subscriber = link.subscriber;
  const Attaching became = claim ? attached(c, link, m, fds) : Attaching::Later;
  if (became == Attaching::Done) {
    c.had_stream = true;
    if (c.foreign) held_[subscriber].push_back({c.peer.uid, link.stream, std::move(*claim)});
    return;
  }
  if (!claim) answered(subscriber, false, nullptr);
  send(c, {{"op", "detach"}, {"id", id}});
  forget_link(c, id, became == Attaching::Later);
}

/// No number was left here for what came with the message: our own lack, not the peer's fault. The connection stays,
/// since samples of other streams depend on it.
bool Client::without_descriptors(Connection& c, json& m) {
  const std::uint64_t id = wire::number(m, "id");
  const auto it = c.links.find(id);
  if (wire::text(m, "op") != "attached" || it == c.links.end()) {
    std::vector<Fd> none;
    return handle(c, m, none);
  }
  if (it->second.stream != 0) return true;
  SubscriberCore* subscriber = it->second.subscriber;
  no_descriptor(*subscriber, c.peer.pid, "no file descriptor is left");
  answered(subscriber, false, nullptr);
  send(c, {{"op", "detach"}, {"id", id}});
  forget_link(c, id, true);
  return true;
}

/// The process lets us have nothing at all: it says so instead of an answer, and before any other. False: it lies.
bool Client::sent_away(Connection& c, const json& m) {
  if (std::any_of(c.links.begin(), c.links.end(), [](const auto& x) { return x.second.stream != 0; })) return false;
  if (wire::text(m, "op") == "refused")
    for (const auto& [id, link] : c.links) {
      refused(c, link, m, fmt::format("'{}': {}", link.subscriber->topic(), wire::text(m, "why")));
      refusals_.insert(place_of(*link.subscriber, link.entry));
    }
  else
    for (const auto& [id, link] : c.links) answered(link.subscriber, false, nullptr);
  c.links.clear();
  c.lost = true;
  process_.look_again_in(0);
  return true;
}

void Client::refused(Connection& c, const Link& link, const json& m, const std::string& why) {
  const std::string code = wire::text(m, "code");
  const auto error = code == "type" || code == "version" || code == "area" ? ErrorCode::Incompatible
                     : code == "memory"                                    ? ErrorCode::NoMemory
                     : code == "access"                                    ? ErrorCode::Refused
                                                                           : ErrorCode::Limit;
  const Error e(error, why, wire::text(m, "remedy"));
  tell(*link.subscriber, c.peer.uid,
       {error == ErrorCode::Incompatible ? Event::Kind::Incompatible : Event::Kind::Refused, c.peer.pid, e.what()});
  // What another user answers is never our error.
  answered(link.subscriber, false, c.foreign ? nullptr : std::make_exception_ptr(e));
}

Client::Attaching Client::attached(Connection& c, Link& link, const json& m, std::vector<Fd>& fds) {
  struct Keep {
    Mapping area;
    std::shared_ptr<Mapping> bells;
    std::shared_ptr<Area> page;
    std::shared_ptr<Socket> socket;
  };
  const SubscriberCore& subscriber = *link.subscriber;
  const bool foreign = c.foreign;
  Stream* stream = nullptr;
  std::exception_ptr error;
  bool later = false;
  try {
    // Map.
    if (fds.size() != 2)
      throw Error(ErrorCode::Incompatible, "it answered without its memory",
                  "it is no Cardan process, or a hostile one");
    PublisherArea area = PublisherArea::map(std::move(fds[0]), wire::number(m, "bytes"), foreign, c.peer.uid);
    auto keep = std::make_shared<Keep>();
    keep->bells = c.bells.lock();
    if (!keep->bells) {
      keep->bells = std::make_shared<Mapping>(map_read_only(fds[1], layout::kBells * sizeof(layout::Bell)));
      c.bells = keep->bells;
    }
    // Check.
    const std::uint64_t bell = wire::number(m, "bell", layout::kBells);
    if (bell >= layout::kBells)
      throw Error(ErrorCode::Incompatible, "it named a bell that does not exist",
                  "restart the publisher; if it is a Cardan process, report this");
    // Our own user's programs may reserve more than the contract says: a player, for one, has to guess.
    area.check({subscriber.type().hash, subscriber.type().bytes, subscriber.type().alignment,
                foreign ? subscriber.options().max_bytes : layout::kMaxPayload});
    // Build.
    area.prefault(foreign ? kMostPrefaulted : std::numeric_limits<std::size_t>::max());
    Stream::Parts parts;
    parts.area = area.mapping.data();
    parts.area_bytes = area.mapping.size();
    parts.header = area.header;
    parts.slots = area.slots;
    parts.area_fd = std::move(area.fd);
    parts.area_owner = c.peer.uid;
    parts.bell = reinterpret_cast<const layout::Bell*>(keep->bells->data()) + bell;
    parts.page = reinterpret_cast<layout::SubscriberPage*>(link.page->data());
    parts.cursor = wire::number(m, "cursor");
    parts.owed_from = wire::number(m, "owed_from");
    parts.time_shift_ns = process_.clock_offset() - std::clamp(c.clock_offset, -kTenYears, kTenYears);
    parts.peer_name = c.name;
    parts.peer_pid = c.peer.pid;
    parts.foreign = foreign;
    keep->area = std::move(area.mapping);
    keep->page = std::move(link.page);
    keep->socket = c.socket;
    parts.keep = keep;
    // The last sample may go long after the subscriber, on any thread: then the publisher may have its slots back.
    parts.on_gone = [this, process = &process_, fd = c.fd(), id = link.id, name = c.process] {
      process->loop().post([this, fd, id, name] {
        const auto it = connections_.find(fd);
        if (it != connections_.end() && it->second->process == name) send(*it->second, {{"op", "detach"}, {"id", id}});
      });
    };
    stream = Stream::create(std::move(parts), link.subscriber->stream_room());
    link.stream = stream->id;
  } catch (const Error& e) {
    later = e.code() == ErrorCode::Limit;
    const Error named(e.code(),
                      fmt::format("a publication of '{}' by {} (pid {}) cannot be read: {}", subscriber.topic(), c.name,
                                  c.peer.pid, e.cause()),
                      e.remedy());
    log(LogLevel::Warning, Cause{"refused area", c.peer.uid}, named.what());
    tell(*link.subscriber, c.peer.uid,
         {later ? Event::Kind::Refused : Event::Kind::Incompatible, c.peer.pid, named.what()});
    // Of our own user it is a mistake in the programs, and whoever waits for the first answer hears of it. What another
    // user does is never our error.
    if (!foreign) error = std::make_exception_ptr(named);
  }
  if (stream == nullptr) {
    answered(link.subscriber, false, std::move(error));
    return later ? Attaching::Later : Attaching::Refused;
  }
  link.subscriber->add_stream(stream);
  answered(link.subscriber, true, nullptr);
  return Attaching::Done;
}

void Client::hand_over_notify(const Stream& stream, Fd peer_socket) {
  for (auto& [fd, c] : connections_)
    for (const auto& [id, link] : c->links)
      if (link.stream == stream.id) {
        send(*c, {{"op", "notify"}, {"id", id}}, {peer_socket.get()});
        return;
      }
  for (const Local& l : locals_)
    if (l.stream == stream.id) return PublisherCore::connect_notify(*l.attached, std::move(peer_socket));
}

void Client::remember_local(SubscriberCore& subscriber, const PublisherCore& publisher, Attached* attached,
                            std::uint64_t stream) {
  locals_.push_back({&subscriber, &publisher, attached, stream});
}

void Client::local_publisher_ended(const PublisherCore& publisher) {
  std::vector<Local> ended;
  std::copy_if(locals_.begin(), locals_.end(), std::back_inserter(ended),
               [&](const Local& l) { return l.publisher == &publisher; });
  std::erase_if(locals_, [&](const Local& l) { return l.publisher == &publisher; });
  for (const Local& l : ended) l.subscriber->end_stream(l.stream, Stream::End::Left);
}

void Client::housekeeping(std::int64_t now) {
  std::vector<int> lost;
  for (auto& [fd, c] : connections_) {
    c->outbox.flush(fd);
    if (const std::int64_t opens = c->paused ? process_.strangers_time().opens_at(c->peer.uid, now) : 0; opens != 0)
      process_.look_again_in(static_cast<int>(std::clamp<std::int64_t>((opens - now) / 1'000'000 + 1, 1, 100)));
    else if (std::exchange(c->paused, false))
      process_.loop().on(fd, [this, number = fd] { receive(number); });
    if (c->lost)
      lost.push_back(fd);
    else if (const std::int64_t since = c->outbox.waiting_since(); since != 0)
      process_.look_again_in(static_cast<int>(std::clamp<std::int64_t>((now - since) / 4'000'000, 2, 100)));
  }
  for (const int fd : lost) hang_up(fd);
  if (poll_directory_ && !by_hash_.empty() && scan_at_ == 0) look_in(100'000'000);
  if (scan_at_ != 0 && now >= scan_at_) scan();
  if (scan_at_ != 0)
    process_.look_again_in(static_cast<int>(std::clamp<std::int64_t>((scan_at_ - now) / 1'000'000 + 1, 1, 60'000)));
}

void Process::attach_local(SubscriberCore& subscriber, const Published& published) {
  const std::shared_ptr<PublisherCore>& core = published.core;
  if (core->type().hash != subscriber.type().hash) {
    const std::string text =
        fmt::format("'{}' has type {} at its publisher and {} at its subscriber, both in this process (pid {})",
                    subscriber.topic(), core->type().name, subscriber.type().name, ::getpid());
    subscriber.emit({Event::Kind::Incompatible, ::getpid(), text});
    if (subscriber.endpoint().background) return;  // a recorder takes no part in what the two have agreed on
    throw Error(ErrorCode::Incompatible, text, "use one message type for the topic");
  }
  struct Keep {
    std::shared_ptr<PublisherCore> core;
    std::shared_ptr<BellLine> bell;
    std::unique_ptr<layout::SubscriberPage> page;
  };
  auto keep = std::make_shared<Keep>();
  keep->core = core;
  keep->bell = core->bell_for(::geteuid(), board_of(::geteuid()), subscriber.endpoint().background);
  keep->page = std::make_unique<layout::SubscriberPage>();
  make_subscriber_page(reinterpret_cast<std::byte*>(keep->page.get()));
  auto attached = std::make_unique<Attached>();
  attached->page = keep->page.get();
  attached->local = keep;
  attached->bell = keep->bell;
  attached->announced = subscriber.endpoint().holds + subscriber.endpoint().threads;
  attached->threads = subscriber.endpoint().threads;
  attached->prewake = subscriber.waiting().kind == Waiting::Kind::Prewake;
  attached->reliable = core->options().reliable && subscriber.endpoint().reliable;
  attached->floor = core->floor_for_late_joiner();
  attached->pid = ::getpid();
  attached->uid = ::geteuid();
  attached->name = name_;
  attached->depth = subscriber.wanted_depth();
  Stream::Parts parts;
  parts.area = core->area().data();
  parts.area_bytes = core->area().size();
  parts.bell = &keep->bell->board->bell(keep->bell->index);
  parts.page = keep->page.get();
  parts.keep = keep;
  parts.peer_name = name_;
  parts.peer_pid = ::getpid();
  Attached* entry = core->attach(std::move(attached));
  parts.cursor = core->floor_for_late_joiner();  // only now: see Server::attach
  parts.owed_from = core->published();
  parts.on_gone = [this, core, entry] { loop_.post([this, core, entry] { detach(core, entry); }); };
  auto* stream = Stream::create(std::move(parts), subscriber.stream_room());
  client_->remember_local(subscriber, *core, entry, stream->id);
  subscriber.add_stream(stream);
}

}  // namespace cardan::detail
