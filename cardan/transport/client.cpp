// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/client.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/transport/access.hpp"
#include "cardan/transport/log.hpp"
#include "cardan/transport/wire.hpp"

namespace cardan::detail {
namespace {
constexpr std::int64_t kTenYears = 10LL * 365 * 86'400 * 1'000'000'000;
constexpr std::size_t kPageBytes = layout::align_up(sizeof(layout::SubscriberPage), layout::kPage);

layout::SubscriberPage* make_page(std::byte* memory) {
  auto* page = new (memory) layout::SubscriberPage{};
  page->magic = layout::kMagic;
  page->version = layout::kVersion;
  page->pid = static_cast<std::uint32_t>(::getpid());
  return page;
}
}  // namespace

using nlohmann::json;

Client::Client(Process& process) : process_(process) {}

Client::~Client() {
  for (const auto& [fd, c] : connections_) process_.loop().off(fd);
  if (inotify_) process_.loop().off(inotify_.get());
}

void Client::watch() {
  if (inotify_ || poll_directory_) return;
  inotify_ = BoundFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify_ ||
      ::inotify_add_watch(inotify_.get(), process_.directory().path().c_str(), IN_CREATE | IN_MOVED_TO) < 0) {
    log(LogLevel::Warning,
        fmt::format(
            "cannot watch the run directory ({}); looking every 100 ms instead — raise fs.inotify.max_user_instances",
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
  for (ssize_t at = 0; at < n;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof(event));
    if ((event.mask & IN_Q_OVERFLOW) != 0) return scan();
    const char* name = buffer.data() + at + sizeof(inotify_event);
    if (event.len > 0)
      if (const auto entry = RunDirectory::parse(name)) found(*entry);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event.len);
  }
}

void Client::scan() {
  for (const TopicEntry& entry : process_.directory().entries()) found(entry);
}

void Client::found(const TopicEntry& entry) {
  const auto [begin, end] = by_hash_.equal_range(entry.topic_hash);
  for (auto it = begin; it != end; ++it) attach(*it->second, entry);
}

void Client::add(SubscriberCore& subscriber, Answer* answer) {
  watch();
  const std::uint64_t hash = hash_name(subscriber.topic());
  by_hash_.emplace(hash, &subscriber);
  Waiter& waiter = waiters_[&subscriber];
  waiter.answer = answer;
  waiter.open = 1;  // this look
  for (const TopicEntry& entry : process_.directory().entries(hash)) attach(subscriber, entry);
  answered(&subscriber, subscriber.streams() != 0, nullptr);
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
  waiters_.erase(&subscriber);
  for (auto& [fd, c] : connections_)
    std::erase_if(c->links, [&](const auto& x) {
      if (x.second.subscriber != &subscriber) return false;
      // An attached stream detaches itself when its last sample is gone; an unanswered one has to be taken back here.
      if (x.second.stream == 0 && !x.second.refused) send(*c, {{"op", "detach"}, {"id", x.first}});
      return true;
    });
}

Client::Connection* Client::connection_to(const std::string& process, bool& stale) {
  if (const auto it = by_process_.find(process); it != by_process_.end()) return connections_.at(it->second).get();
  int error = 0;
  Fd fd = socket::connect_to(process_.directory().socket_path(process), error);
  if (!fd) {
    stale = error == ECONNREFUSED || error == ENOENT;
    if (!stale) {
      busy_.insert(process);
      process_.look_again_in(20);
    }
    return nullptr;
  }
  auto c = std::make_unique<Connection>();
  c->process = process;
  c->peer = socket::peer_of(fd.get());
  const int number = fd.get();
  c->fd = BoundFd(std::move(fd));
  send(*c, {{"op", "hello"},
            {"version", wire::kVersion},
            {"pid", ::getpid()},
            {"name", process_.name()},
            {"clock_offset", process_.clock_offset()}});
  Connection* raw = c.get();
  by_process_[process] = number;
  connections_[number] = std::move(c);
  process_.loop().on(number, [this, number] { receive(number); });
  return raw;
}

void Client::attach(SubscriberCore& subscriber, const TopicEntry& entry) {
  if (entry.process == process_.id()) return;  // that one is attached without a socket
  if (shunned_.contains(entry.process) || process_.directory().topic_of(entry) != subscriber.topic()) return;
  bool stale = false;
  Connection* c = connection_to(entry.process, stale);
  if (c == nullptr) {
    if (stale) process_.directory().remove_process(entry.process);
    return;
  }
  for (const auto& [id, link] : c->links)
    if (link.subscriber == &subscriber && link.entry.serial == entry.serial) return;
  const auto waiter = waiters_.find(&subscriber);
  Link link;
  link.subscriber = &subscriber;
  link.entry = entry;
  link.id = next_id_++;
  try {
    const std::string no =
        refusal(subscriber.options().access, subscriber.topic(), c->peer, process_.directory().root());
    if (!no.empty())
      throw Error(
          ErrorCode::Refused,
          fmt::format("a publication of '{}' by pid {} is not accepted: {}", subscriber.topic(), c->peer.pid, no),
          "set the topic's access, or add the user to the policy");
    link.page = std::make_shared<Area>("subscriber of " + subscriber.topic(), kPageBytes);
    link.page->commit(0, kPageBytes);
  } catch (const Error& e) {
    subscriber.emit({Event::Kind::Refused, c->peer.pid, e.what()});
    if (waiter != waiters_.end() && !waiter->second.error) waiter->second.error = std::current_exception();
    link.refused = true;
    c->links[link.id] = std::move(link);
    return;
  }
  make_page(link.page->data());
  const json request{{"op", "attach"},
                     {"id", link.id},
                     {"serial", entry.serial},
                     {"topic", subscriber.topic()},
                     {"type", subscriber.type().name},
                     {"hash", fmt::format("{:016x}", subscriber.type().hash)},
                     {"holds", subscriber.endpoint().holds},
                     {"threads", subscriber.endpoint().threads},
                     {"reliable", subscriber.endpoint().reliable},
                     {"prewake", subscriber.waiting().kind == Waiting::Kind::Prewake}};
  send(*c, request, {link.page->read_only_fd()});
  link.page->forget_descriptor();
  if (waiter != waiters_.end()) ++waiter->second.open;
  const std::uint64_t id = link.id;
  c->links[id] = std::move(link);
}

void Client::send(Connection& c, const json& message, const std::vector<int>& fds) {
  c.outbox.send(c.fd.get(), wire::print(message), fds);  // a peer that is gone hangs up by itself
  if (!c.outbox.empty()) process_.look_again_in(2);
}

void Client::receive(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  socket::Message message;
  switch (socket::receive(fd, message)) {
    case socket::Received::Nothing:
      return;
    case socket::Received::Closed:
      return hang_up(fd);
    case socket::Received::Bad:
      return hang_up(fd, true);
    case socket::Received::Message:
      break;
  }
  const auto parsed = wire::parse(message.text);
  if (!parsed || !handle(*it->second, *parsed, message.fds)) hang_up(fd, true);
}

void Client::hang_up(int fd, bool shun) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  const std::unique_ptr<Connection> c = std::move(it->second);
  process_.loop().off(fd);
  by_process_.erase(c->process);
  if (shun) shunned_.insert(c->process);
  connections_.erase(it);
  for (auto& [id, link] : c->links) {
    if (link.stream != 0)
      link.subscriber->end_stream(link.stream, Stream::End::Died);
    else if (!link.refused)
      answered(link.subscriber, false, nullptr);
  }
  int error = 0;
  if (!socket::connect_to(process_.directory().socket_path(c->process), error) && error == ECONNREFUSED)
    process_.directory().remove_process(c->process);
}

