// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/observer_link.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <tuple>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/printable.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/foreign.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::detail {
namespace {

constexpr std::int64_t kRetry = 5'000'000'000;
constexpr auto kAgain = std::chrono::milliseconds{20};  // between two attempts at a process with a full backlog

constexpr auto kOwed = std::chrono::milliseconds{1};  // wait for an answer that is late

constexpr std::size_t kMostOthers = 256;                      // messages that are not the answer
constexpr std::size_t kMostOfOthers = std::size_t{32} << 20;  // bytes of the answers of all other users' processes
constexpr std::size_t kMostProcesses = 256;                   // processes of other users that get a request
constexpr std::size_t kMostLinks = 64;                        // connections to them that are kept
constexpr std::size_t kMostPublishers = 16'384;               // in one answer

/// "cardan:sensors" of a host, else the program; "?": in another pid namespace.
std::string name_in_proc(pid_t pid) {
  std::string name(128, '\0');
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  in.read(name.data(), static_cast<std::streamsize>(name.size()));
  name.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  name.resize(std::min(name.find('\0'), name.size()));
  name.erase(0, name.rfind('/') + 1);
  return pid <= 0 || name.empty() ? "?" : name;
}

/// By SIGSTOP, a terminal or a debugger.
bool is_stopped(pid_t pid) {
  if (pid <= 0) return false;
  std::string line;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), line);
  const std::size_t at = line.rfind(") ");  // the name before it may have any bytes
  return at != std::string::npos && at + 2 < line.size() && (line[at + 2] == 'T' || line[at + 2] == 't');
}

}  // namespace

std::int64_t steady_clock_offset() {
  std::ifstream in("/proc/self/timens_offsets");
  std::string clock;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  while (in >> clock >> seconds >> nanoseconds)
    if (clock == "monotonic") return seconds * 1'000'000'000 + nanoseconds;
  return 0;
}

ObserverLink::ObserverLink(const RunDirectory& directory, std::string process, std::chrono::nanoseconds timeout)
    : process_(std::move(process)), timeout_(timeout) {
  const std::string path = directory.socket_path(process_);
  const std::int64_t until = steady_now() + timeout.count();
  int error = 0;
  Fd fd = directory.connect(process_, error);
  while (!fd && error == EAGAIN && steady_now() < until) {
    std::this_thread::sleep_for(kAgain);
    fd = directory.connect(process_, error);
  }
  if (fd) fd_ = BoundFd(std::move(fd));
  if (!fd_) {
    if (error == ECONNREFUSED || error == ENOENT)
      fail(Failure::Stale, "the process is gone");
    else if (error == EAGAIN)
      fail(Failure::Silent,
           fmt::format("process {} does not accept connections — it is stopped, or overrun", process_));
    else
      fail(Failure::Unreachable, fmt::format("cannot connect to {}: {}", path, std::strerror(error)));
    return;
  }
  peer_ = socket::peer_of(fd_.get());
  name_ = name_in_proc(peer_.pid);  // until it gives its own
  const bool greeted =
      send(handshake::Hello{.pid = ::getpid(), .name = program_name(), .clock_offset = steady_clock_offset()});
  if (!greeted && failure_ == Failure::Silent) return;
  dead_ = false;  // a peer that has hung up may have given the reason before
  const auto hello = answer<handshake::Hello>(steady_now() + timeout_.count());
  if (!hello) return;
  name_ = hello->name;
  time_shift_ = steady_clock_offset() - hello->clock_offset;
  if (hello->version != handshake::kVersion)
    fail(Failure::Refused, fmt::format("{} (pid {}) speaks version {} of the handshake, this program version {}", name_,
                                       peer_.pid, hello->version, handshake::kVersion));
}

void ObserverLink::fail(Failure failure, std::string why) {
  failure_ = failure;
  failed_at_ = steady_now();
  why_ = std::move(why);
  // A late message would be taken for the answer to the next request, except one that is waited for.
  if (failure == Failure::Refused || failure == Failure::Gone || failure == Failure::Late) return;
  dead_ = true;
  if (failure != Failure::Stale) fd_.reset();  // the failure is kept for a while, but not the descriptor
}

bool ObserverLink::alive() {
  if (dead_ || !fd_) return false;
  char byte = 0;
  const ssize_t n = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return true;
  dead_ = true;
  return false;
}

