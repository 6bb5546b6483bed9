// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/endpoint/publisher_area.hpp"

namespace cardan::detail {
namespace {
constexpr std::int64_t kSettled = 10'000'000'000;  ///< a connection that lives this long was not evicted
/// For a recorder, which holds many samples and hands them to the disk unread. Its publisher counts it as attached by
/// now, and would overwrite samples until the pages of all of them were there.
constexpr std::size_t kPrefaultedInBackground = 1U << 20;
constexpr std::size_t kMostPrefaulted = 64U << 20;  ///< of another user's area; the rest is prefaulted as it is read

ErrorCode error_code(handshake::Reason reason) {
  switch (reason) {
    case handshake::Reason::Type:
    case handshake::Reason::Version:
    case handshake::Reason::Area:
      return ErrorCode::Incompatible;
    case handshake::Reason::Memory:
      return ErrorCode::NoMemory;
    case handshake::Reason::Access:
      return ErrorCode::Refused;
    default:
      return ErrorCode::Limit;
  }
}
}  // namespace

Client::~Client() {
  for (const auto& [fd, c] : connections_) process_.loop().off(fd);
  if (inotify_) process_.loop().off(inotify_.get());
}

void Client::remove(SubscriberCore& subscriber) {
  std::erase_if(by_hash_, [&](const auto& x) { return x.second == &subscriber; });
  std::erase_if(locals_, [&](const Local& l) { return l.subscriber == &subscriber; });
  lost_.forget(subscriber);
  declined_.forget(subscriber);
  held_.erase(&subscriber);
  answers_.forget(subscriber);
  for (auto& [fd, c] : connections_)
    std::erase_if(c->links, [&](const auto& x) {
      if (x.second.subscriber != &subscriber) return false;
      // An attached stream detaches itself when its last sample is gone. An unanswered request must be withdrawn here.
      if (x.second.stream == 0) send(*c, handshake::Detach{x.first});
      return true;
    });
}

/// Returns false if it cannot be sent. Then the connection is lost, with two exceptions: the peer is gone (it hangs up
/// by itself and may have given the reason), or the letter lacked its own descriptor.
bool Client::send(Connection& c, const handshake::Message& message, const std::vector<int>& fds) {
  const bool sent = c.outbox.send(c.fd(), handshake::encode(message), fds);
  if (!sent && errno != EPIPE && errno != ECONNRESET && errno != EMFILE) c.lost = true;
  if (c.lost || !c.outbox.empty()) process_.look_again_in(2);
  return sent;
}

/// Messages of another user cost that user's time. Once it is used up, the user waits.
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
  if (still != connections_.end() && time.opens_at(uid, steady_now()) != 0) still->second->pause(process_, fd);
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
      case socket::Received::NoDescriptors:
      case socket::Received::Message:
        break;
    }
    if (!std::exchange(c.heard, true)) lost_.process_lives(c.process, process_.subscribers());
    if (got == socket::Received::Bad) return hang_up(fd, true);
    const bool all_there = got == socket::Received::Message;
    auto parsed = handshake::decode(message.text);
    if (!parsed || !(all_there ? handle(c, *parsed, message.fds) : without_descriptors(c, *parsed)))
      return hang_up(fd, true);
    if (c.links.empty() && !c.had_stream && c.name != "?") hang_up(fd);
  } catch (const std::exception& e) {  // no memory for its message: ends its connection, but no process
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
  if (dead) lost_.process_died(c->process, process_.subscribers());
  const bool again = !dead && !shun && !c->links.empty();
  if (again || lost_.is_open(c->process)) {
    if (steady_now() - c->since > kSettled) tries_.forget(c->process);
    try_later(c->process);
  }
  for (const auto& [id, caller] : c->asked) caller->hung_up();
  for (auto& [id, link] : c->links) {
    if (link.stream == 0) {
      lost(link);
      continue;
    }
    if (!link.unlisted.empty()) {  // nothing leads to it again
      link.subscriber->helper().end_stream(link.stream, Stream::End::Died);
      continue;
    }
    Stream* stream = link.subscriber->helper().find_stream(link.stream);
    if (again && stream != nullptr && !lost_.keep(Offer::of(*link.subscriber, link.entry), *stream, link.entry.owner)) {
      link.subscriber->helper().cut_stream(*stream);
      continue;
    }
    link.subscriber->helper().end_stream(link.stream, again ? Stream::End::Lost : Stream::End::Died);
  }
}

