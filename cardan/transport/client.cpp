// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/transport/access.hpp"
#include "cardan/transport/log.hpp"
#include "cardan/transport/publisher_area.hpp"
#include "cardan/transport/wire.hpp"

namespace cardan::detail {
namespace {
constexpr std::int64_t kTenYears = 10LL * 365 * 86'400 * 1'000'000'000;
constexpr std::int64_t kFirstTry = 100'000'000;
constexpr std::int64_t kSettled = 10'000'000'000;  ///< a connection that lives this long was not evicted
constexpr std::int64_t kFullTry = 2'000'000'000;   ///< after a refusal for want of room
constexpr std::size_t kLost = 256;
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

void Client::send(Connection& c, const json& message, const std::vector<int>& fds) {
  // A peer that is gone hangs up by itself, and may have said why.
  if (!c.outbox.send(c.fd.get(), wire::print(message), fds) && errno != EPIPE && errno != ECONNRESET) c.lost = true;
  if (c.lost || !c.outbox.empty()) process_.look_again_in(2);
}

void Client::receive(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  Connection& c = *it->second;
  try {
    socket::Message message;
    switch (socket::receive(fd, message)) {
      case socket::Received::Nothing:
        return;
      case socket::Received::Closed:
        return hang_up(fd);
      case socket::Received::Bad:
        return hang_up(fd, true);
      case socket::Received::NoDescriptors:
        // Our own lack, not its fault: it is asked again later.
        for (const auto& [id, link] : c.links)
          if (link.stream == 0) no_descriptor(*link.subscriber, c.peer.pid, "no file descriptor is left");
        return hang_up(fd);
      case socket::Received::Message:
        break;
    }
    const auto parsed = wire::parse(message.text);
    if (!parsed || !handle(c, *parsed, message.fds)) return hang_up(fd, true);
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
    if (again && stream != nullptr && lost_.size() < kLost) {
      stream->add_reference();
      lost_[place_of(*link.subscriber, link.entry)] =
          std::shared_ptr<Stream>(stream, [](Stream* s) { s->drop_reference(); });
    }
    link.subscriber->end_stream(link.stream, Stream::End::Died);
  }
}

/// The process has answered once more, so its publishers live, and overwrite what they held for us.
void Client::cut_lost(const std::string& process) {
  for (const auto& [place, stream] : lost_)
    if (std::get<1>(place) == process)
      for (SubscriberCore* s : process_.subscribers())
        if (s == std::get<0>(place)) s->cut_stream(*stream);
}

/// After an attachment that was lost while the publisher lived: what was taken does not come again, and what was
/// published meanwhile counts as any other loss.
void Client::resume(const Link& link, json& m) {
  const auto it = lost_.find(place_of(*link.subscriber, link.entry));
  if (it == lost_.end()) return;
  const std::uint64_t taken = it->second->page().cursor.load(std::memory_order_relaxed);
  lost_.erase(it);
  if (taken == 0 || taken > wire::number(m, "owed_from")) return;
  m["cursor"] = taken;
  m["owed_from"] = taken;
}

void Client::forget_link(Connection& c, std::uint64_t id, bool for_now) {
  const auto it = c.links.find(id);
  if (it == c.links.end()) return;
  const Place place = place_of(*it->second.subscriber, it->second.entry);
  refusals_.insert(place);
  if (for_now && for_now_.size() < kLost) {
    for_now_.insert(place);
    if (ask_again_at_ == 0) ask_again_at_ = steady_now() + kFullTry;
    look_in(kFullTry);
  }
  c.links.erase(it);
}

bool Client::handle(Connection& c, const json& m, std::vector<Fd>& fds) {
  const std::string op = wire::text(m, "op");
  if (op == "hello") {
    c.name = wire::text(m, "name");
    c.clock_offset = wire::signed_number(m, "clock_offset");
    return true;
  }
  const std::uint64_t id = wire::number(m, "id");
  if (id == 0 && (op == "refused" || op == "gone")) {
    sent_away(c, m);
    return true;
  }
  const auto it = c.links.find(id);
  if (it == c.links.end()) return true;  // taken back meanwhile
  Link& link = it->second;
  if (op == "attached") {
    if (link.stream != 0) return true;
    auto claim =
        DescriptorShares::of_process().claim(c.peer.uid, 2);  // a foreign area's descriptor, and a notify socket
    json answer = m;
    resume(link, answer);
    SubscriberCore* subscriber = link.subscriber;
    if (claim && attached(c, link, answer, fds)) {
      c.had_stream = true;
      if (c.foreign) held_[subscriber].push_back({c.peer.uid, link.stream, std::move(*claim)});
      return true;
    }
    if (!claim) answered(subscriber, false, nullptr);
    send(c, {{"op", "detach"}, {"id", id}});
    forget_link(c, id, !claim);
    return true;
  }
  if (op == "refused") {
    refused(c, link, m);
    const std::string code = wire::text(m, "code");
    forget_link(c, id, code == "limit" || code == "memory");
    return true;
  }
  if (op == "gone") {
    answered(link.subscriber, false, nullptr);
  } else if (op == "ended") {
    if (link.stream != 0)
      link.subscriber->end_stream(link.stream, Stream::End::Left);
    else
      answered(link.subscriber, false, nullptr);
  } else if (op == "demoted") {
    tell(*link.subscriber, c.peer.uid,
         {Event::Kind::Demoted, c.peer.pid,
          fmt::format("a reliable publish of '{}' timed out on this subscriber; best effort until it has caught up",
                      link.subscriber->topic())});
    return true;
  } else {
    return false;
  }
  c.links.erase(it);
  return true;
}

/// The process lets us have nothing at all.
void Client::sent_away(Connection& c, const json& m) {
  if (wire::text(m, "op") == "refused")
    for (const auto& [id, link] : c.links) {
      json named = m;
      named["why"] = fmt::format("'{}': {}", link.subscriber->topic(), wire::text(m, "why"));
      refused(c, link, named);
      refusals_.insert(place_of(*link.subscriber, link.entry));
    }
  else
    for (const auto& [id, link] : c.links) answered(link.subscriber, false, nullptr);
  c.links.clear();
  c.lost = true;
  process_.look_again_in(0);
}

void Client::refused(Connection& c, const Link& link, const json& m) {
  const std::string code = wire::text(m, "code");
  const auto error = code == "type" || code == "version" || code == "area" ? ErrorCode::Incompatible
                     : code == "memory"                                    ? ErrorCode::NoMemory
                     : code == "access"                                    ? ErrorCode::Refused
                                                                           : ErrorCode::Limit;
  const Error e(error, wire::text(m, "why"), wire::text(m, "remedy"));
  tell(*link.subscriber, c.peer.uid,
       {error == ErrorCode::Incompatible ? Event::Kind::Incompatible : Event::Kind::Refused, c.peer.pid, e.what()});
  // What another user answers is never our error.
  answered(link.subscriber, false, c.foreign ? nullptr : std::make_exception_ptr(e));
}

bool Client::attached(Connection& c, Link& link, const json& m, std::vector<Fd>& fds) {
  struct Keep {
    Mapping area;
    std::shared_ptr<Mapping> bells;
    std::shared_ptr<Area> page;
  };
  const SubscriberCore& subscriber = *link.subscriber;
  const bool foreign = c.foreign;
  Stream* stream = nullptr;
  std::exception_ptr error;
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
    area.prefault();
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
    parts.keep = keep;
    // The last sample may go long after the subscriber, on any thread: then the publisher may have its slots back.
    parts.on_gone = [this, process = &process_, fd = c.fd.get(), id = link.id, name = c.process] {
      process->loop().post([this, fd, id, name] {
        const auto it = connections_.find(fd);
        if (it != connections_.end() && it->second->process == name) send(*it->second, {{"op", "detach"}, {"id", id}});
      });
    };
    stream = Stream::create(std::move(parts), link.subscriber->stream_room());
    link.stream = stream->id;
  } catch (const Error& e) {
    const Error named(e.code(),
                      fmt::format("a publication of '{}' by {} (pid {}) cannot be read: {}", subscriber.topic(), c.name,
                                  c.peer.pid, e.cause()),
                      e.remedy());
    log(LogLevel::Warning, Cause{"refused area", c.peer.uid}, named.what());
    tell(*link.subscriber, c.peer.uid, {Event::Kind::Incompatible, c.peer.pid, named.what()});
    // Of our own user it is a mistake in the programs, and whoever waits for the first answer hears of it. What another
    // user does is never our error.
    if (!foreign) error = std::make_exception_ptr(named);
  }
  if (stream == nullptr) {
    answered(link.subscriber, false, std::move(error));
    return false;
  }
  link.subscriber->add_stream(stream);
  answered(link.subscriber, true, nullptr);
  return true;
}

void Client::hand_over_notify(const Stream& stream, Fd peer_socket) {
  for (auto& [fd, c] : connections_)
    for (const auto& [id, link] : c->links)
      if (link.stream == stream.id) {
        return send(*c, {{"op", "notify"}, {"id", id}}, {peer_socket.get()});
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