bool ObserverLink::send(const handshake::Message& message) {
  failure_ = Failure::None;
  why_.clear();
  if (dead_ || !fd_) {
    fail(Failure::Stale, fmt::format("the connection to {} (pid {}) is gone", name_, peer_.pid));
    return false;
  }
  if (socket::send(fd_.get(), handshake::encode(message))) return true;
  const bool silent = errno == EAGAIN;
  fail(silent ? Failure::Silent : Failure::Stale,
       fmt::format("{} (pid {}) {}", name_, peer_.pid, silent ? "does not read requests" : "has hung up"));
  return false;
}

std::optional<handshake::Message> ObserverLink::next(std::int64_t until, std::vector<Fd>& fds) {
  for (;;) {
    socket::Message message;
    switch (socket::receive(fd_.get(), message)) {
      case socket::Received::Closed:
        fail(Failure::Stale, fmt::format("{} (pid {}) has hung up", name_, peer_.pid));
        return std::nullopt;
      case socket::Received::Bad:
        fail(Failure::Silent,
             fmt::format("{} (pid {}) answered with more than {} bytes", name_, peer_.pid, socket::kMaxMessage));
        return std::nullopt;
      case socket::Received::NoDescriptors:
        fail(Failure::Silent, fmt::format("no file descriptor is left for the answer of {} (pid {}) — raise ulimit -n",
                                          name_, peer_.pid));
        return std::nullopt;
      case socket::Received::Nothing:
        if (wait(until)) continue;
        return std::nullopt;
      case socket::Received::Message:
        break;
    }
    auto decoded = handshake::decode(message.text);
    if (!decoded)
      fail(Failure::Silent,
           fmt::format("{} (pid {}) answered with something that is not a Cardan handshake", name_, peer_.pid));
    bytes_ = message.text.size();
    fds = std::move(message.fds);
    return decoded;
  }
}