void Client::forget_link(Connection& c, std::uint64_t id, bool for_now) {
  const auto it = c.links.find(id);
  if (it == c.links.end()) return;
  const Offer offer = Offer::of(*it->second.subscriber, it->second.entry);
  if (!it->second.unlisted.empty()) {
    const Link link = std::move(it->second);
    c.links.erase(it);
    return lost(link);
  }
  if (for_now) {
    declined_.insert_for_now(offer, steady_now());
    look_in(declined_.due_at() - steady_now());
  } else {
    declined_.insert(offer);
  }
  c.links.erase(it);
}

/// It was requested, and will not be attached.
void Client::lost(const Link& link) {
  answers_.answered(*link.subscriber, false, nullptr);
  if (link.tag != 0 && link.subscriber->helper().on_lost) link.subscriber->helper().on_lost(link.tag);
}

bool Client::handle(Connection& c, handshake::Message& message, std::vector<Fd>& fds) {
  if (const auto* hello = std::get_if<handshake::Hello>(&message)) {
    c.read_hello(*hello);
    return true;
  }
  if (const auto* away = std::get_if<handshake::SentAway>(&message)) return sent_away(c, *away);
  bool of_service = false;
  if (!handle_service(c, message, of_service)) return false;
  if (of_service) return true;
  const auto it = c.links.find(handshake::id_of(message));
  if (it == c.links.end()) return true;  // withdrawn meanwhile
  Link& link = it->second;
  const bool open = link.stream == 0;
  if (auto* answer = std::get_if<handshake::Attached>(&message)) {
    if (open) answered_attach(c, *answer, fds);
    return true;
  }
  if (std::holds_alternative<handshake::Demoted>(message)) {
    tell(*link.subscriber, c.peer.uid,
         {Event::Kind::Demoted, c.peer.pid,
          fmt::format("a reliable publish of '{}' timed out on this subscriber; best effort until it has caught up",
                      link.subscriber->topic())});
    return true;
  }
  if (const auto* no = std::get_if<handshake::Refused>(&message); no != nullptr && open) {
    if (no->code == handshake::Reason::Via && !link.subscriber->endpoint().not_via.empty())
      answers_.answered(*link.subscriber, false, nullptr);  // as asked for
    else
      refused(c, link, *no);
    forget_link(c, no->id, no->code == handshake::Reason::Limit || no->code == handshake::Reason::Memory);
    return true;
  }
  if (std::holds_alternative<handshake::Ended>(message) && !open)
    link.subscriber->helper().end_stream(link.stream, Stream::End::Left);
  else if (std::holds_alternative<handshake::Ended>(message) ||
           (std::holds_alternative<handshake::Gone>(message) && open))
    lost(link);
  else
    return false;  // these answer a request; an existing stream ends by its own end, or with the connection
  c.links.erase(it);
  return true;
}

void Client::answered_attach(Connection& c, handshake::Attached& answer, std::vector<Fd>& fds) {
  Link& link = c.links.at(answer.id);
  // For a foreign area's descriptor, and a notify socket.
  auto claim = DescriptorShares::of_process().claim(c.peer.uid, 2);
  lost_.resume(Offer::of(*link.subscriber, link.entry), answer);
  SubscriberCore* subscriber = link.subscriber;
  const Attaching became = claim ? attached(c, link, answer, fds) : Attaching::Later;
  if (became == Attaching::Done) {
    c.had_stream = true;
    if (c.foreign) held_[subscriber].push_back({c.peer.uid, link.stream, std::move(*claim)});
    return;
  }
  if (!claim) answers_.answered(*subscriber, false, nullptr);
  send(c, handshake::Detach{answer.id});
  forget_link(c, answer.id, became == Attaching::Later);
}