bool Client::handle(Connection& c, const json& m, std::vector<Fd>& fds) {
  const std::string op = wire::text(m, "op");
  if (op == "hello") {
    c.name = wire::text(m, "name");
    c.clock_offset = wire::signed_number(m, "clock_offset");
    return true;
  }
  const auto it = c.links.find(wire::number(m, "id"));
  if (it == c.links.end()) return true;  // taken back meanwhile
  Link& link = it->second;
  if (link.refused) return true;
  if (op == "attached") {
    if (link.stream != 0 || attached(c, link, m, fds)) return true;
    send(c, {{"op", "detach"}, {"id", link.id}});
    link.refused = true;
    link.page.reset();
    return true;
  }
  if (op == "refused") {
    refused(c, link, m);
    link.refused = true;
    link.page.reset();
    return true;
  }
  if (op == "gone") {
    answered(link.subscriber, false, nullptr);
  } else if (op == "ended") {
    if (link.stream != 0) link.subscriber->end_stream(link.stream, Stream::End::Left);
  } else if (op == "demoted") {
    link.subscriber->emit(
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

void Client::refused(Connection& c, const Link& link, const json& m) {
  const std::string code = wire::text(m, "code");
  const auto error = code == "type" || code == "version" || code == "area" ? ErrorCode::Incompatible
                     : code == "memory"                                    ? ErrorCode::NoMemory
                     : code == "access"                                    ? ErrorCode::Refused
                                                                           : ErrorCode::Limit;
  std::exception_ptr why;
  {
    const Error e(error, wire::text(m, "why"), wire::text(m, "remedy"));
    link.subscriber->emit(
        {error == ErrorCode::Incompatible ? Event::Kind::Incompatible : Event::Kind::Refused, c.peer.pid, e.what()});
    why = std::make_exception_ptr(e);
  }
  answered(link.subscriber, false, std::move(why));
}

bool Client::attached(Connection& c, Link& link, const json& m, std::vector<Fd>& fds) {
  struct Keep {
    Mapping area;
    std::shared_ptr<Mapping> bells;
    std::shared_ptr<Area> page;
  };
  Stream* stream = nullptr;
  std::exception_ptr error;
  try {
    if (fds.size() != 2)
      throw Error(ErrorCode::Incompatible, "the publisher answered without its memory",
                  "it is no Cardan process, or a hostile one");
    auto keep = std::make_shared<Keep>();
    keep->area = map_read_only(fds[0], wire::number(m, "bytes"));
    keep->bells = c.bells.lock();
    const std::size_t bell_bytes = layout::kBells * sizeof(layout::Bell);
    if (!keep->bells) {
      keep->bells = std::make_shared<Mapping>(map_read_only(fds[1], bell_bytes));
      c.bells = keep->bells;
    }
    keep->page = link.page;
    const std::uint64_t bell = wire::number(m, "bell", layout::kBells);
    if (bell >= layout::kBells)
      throw Error(ErrorCode::Incompatible, "the publisher named a bell that does not exist",
                  "it is no honest Cardan process");
    Stream::Parts parts;
    parts.area = keep->area.data();
    parts.area_bytes = keep->area.size();
    parts.bell = reinterpret_cast<const layout::Bell*>(keep->bells->data()) + bell;
    parts.page = reinterpret_cast<layout::SubscriberPage*>(keep->page->data());
    parts.cursor = wire::number(m, "cursor");
    parts.owed_from = wire::number(m, "owed_from");
    parts.time_shift_ns = process_.clock_offset() - std::clamp(c.clock_offset, -kTenYears, kTenYears);
    parts.peer_name = c.name;
    parts.peer_pid = c.peer.pid;
    parts.foreign = c.peer.uid != ::geteuid() || c.peer.uid == socket::kUnmapped;
    const layout::Header header = checked_header(parts.area, parts.area_bytes);
    if (header.type_hash != link.subscriber->type().hash || header.message_bytes != link.subscriber->type().bytes)
      throw Error(ErrorCode::Incompatible,
                  fmt::format("the publisher {} (pid {}) says that '{}' has our type, its memory says otherwise",
                              c.name, c.peer.pid, link.subscriber->topic()),
                  "it is no honest Cardan process");
    const std::size_t committed = std::min<std::size_t>(
        header.max_slots, reinterpret_cast<const layout::Hot*>(parts.area + header.hot_offset)->committed.load());
    const bool apart = header.payload_stride != header.slot_stride;
    const std::size_t records = header.slots_offset + committed * header.slot_stride;
    const std::size_t payloads = apart ? committed * header.payload_stride : 0;
    // Only what is really there: reading a hole commits memory, and a hostile publisher's area may be a hole of
    // terabytes.
    if (records + payloads <= allocated_bytes(fds[0])) {
      prefault_read_only(keep->area, 0, records);
      prefault_read_only(keep->area, header.payload_offset, payloads);
    }
    parts.keep = keep;
    // The last sample may go long after the subscriber, on any thread: then the publisher may have its slots back.
    parts.on_gone = [this, process = &process_, fd = c.fd.get(), id = link.id, name = c.process] {
      process->loop().post([this, fd, id, name] {
        const auto it = connections_.find(fd);
        if (it != connections_.end() && it->second->process == name) send(*it->second, {{"op", "detach"}, {"id", id}});
      });
    };
    link.page.reset();
    stream = Stream::create(std::move(parts), link.subscriber->stream_room());
    link.stream = stream->id;
    // Once more in the copy that will be used: the publisher can change its page between two copies.
    const layout::Header& used = stream->header;
    if (used.type_hash != header.type_hash || used.message_bytes != header.message_bytes ||
        used.message_offset % std::max<std::size_t>(link.subscriber->type().alignment, 8) != 0) {
      stream->drop_reference();
      link.stream = 0;
      throw Error(ErrorCode::Incompatible,
                  "the publisher's memory is not laid out for our type, or changed while it was looked at",
                  "it is no honest Cardan process");
    }
  } catch (const Error& e) {
    log(LogLevel::Warning, fmt::format("'{}': {}", link.subscriber->topic(), e.what()));
    link.subscriber->emit({Event::Kind::Incompatible, c.peer.pid, e.what()});
    error = std::current_exception();
  }
  if (error) {
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
  for (auto& [fd, c] : connections_) {
    if (c->outbox.empty()) continue;
    c->outbox.flush(fd);
    if (!c->outbox.empty()) process_.look_again_in(2);
  }
  if (!busy_.empty()) {
    busy_.clear();
    scan();
  }
  if (poll_directory_ && !by_hash_.empty()) {
    if (now >= scan_at_) {
      scan();
      scan_at_ = now + 100'000'000;
    }
    process_.look_again_in(100);
  }
}

void Process::attach_local(SubscriberCore& subscriber, const Published& published) {
  const std::shared_ptr<PublisherCore>& core = published.core;
  if (core->type().hash != subscriber.type().hash) {
    const std::string text =
        fmt::format("'{}' has type {} at its publisher and {} at its subscriber, both in this process (pid {})",
                    subscriber.topic(), core->type().name, subscriber.type().name, ::getpid());
    subscriber.emit({Event::Kind::Incompatible, ::getpid(), text});
    throw Error(ErrorCode::Incompatible, text, "use one message type for the topic");
  }
  struct Keep {
    std::shared_ptr<PublisherCore> core;
    std::shared_ptr<BellLine> bell;
    std::unique_ptr<layout::SubscriberPage> page;
  };
  auto keep = std::make_shared<Keep>();
  keep->core = core;
  keep->bell = core->bell_for(::geteuid(), board_of(::geteuid()));
  keep->page = std::make_unique<layout::SubscriberPage>();
  make_page(reinterpret_cast<std::byte*>(keep->page.get()));
  auto attached = std::make_unique<Attached>();
  attached->page = keep->page.get();
  attached->local = keep;
  attached->bell = keep->bell;
  attached->announced = subscriber.endpoint().holds + subscriber.endpoint().threads;
  attached->prewake = subscriber.waiting().kind == Waiting::Kind::Prewake;
  attached->reliable = core->options().reliable && subscriber.endpoint().reliable;
  attached->floor = core->floor_for_late_joiner();
  attached->pid = ::getpid();
  attached->uid = ::geteuid();
  attached->name = name_;
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