bool ObserverLink::wait(std::int64_t until) {
  const std::int64_t left = until - steady_now();
  pollfd waiting{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  if (left > 0 && (::poll(&waiting, 1, static_cast<int>(left / 1'000'000 + 1)) > 0 || errno == EINTR)) return true;
  fail(when_late_,
       fmt::format("{} (pid {}) did not answer within {} ms{}", name_, peer_.pid, timeout_.count() / 1'000'000,
                   is_stopped(peer_.pid)
                       ? fmt::format(": it is stopped (SIGSTOP) — kill -CONT {} continues it", peer_.pid)
                       : std::string(" — it hangs, or its computer is very busy")));
  return false;
}

bool ObserverLink::is_refusal(const handshake::Message& message, std::uint64_t id) {
  if (const auto* away = std::get_if<handshake::SentAway>(&message)) {
    fail(Failure::NotForUs, away->why);
    return true;
  }
  if (id == 0 || handshake::id_of(message) != id) return false;
  if (const auto* refused = std::get_if<handshake::Refused>(&message)) {
    fail(Failure::Refused, refused->why);
    return true;
  }
  if (!std::holds_alternative<handshake::Gone>(message)) return false;
  fail(Failure::Gone, "the publisher has just ended");
  return true;
}

template <class M>
std::optional<M> ObserverLink::answer(std::int64_t until, std::uint64_t id, std::vector<Fd>* fds) {
  for (std::size_t others = 0; others < kMostOthers && (others == 0 || steady_now() <= until); ++others) {
    std::vector<Fd> came;
    auto message = next(until, came);
    if (!message) return std::nullopt;
    if (auto* answered = std::get_if<M>(&*message);
        answered != nullptr && (id == 0 || handshake::id_of(*message) == id)) {
      if (fds != nullptr) *fds = std::move(came);
      return std::move(*answered);
    }
    if (is_refusal(*message, id)) return std::nullopt;
  }
  // A peer that keeps sending other messages has not answered either.
  fail(Failure::Silent, fmt::format("{} (pid {}) does not answer requests", name_, peer_.pid));
  return std::nullopt;
}

PublisherReport ObserverLink::report_of(handshake::Publication publication) const {
  PublisherReport report = std::move(publication.report);
  report.program = name_;
  report.pid = peer_.pid;
  report.uid = peer_.uid;
  report.process = process_;
  // Also if its library does not say it. Another user's would be a lie: it would not show us such a publication.
  report.is_owners = publication.access == Access::Owner && peer_.uid == ::geteuid();
  report.heartbeat_ns = our_time(report.heartbeat_ns, time_shift_);
  return report;
}

std::optional<PublisherArea> ObserverLink::attach(const TopicEntry& entry, const std::string& topic) {
  const std::uint64_t id = next_id_++;
  if (!send(handshake::Attach{.id = id, .serial = entry.serial, .topic = topic, .observer = true})) return std::nullopt;
  std::vector<Fd> fds;
  const auto attached = answer<handshake::Attached>(steady_now() + timeout_.count(), id, &fds);
  if (!attached) return std::nullopt;
  // We need only the mapping. The entry on the other side would only delay the freeing of the publisher when it ends.
  send(handshake::Detach{id});
  if (fds.size() != 1) {
    fail(Failure::Refused, fmt::format("{} (pid {}) answered without its memory", name_, peer_.pid));
    return std::nullopt;
  }
  try {
    PublisherArea area = PublisherArea::map(std::move(fds[0]), attached->bytes, is_foreign(peer_.uid), peer_.uid);
    area.access = attached->access.value_or(area.access);
    return area;
  } catch (const Error& e) {
    fail(Failure::Refused, e.what());
    return std::nullopt;
  }
}

std::optional<handshake::Traced> ObserverLink::trace(std::uint64_t from, Fd& area) {
  const bool owed = owed_trace_ != 0;
  const std::uint64_t id = owed ? owed_trace_ : next_id_++;
  if (!owed && !send(handshake::Trace{.id = id, .from = from})) return std::nullopt;
  std::vector<Fd> fds;
  when_late_ = Failure::Late;
  const std::chrono::nanoseconds patience = owed ? kOwed : timeout_;
  auto traced = answer<handshake::Traced>(steady_now() + patience.count(), id, &fds);
  when_late_ = Failure::Silent;
  owed_trace_ = !traced && failure_ == Failure::Late ? id : 0;
  if (traced && fds.size() == 1) area = std::move(fds[0]);
  return traced;
}

bool ObserverLink::list(const std::string& topic, std::vector<PublisherReport>& into, std::size_t most_bytes) {
  const std::int64_t until = steady_now() + timeout_.count();  // for all parts of the answer
  const std::size_t before = into.size();
  std::uint32_t from = 0;
  std::size_t bytes = 0;
  listed_bytes_ = 0;
  do {
    if (!send(handshake::List{.topic = topic, .from = from})) return false;
    auto part = answer<handshake::Topics>(until);
    if (!part) return false;
    for (handshake::Publication& one : part->topics) into.push_back(report_of(std::move(one)));
    bytes += bytes_;
    listed_bytes_ = bytes;
    if (part->next <= from) break;  // 0: the last part; an answer that goes in circles is not followed
    if (bytes > most_bytes || into.size() - before > kMostPublishers || steady_now() > until) {
      fail(Failure::Silent, fmt::format("{} (pid {}) answers without end; its first {} publishers are shown", name_,
                                        peer_.pid, into.size() - before));
      return false;
    }
    from = part->next;
  } while (true);
  return true;
}

std::shared_ptr<ObserverLinks> ObserverLinks::of(const std::string& domain) {
  refuse_forked_child();  // a thread that does not exist in this child may have held the mutex
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<std::string, std::weak_ptr<ObserverLinks>>;  // never destroyed
  std::string name = domain;
  if (name.empty()) {
    const char* set = std::getenv("CARDAN_DOMAIN");
    name = set != nullptr && *set != '\0' ? set : "default";
  }
  const std::lock_guard lock(mutex);
  std::shared_ptr<ObserverLinks> links = all[name].lock();
  if (!links) all[name] = links = std::make_shared<ObserverLinks>(name);
  return links;
}

std::shared_ptr<ObserverLink> ObserverLinks::to(const std::string& process, std::chrono::nanoseconds timeout) {
  const auto it = links_.find(process);
  if (it != links_.end()) {
    const ObserverLink& known = *it->second;
    const bool asked_lately =
        known.failure() == ObserverLink::Failure::Silent && steady_now() - known.failed_at() < kRetry;
    if (it->second->alive() || asked_lately) return it->second;
    links_.erase(it);
  }
  // A bounded number of connections to other users is kept; the others are made again when they are needed.
  std::vector<std::string> strangers;
  for (const auto& [name, link] : links_)
    if (is_foreign(link->peer().uid) && link.use_count() == 1) strangers.push_back(name);
  if (strangers.size() >= kMostLinks)
    for (const std::string& name : strangers) links_.erase(name);
  auto link = std::make_shared<ObserverLink>(directory_, process, timeout);
  if (link->failure() != ObserverLink::Failure::Stale) links_[process] = link;
  return link;
}

}  // namespace cardan::detail