/// This process had no descriptor number left for what came with the message. That is our own lack, not the peer's
/// fault. The connection stays, because samples of other streams depend on it.
bool Client::without_descriptors(Connection& c, handshake::Message& message) {
  const auto* answer = std::get_if<handshake::Attached>(&message);
  const auto it = answer == nullptr ? c.links.end() : c.links.find(answer->id);
  if (it == c.links.end()) {
    std::vector<Fd> none;
    return handle(c, message, none);
  }
  if (it->second.stream != 0) return true;
  SubscriberCore* subscriber = it->second.subscriber;
  no_descriptor(*subscriber, c.peer.pid, "no file descriptor is left");
  answers_.answered(*subscriber, false, nullptr);
  send(c, handshake::Detach{answer->id});
  forget_link(c, answer->id, true);
  return true;
}

/// The process grants us nothing at all. It says so instead of an answer, and before any other message. False: it lies.
bool Client::sent_away(Connection& c, const handshake::SentAway& answer) {
  if (std::any_of(c.links.begin(), c.links.end(), [](const auto& x) { return x.second.stream != 0; })) return false;
  for (const auto& [id, link] : c.links) {
    if (!link.unlisted.empty()) {
      lost(link);
      continue;
    }
    if (answer.gone) {
      answers_.answered(*link.subscriber, false, nullptr);
      continue;
    }
    refused(c, link,
            {.id = id,
             .code = answer.code,
             .why = fmt::format("'{}': {}", link.subscriber->topic(), answer.why),
             .remedy = answer.remedy});
    declined_.insert(Offer::of(*link.subscriber, link.entry));
  }
  c.links.clear();
  c.lost = true;
  process_.look_again_in(0);
  return true;
}

void Client::refused(const Connection& c, const Link& link, const handshake::Refused& answer) {
  const Error e(error_code(answer.code), answer.why, answer.remedy);
  tell(*link.subscriber, c.peer.uid,
       {e.code() == ErrorCode::Incompatible ? Event::Kind::Incompatible : Event::Kind::Refused, c.peer.pid, e.what()});
  // An answer of another user is never our error.
  answers_.answered(*link.subscriber, false, c.foreign ? nullptr : std::make_exception_ptr(e));
}

struct Client::Mapped {
  PublisherArea area;
  std::shared_ptr<Mapping> bells;
};

/// Maps the memory that came with the answer. None of it is trusted yet.
Client::Mapped Client::map(Connection& c, const handshake::Attached& answer, std::vector<Fd>& fds) {
  if (fds.size() != 2)
    throw Error(ErrorCode::Incompatible, "it answered without its memory",
                "it is not a Cardan process, or a hostile one");
  Mapped mapped{PublisherArea::map(std::move(fds[0]), answer.bytes, c.foreign, c.peer.uid), c.bells.lock()};
  if (!mapped.bells) {
    mapped.bells = std::make_shared<Mapping>(map_read_only(fds[1], layout::kBells * sizeof(layout::Bell)));
    c.bells = mapped.bells;
  }
  return mapped;
}

/// Checks whether the subscriber can read the stream, and what its user may make the subscriber read.
void Client::check(const Connection& c, const SubscriberCore& subscriber, const handshake::Attached& answer,
                   const Mapped& mapped) {
  if (answer.bell >= layout::kBells)
    throw Error(ErrorCode::Incompatible, "it named a bell that does not exist",
                "restart the publisher; if it is a Cardan process, report this");
  // Our own user's programs may reserve more than the contract says: a player, for example, has to guess.
  mapped.area.check({subscriber.type().hash, subscriber.type().bytes, subscriber.type().alignment,
                     c.foreign ? subscriber.options().max_bytes : layout::kMaxPayload});
}

