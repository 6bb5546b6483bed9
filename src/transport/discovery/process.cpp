// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/process.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <mutex>

#include "cardan/clock.hpp"
#include "cardan/detail/stop_flag.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/printable.hpp"
#include "src/base/random.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/announcement.hpp"
#include "src/transport/discovery/client.hpp"
#include "src/transport/discovery/observer_link.hpp"
#include "src/transport/discovery/server.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::detail {
namespace {

std::array<Atomic<int>, 32> signal_pokes{};  // descriptor + 1; 0: free

std::string random_id() { return fmt::format("{:016x}", random64()); }

/// Each topic needs a descriptor for late joiners, and the usual soft limit is 1,024. The hard limit is the
/// administrator's decision.
void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

namespace {
std::mutex& name_mutex() {
  static auto& mutex = *new std::mutex;  // helper threads may still ask during exit
  return mutex;
}
std::string& given_name() {
  static auto& name = *new std::string;
  return name;
}
}  // namespace

void set_program_name(std::string name) {
  const std::lock_guard lock(name_mutex());
  given_name() = std::move(name);
}

std::string program_name() {
  {
    const std::lock_guard lock(name_mutex());
    if (!given_name().empty()) return given_name();
  }
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof(path));
  const std::string all(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  return all.empty() ? "?" : all.substr(all.rfind('/') + 1);
}

namespace {
std::mutex all_mutex;
std::map<std::string, std::unique_ptr<Process>>& all_processes() {
  // Never destroyed, because endpoints with static storage may end later. The names are removed at exit.
  static auto& all = *new std::map<std::string, std::unique_ptr<Process>>;
  return all;
}

void leave_all() {
  if (is_forked_child()) return;  // a thread that does not exist in this child may have held the mutex
  const std::lock_guard lock(all_mutex);
  for (auto& [name, process] : all_processes())
    if (process) process->leave();  // null: it could not be made
}
}  // namespace

Process& Process::of(const std::string& domain) {
  refuse_forked_child();
  std::string name = domain;
  if (name.empty()) {
    const char* set = std::getenv("CARDAN_DOMAIN");
    name = set != nullptr && *set != '\0' ? set : "default";
  }
  const std::lock_guard lock(all_mutex);
  auto& process = all_processes()[name];
  if (!process) {
    process = std::make_unique<Process>(name);
    static const int registered = std::atexit(leave_all);
    (void)registered;
  }
  return *process;
}

void Process::poke_all_from_signal() noexcept {
  const int saved = errno;
  for (const auto& fd : signal_pokes)
    if (const int f = fd.load(std::memory_order_relaxed); f > 0) ::eventfd_write(f - 1, 1);
  errno = saved;
}

Process::Process(const std::string& domain)
    : directory_((raise_descriptor_limit(), domain)),
      id_(random_id()),
      name_(program_name()),
      clock_offset_(steady_clock_offset()) {
  directory_.sweep();
  try {
    server_ = std::make_unique<Server>(*this);
  } catch (const Error&) {
    directory_ = RunDirectory(domain);  // the last process of the domain has just removed the folder
    server_ = std::make_unique<Server>(*this);
  }
  client_ = std::make_unique<Client>(*this);
  for (auto& slot : signal_pokes) {
    int none = 0;
    if (slot.compare_exchange_strong(none, loop_.poke_fd() + 1)) break;
  }
  // Signals belong to the application's threads.
  sigset_t all_signals;
  sigset_t before;
  sigfillset(&all_signals);
  ::pthread_sigmask(SIG_SETMASK, &all_signals, &before);
  std::promise<void> started;
  helper_ = std::thread([this, &started] {
    ::pthread_setname_np(::pthread_self(), "cardan-helper");
    helper_id_ = std::this_thread::get_id();
    started.set_value();
    serve();
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  started.get_future().wait();
  helper_.detach();  // it serves until the process ends
}

void Process::leave() {
  if (is_forked_child()) return;
  run([this] {
    for (const auto& [serial, p] : published_)
      if (p.listed) directory_.remove_topic(p.entry);
    directory_.leave(id_);
  });
}

void Process::serve() {
  for (;;) {
    loop_.turn(next_timeout());
    if (!Loop::survives([this] { housekeeping(); })) look_again_in(10);
  }
}

int Process::next_timeout() {
  int timeout = std::exchange(look_again_ms_, -1);
  const auto sooner = [&timeout](std::int64_t ms) {
    timeout = timeout < 0 ? static_cast<int>(ms) : std::min(timeout, static_cast<int>(ms));
  };
  for (const SubscriberCore* s : subscribers_)
    if (const std::int64_t at = s->helper().next_deadline(); at != 0)
      sooner(std::clamp<std::int64_t>((at - steady_now()) / 1'000'000 + 1, 1, 60'000));
  if (!later_.empty())
    sooner(std::clamp<std::int64_t>((later_.begin()->first - steady_now()) / 1'000'000 + 1, 1, 60'000));
  return timeout;
}

void Process::later(std::int64_t ns, std::function<void()> work) { later_.emplace(steady_now() + ns, std::move(work)); }

void Process::housekeeping() {
  const std::int64_t now = steady_now();
  for (SubscriberCore* s : subscribers_) {
    s->helper().check_deadlines(now);
    if (s->uses_fd()) s->helper().connect_all();
    s->helper().collect_ended();
    if (const std::int64_t at = s->helper().end_asides(now); at != 0)
      look_again_in(static_cast<int>(std::clamp<std::int64_t>((at - now) / 1'000'000 + 1, 1, 1000)));
  }
  if (stop_is_requested() != stop_told_) {
    stop_told_ = stop_is_requested();
    if (stop_told_)
      for (SubscriberCore* s : subscribers_) s->helper().kick();
  }
  for (const auto& [serial, p] : published_) {
    if (!p.core->ring_for_others(strangers_time_, now)) look_again_in(1);
    if (p.core->needs_attention()) server_->attend(p);
  }
  std::erase_if(collecting_, [this](const auto& core) {
    const bool done = core->collect();
    if (!done) look_again_in(1);
    return done;
  });
  while (!later_.empty() && later_.begin()->first <= now) later_.extract(later_.begin()).mapped()();
  client_->housekeeping(now);
  server_->housekeeping();
  if (const std::int64_t at = log_left_out(now); at != 0)
    look_again_in(static_cast<int>(std::clamp<std::int64_t>((at - now) / 1'000'000 + 1, 1, 60'000)));
}

void Process::run(const std::function<void()>& work) {
  if (std::this_thread::get_id() == helper_id_) return work();
  std::promise<void> done;
  std::exception_ptr error;  // handed over whole: the waiting thread is its only owner, and frees it
  loop_.post([&] {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    done.set_value();
  });
  done.get_future().get();
  if (error) std::rethrow_exception(std::move(error));
}

std::shared_ptr<BellBoard> Process::board_of(uid_t uid) {
  // Another user's board costs a descriptor, and there may be many users. It stays while it is in use.
  std::erase_if(boards_, [](const auto& b) { return b.second.expired(); });
  std::shared_ptr<BellBoard> board = boards_[uid].lock();
  if (!board) boards_[uid] = board = std::make_shared<BellBoard>();
  if (uid == ::geteuid()) own_board_ = board;
  return board;
}

/// Throws NameTaken if a living process publishes the topic. The names in the run directory show which processes
/// publish; their sockets show which of them live. Names of users that may not share the topic do not count, because
/// any user can put them there.
void Process::refuse_if_taken(const PublisherCore& core, const TopicEntry& own) const {
  const std::string& topic = core.topic();
  const auto taken = [&](const std::string& by) {
    if (is_of_service(topic))
      return Error(
          ErrorCode::NameTaken,
          fmt::format("service '{}' has one server, but {} already serves it", topic.substr(0, topic.find('?')), by),
          "end that server first, or give this one another domain");
    return Error(ErrorCode::NameTaken,
                 fmt::format("topic '{}' is for one publisher, but {} already publishes it", topic, by),
                 "end that publisher first (cardan topic info shows it), or make the topic not exclusive");
  };
  const auto may_share = [&](const socket::Peer& peer) {
    try {
      return refusal(core.options().access, topic, peer, directory_.root()).empty();
    } catch (const Error&) {
      return false;  // a policy that cannot be read admits nobody
    }
  };
  for (const auto& [serial, p] : published_)
    if (serial != own.serial && p.core->topic() == topic) throw taken("another publisher of this process");
  for (const TopicEntry& entry : directory_.entries(own.topic_hash)) {
    if (entry.process == id_ || directory_.topic_of(entry) != topic) continue;
    int error = 0;
    // A link of one user to the socket of another proves nothing about the latter.
    const auto socket = directory_.reach(entry.process, error, [&](uid_t owner) {
      return owner == entry.owner && (owner == ::geteuid() || may_be_accepted(core.options().access, owner));
    });
    const bool ours = entry.owner == ::geteuid();
    if (!socket || (error == EACCES && !ours)) continue;  // left by a dead process, or open to no subscriber
    const socket::Peer peer = *socket ? socket::peer_of(socket->get()) : peer_by_database(entry.owner);
    if (!ours && !may_share(peer)) continue;
    std::string name;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", peer.pid)), name);
    name = printable(name, 64);  // any user can give its process any name
    throw taken(peer.pid != 0 ? fmt::format("{} (pid {})", name.empty() ? "a process" : name, peer.pid) : "a process");
  }
}

void Process::add(const std::shared_ptr<PublisherCore>& publisher) {
  publisher->set_poke_helper([this] { loop_.poke(); });
  run([&] { announce({.core = publisher, .entry = {hash_name(publisher->topic()), id_, next_serial_++}}); });
}

std::uint32_t Process::add_unlisted(const std::shared_ptr<PublisherCore>& publisher) {
  publisher->set_poke_helper([this] { loop_.poke(); });
  std::uint32_t serial = 0;
  run([&] {
    serial = next_serial_++;
    announce({.core = publisher, .entry = {hash_name(publisher->topic()), id_, serial}, .listed = false});
  });
  return serial;
}

void Process::add_service(const std::shared_ptr<PublisherCore>& card, ServiceDesk& desk) {
  card->set_poke_helper([this] { loop_.poke(); });
  run([&] {
    announce({.core = card, .entry = {hash_name(card->topic()), id_, next_serial_++}, .listed = true, .desk = &desk});
  });
}

/// Helper thread.
void Process::announce(Published p) {
  const std::shared_ptr<PublisherCore> publisher = p.core;
  const TopicEntry entry = p.entry;
  const bool exclusive = publisher->options().exclusive, listed = p.listed;
  try {
    if (exclusive) refuse_if_taken(*publisher, entry);
    if (listed && !publisher->options().process_private) directory_.add_topic(entry, publisher->topic());
    const Published& here = published_[entry.serial] = std::move(p);
    // Announces first, then looks again: if two do so at the same moment, each sees the other.
    if (exclusive) refuse_if_taken(*publisher, entry);
    if (!listed) return;
    for (SubscriberCore* s : subscribers_)
      if (s->topic() == publisher->topic() && !s->leaves_out(publisher->runtime())) attach_local(*s, here);
  } catch (...) {
    remove(publisher);  // otherwise nothing would end it later
    throw;
  }
}

void Process::remove(const std::shared_ptr<PublisherCore>& publisher) {
  run([&] {
    for (auto it = published_.begin(); it != published_.end(); ++it) {
      if (it->second.core != publisher) continue;
      if (it->second.listed) directory_.remove_topic(it->second.entry);
      publisher->close();
      server_->publisher_ended(it->second);
      client_->local_publisher_ended(*publisher);
      if (it->second.desk != nullptr) client_->local_service_ended(*it->second.desk);
      published_.erase(it);
      return;
    }
  });
}

void Process::detach(const std::shared_ptr<PublisherCore>& publisher, const Attached* subscriber) {
  publisher->detach(subscriber);
  collecting_.push_back(publisher);
  look_again_in(1);
}

void Process::prepare(SubscriberCore& subscriber) {
  subscriber.poke_helper = [this] { loop_.poke(); };
  subscriber.helper().hand_over_notify = [this](Stream& stream, int peer_socket) {
    client_->hand_over_notify(stream, Fd(peer_socket));
  };
}

void Process::add_unlisted(SubscriberCore* subscriber) {
  prepare(*subscriber);
  run([&] { subscribers_.push_back(subscriber); });
}

bool Process::attach_to(SubscriberCore& subscriber, const TopicEntry& entry, const std::string& topic,
                        std::uint64_t tag) {
  if (entry.process != id_) return client_->attach_to(subscriber, entry, topic, tag);
  const auto it = published_.find(entry.serial);
  if (it == published_.end() || it->second.core->topic() != topic) return false;
  try {
    attach_local(subscriber, it->second, tag);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Process::add(SubscriberCore* subscriber) {
  FirstAnswers::Answer answered;
  auto future = answered.given.get_future();
  prepare(*subscriber);
  run([&] {
    try {
      subscribers_.push_back(subscriber);
      for (const auto& [serial, p] : published_)
        if (p.listed && p.core->topic() == subscriber->topic() && !subscriber->leaves_out(p.core->runtime()))
          attach_local(*subscriber, p);
      if (!subscriber->options().process_private)
        client_->add(*subscriber, &answered);
      else
        answered.given.set_value();
    } catch (...) {
      remove(subscriber);  // its owner is about to delete it
      throw;
    }
  });
  if (future.wait_for(std::chrono::seconds(1)) == std::future_status::ready) {
    if (answered.error) {
      remove(subscriber);
      std::rethrow_exception(std::move(answered.error));
    }
  } else {
    run([&] { client_->forget_answer(*subscriber); });  // a peer that does not answer must not prevent the start
  }
}

void Process::remove(SubscriberCore* subscriber) {
  run([&] {
    std::erase(subscribers_, subscriber);
    client_->remove(*subscriber);
    subscriber->helper().remove_all_streams();
  });
}

void Process::attach_local(SubscriberCore& subscriber, const Published& published, std::uint64_t tag) {
  const std::shared_ptr<PublisherCore>& core = published.core;
  if (came_through(core->via(), subscriber.endpoint().not_via)) return;
  if (core->type().hash != subscriber.type().hash) {
    const std::string text =
        fmt::format("'{}' has type {} at its publisher and {} at its subscriber, both in this process (pid {})",
                    subscriber.topic(), core->type().name, subscriber.type().name, ::getpid());
    subscriber.helper().emit({Event::Kind::Incompatible, ::getpid(), text});
    if (subscriber.endpoint().background) return;  // a recorder does not take part in the contract of the two
    throw Error(ErrorCode::Incompatible, text, "use one message type for the topic");
  }
  struct Keep {
    std::shared_ptr<PublisherCore> core;
    std::shared_ptr<BellLine> bell;
    std::unique_ptr<layout::SubscriberPage> page;
  };
  auto keep = std::make_shared<Keep>();
  keep->core = core;
  keep->page = std::make_unique<layout::SubscriberPage>();
  make_subscriber_page(reinterpret_cast<std::byte*>(keep->page.get()));
  auto attached =
      make_attached(*core, announcement_of(subscriber), ::geteuid(), board_of(::geteuid()), keep->page.get());
  keep->bell = attached->bell;
  attached->local = keep;
  attached->pid = ::getpid();
  attached->name = name_;
  Stream::Parts parts;
  parts.area = core->area().data();
  parts.area_bytes = core->area().size();
  parts.bell = &keep->bell->board->bell(keep->bell->index);
  parts.page = keep->page.get();
  parts.keep = keep;
  parts.peer_name = name_;
  parts.peer_pid = ::getpid();
  parts.tag = tag;
  Attached* entry = core->attach(std::move(attached));
  parts.cursor = core->floor_for_late_joiner();  // only now: see Server::attach
  parts.owed_from = core->published();
  parts.on_gone = [this, core, entry] { loop_.post([this, core, entry] { detach(core, entry); }); };
  auto* stream = Stream::create(std::move(parts), subscriber.stream_room());
  client_->remember_local(subscriber, *core, entry, stream->id);
  subscriber.helper().add_stream(stream);
}

}  // namespace cardan::detail