namespace cardan {

DomainReport look_around(const ObserverOptions& options, const std::string& topic) {
  using Failure = detail::ObserverLink::Failure;
  refuse_forked_child();
  const auto links = detail::ObserverLinks::of(options.domain);
  const std::lock_guard lock(links->mutex());
  DomainReport report;
  report.run_directory = links->directory().path();
  // Taken before the requests, so that a publisher that comes meanwhile is not missed below.
  const bool all = topic.empty() || topic == detail::kAllServices || topic == detail::kEverything;
  const std::vector<detail::TopicEntry> entries =
      all ? links->directory().entries() : links->directory().entries(detail::hash_name(topic));
  std::vector<std::string> processes;  // our own first
  std::set<std::string> known;
  for (const detail::TopicEntry& e : entries)
    if (known.insert(e.process).second) processes.push_back(e.process);
  if (all)
    for (const std::string& p : links->directory().processes())
      if (known.insert(p).second) processes.push_back(p);
  std::set<std::string> answered;
  // For any number of sockets of other users: they share this much time, and this many bytes.
  std::chrono::nanoseconds others_time = 2 * options.timeout;
  std::size_t others_bytes = detail::kMostOfOthers;
  std::size_t others = 0;
  std::size_t not_asked = 0;
  for (const std::string& process : processes) {
    int error = 0;
    const auto owner = links->directory().owner_of(process, error);
    const bool foreign = !owner || detail::is_foreign(*owner);
    std::chrono::nanoseconds timeout = options.timeout;
    if (foreign) {
      if (others_time.count() <= 0 || others_bytes == 0 || ++others > detail::kMostProcesses) {
        ++not_asked;
        continue;
      }
      timeout = std::min(timeout, others_time);
    }
    const std::int64_t began = steady_now();
    const auto link = links->to(process, timeout);
    std::size_t bytes =
        foreign ? std::min(others_bytes, detail::ObserverLink::kMostOfAList) : detail::ObserverLink::kMostOfAList;
    const bool listed = link->alive() && link->list(topic, report.publishers, bytes);
    if (foreign) {
      others_time -= std::chrono::nanoseconds(steady_now() - began);
      others_bytes -= std::min(others_bytes, link->listed_bytes());
    }
    if (listed || link->failure() == Failure::NotForUs)
      answered.insert(process);
    else if (link->failure() == Failure::Stale)
      ++report.stale;
    else
      report.problems.push_back(link->why());
  }
  if (not_asked != 0)
    report.problems.push_back(
        fmt::format("{} processes of other users were not asked: the ones before took too long", not_asked));
  report.processes = answered.size();
  for (const detail::TopicEntry& e : entries) {
    if (!answered.contains(e.process)) continue;
    if (std::any_of(report.publishers.begin(), report.publishers.end(),
                    [&](const auto& p) { return p.process == e.process && p.serial == e.serial; }))
      continue;
    const auto name = links->directory().topic_of(e);
    if (!name) continue;
    const bool of_kind = topic == detail::kEverything || detail::is_of_service(*name) == !topic.empty();
    if (all ? of_kind : *name == topic) report.closed.push_back(detail::printable(*name, 1024));
  }
  std::sort(report.closed.begin(), report.closed.end());
  report.closed.erase(std::unique(report.closed.begin(), report.closed.end()), report.closed.end());
  std::sort(report.publishers.begin(), report.publishers.end(), [](const auto& a, const auto& b) {
    return std::tie(a.topic, a.process, a.serial) < std::tie(b.topic, b.process, b.serial);
  });
  return report;
}

}  // namespace cardan