Stream* Client::build(Connection& c, Link& link, const handshake::Attached& answer, Mapped mapped) {
  struct Keep {
    Mapping area;
    std::shared_ptr<Mapping> bells;
    std::shared_ptr<Area> page;
    std::shared_ptr<Socket> socket;
  };
  PublisherArea& area = mapped.area;
  area.prefault(link.subscriber->endpoint().background ? kPrefaultedInBackground
                : c.foreign                            ? kMostPrefaulted
                                                       : std::numeric_limits<std::size_t>::max());
  Stream::Parts parts;
  parts.area = area.mapping.data();
  parts.area_bytes = area.mapping.size();
  parts.header = area.header;
  parts.slots = area.slots;
  parts.area_fd = std::move(area.fd);
  parts.area_owner = c.peer.uid;
  parts.bell = reinterpret_cast<const layout::Bell*>(mapped.bells->data()) + answer.bell;
  parts.page = reinterpret_cast<layout::SubscriberPage*>(link.page->data());
  parts.cursor = answer.cursor;
  parts.owed_from = answer.owed_from;
  parts.time_shift_ns = process_.clock_offset() - c.clock_offset;
  parts.peer_name = c.name;
  parts.tag = link.tag;
  parts.peer_pid = c.peer.pid;
  parts.foreign = c.foreign;
  parts.keep =
      std::make_shared<Keep>(Keep{std::move(area.mapping), std::move(mapped.bells), std::move(link.page), c.socket});
  // The last sample may be dropped long after the subscriber has ended, on any thread. Only then may the publisher
  // reuse its slots.
  parts.on_gone = [this, process = &process_, fd = c.fd(), id = link.id, name = c.process] {
    process->loop().post([this, fd, id, name] {
      const auto it = connections_.find(fd);
      if (it != connections_.end() && it->second->process == name) send(*it->second, handshake::Detach{id});
    });
  };
  return Stream::create(std::move(parts), link.subscriber->stream_room());
}

Client::Attaching Client::attached(Connection& c, Link& link, const handshake::Attached& answer, std::vector<Fd>& fds) {
  const SubscriberCore& subscriber = *link.subscriber;
  Stream* stream = nullptr;
  try {
    Mapped mapped = map(c, answer, fds);
    check(c, subscriber, answer, mapped);
    stream = build(c, link, answer, std::move(mapped));
  } catch (const Error& e) {
    const bool later = e.code() == ErrorCode::Limit;
    const Error named(e.code(),
                      fmt::format("a publication of '{}' by {} (pid {}) cannot be read: {}", subscriber.topic(), c.name,
                                  c.peer.pid, e.cause()),
                      e.remedy());
    log(LogLevel::Warning, Cause{"refused area", c.peer.uid}, named.what());
    tell(*link.subscriber, c.peer.uid,
         {later ? Event::Kind::Refused : Event::Kind::Incompatible, c.peer.pid, named.what()});
    // For our own user it is a mistake in the programs, and the thread that waits for the first answer gets it as an
    // error. The behaviour of another user is never our error.
    answers_.answered(*link.subscriber, false, c.foreign ? nullptr : std::make_exception_ptr(named));
    return later ? Attaching::Later : Attaching::Refused;
  }
  link.stream = stream->id;
  link.subscriber->helper().add_stream(stream);
  answers_.answered(*link.subscriber, true, nullptr);
  return Attaching::Done;
}

void Client::hand_over_notify(const Stream& stream, Fd peer_socket) {
  for (auto& [fd, c] : connections_)
    for (const auto& [id, link] : c->links)
      if (link.stream == stream.id) {
        send(*c, handshake::Notify{id}, {peer_socket.get()});
        return;
      }
  for (const Local& l : locals_)
    if (l.stream == stream.id) return l.attached->connect_notify(std::move(peer_socket));
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
  for (const Local& l : ended) l.subscriber->helper().end_stream(l.stream, Stream::End::Left);
}

void Client::housekeeping(std::int64_t now) {
  std::vector<int> lost;
  for (auto& [fd, c] : connections_) {
    c->outbox.flush(fd);
    c->go_on(process_, fd, now, [this, number = fd] { receive(number); });
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

}  // namespace cardan::detail
