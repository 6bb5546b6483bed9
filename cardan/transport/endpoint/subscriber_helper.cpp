// SPDX-License-Identifier: Apache-2.0
// The helper thread's half of a subscriber: streams that come and go, events, the descriptor.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <limits>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/base/futex.hpp"
#include "cardan/base/log.hpp"
#include "cardan/transport/endpoint/subscriber_core.hpp"
#include "cardan/transport/observer.hpp"

namespace cardan {

const char* to_string(Event::Kind kind) noexcept {
  switch (kind) {
    case Event::Kind::Joined:
      return "joined";
    case Event::Kind::Left:
      return "left";
    case Event::Kind::Died:
      return "died";
    case Event::Kind::DeadlineMissed:
      return "deadline missed";
    case Event::Kind::Incompatible:
      return "incompatible";
    case Event::Kind::Refused:
      return "refused";
    case Event::Kind::Demoted:
      return "demoted";
    case Event::Kind::Misbehaved:
      return "misbehaved";
    case Event::Kind::Shallow:
      return "shallow";
  }
  return "?";
}

namespace detail {
namespace {

std::optional<uid_t> stranger_of(const Stream& stream) {
  return stream.foreign() ? std::optional(stream.owner()) : std::nullopt;
}

}  // namespace

void SubscriberCore::add_stream(Stream* stream) {
  for (std::uint32_t i = 0; i < kMaxStreams; ++i) {
    if (streams_[i].load(std::memory_order_relaxed) != nullptr) continue;
    if (uses_fd()) connect_notify(*stream);
    streams_[i].store(stream, std::memory_order_seq_cst);
    if (stream_end_.load(std::memory_order_relaxed) < i + 1) stream_end_.store(i + 1, std::memory_order_seq_cst);
    note_lines();
    emit({Event::Kind::Joined, stream->peer_pid(),
          fmt::format("publisher of '{}' joined: {} (pid {})", topic_, stream->peer_name(), stream->peer_pid())},
         stranger_of(*stream));
    if (wanted_depth() > stream->ring.depth)
      emit({Event::Kind::Shallow, stream->peer_pid(),
            fmt::format("publisher of '{}' keeps the last {} samples, and this reader wants the last {}: {} (pid {}); "
                        "who is late loses what is older — raise the topic's depth where it is published, or lower it "
                        "where it is read",
                        topic_, stream->ring.depth, wanted_depth(), stream->peer_name(), stream->peer_pid())},
           stranger_of(*stream));
    kick();  // who sleeps has to sleep on the new bell too
    return;
  }
  const std::string who =
      fmt::format("publisher of '{}' refused: {} (pid {}): this subscriber has {} publishers already", topic_,
                  stream->peer_name(), stream->peer_pid(), kMaxStreams);
  const int pid = stream->peer_pid();
  const std::optional<uid_t> whose = stranger_of(*stream);
  stream->drop_reference();
  emit({Event::Kind::Refused, pid, who}, whose);
}

void SubscriberCore::end_stream(std::uint64_t stream_id, Stream::End end) {
  Stream* stream = find_stream(stream_id);
  if (stream == nullptr) return;
  auto running = Stream::End::Running;
  stream->end.compare_exchange_strong(running, end, std::memory_order_acq_rel);
  if (!stream->something_new()) stream->drained.store(true, std::memory_order_release);
  collect_ended();
  kick();
}

Stream* SubscriberCore::find_stream(std::uint64_t stream_id) const noexcept {
  for (const auto& slot : streams_)
    if (Stream* s = slot.load(std::memory_order_relaxed); s != nullptr && s->id == stream_id) return s;
  return nullptr;
}

void SubscriberCore::cut_stream(Stream& stream) {
  if (find_stream(stream.id) == nullptr) return;
  auto running = Stream::End::Running;
  stream.end.compare_exchange_strong(running, Stream::End::Lost, std::memory_order_acq_rel);
  stream.drained.store(true, std::memory_order_release);
  collect_ended();
  kick();
}

void SubscriberCore::collect_ended() {
  for (auto& slot : streams_) {
    Stream* s = slot.load(std::memory_order_relaxed);
    if (s == nullptr || !s->drained.load(std::memory_order_acquire)) continue;
    const Stream::End end = s->end.load(std::memory_order_acquire);
    if (end == Stream::End::Running) continue;
    {
      const std::lock_guard lock(mutex_);
      slot.store(nullptr, std::memory_order_seq_cst);
      wait_for_takers();  // who took its last sample may still be counting it
      layout::SubscriberPage& p = s->page();
      retired_missed_ += p.missed.load(std::memory_order_relaxed);
      retired_received_ += p.received.load(std::memory_order_relaxed);
      retired_bad_ += p.bad.load(std::memory_order_relaxed);
      retired_spin_ns_ += p.spin_ns.load(std::memory_order_relaxed);
      retiring_.push_back(s);
    }
    const bool died = end == Stream::End::Died || end == Stream::End::Lost;
    const char* how = end == Stream::End::Left ? "ended"
                      : died                   ? "died"
                      : s->refusals.enough()   ? "was cut off: it gave only damaged or malformed messages"
                                               : "was cut off: its pages hold what no honest publisher writes";
    const auto kind = end == Stream::End::Left ? Event::Kind::Left : died ? Event::Kind::Died : Event::Kind::Misbehaved;
    emit({kind, s->peer_pid(),
          fmt::format("publisher of '{}' {}: {} (pid {})", topic_, how, s->peer_name(), s->peer_pid())},
         stranger_of(*s));
  }
  if (!retiring_.empty()) kick();
  if (!retiring_.empty()) wait_for_takers();
  while (!retiring_.empty()) {
    retiring_.back()->drop_reference();
    retiring_.pop_back();
  }
}

void SubscriberCore::wait_for_takers() noexcept {
  // With one counter, several polling threads would hardly ever leave it at zero. Safe without the turns; they are for
  // getting there.
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t turn = inside_turn_.fetch_add(1, std::memory_order_seq_cst);
    while (inside_[turn % 2].load(std::memory_order_seq_cst) != 0) ::usleep(20);
  }
}

void SubscriberCore::remove_all_streams() {
  for (auto& slot : streams_) {
    Stream* s = slot.load(std::memory_order_relaxed);
    if (s == nullptr) continue;
    const std::lock_guard lock(mutex_);
    slot.store(nullptr, std::memory_order_seq_cst);
    retiring_.push_back(s);
  }
  kick();
  collect_ended();
}

void SubscriberCore::emit(Event event, std::optional<uid_t> whose) {
  if (whose) {
    const std::int64_t now = steady_now();
    stream_events_.ended(now);  // windows begin anew
    if (!stream_events_.allow({"streams", *whose}, now))
      return log(LogLevel::Warning, Cause{"events left out", *whose},
                 fmt::format("events of '{}' are left out: {} causes more than {} in ten seconds", topic_,
                             socket::name_of_user(*whose), kForeignEvents));
  }
  if (endpoint_.on_event) {
    try {
      endpoint_.on_event(event);
    } catch (const std::exception& e) {  // it runs on the thread that serves everybody
      log(LogLevel::Error, Cause{"on_event", ::geteuid()}, fmt::format("on_event of '{}' threw: {}", topic_, e.what()));
    } catch (...) {
      log(LogLevel::Error, Cause{"on_event", ::geteuid()}, fmt::format("on_event of '{}' threw", topic_));
    }
  }
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() == 256) {  // nobody reads them
      const auto first = foreign_events_ == 0 ? events_.begin()
                                              : std::find_if(events_.begin(), events_.end(),
                                                             [](const Queued& queued) { return queued.foreign; });
      foreign_events_ -= first->foreign ? 1U : 0U;
      events_.erase(first);
    }
    foreign_events_ += whose ? 1U : 0U;
    events_.push_back({std::move(event), whose.has_value()});
    has_event_.store(true, std::memory_order_release);
  }
  if (endpoint_.events_end_wait) kick();
}

void SubscriberCore::kick() {
  const std::uint32_t before = sleepers_.raise();
  if (uses_fd()) ::eventfd_write(event_fd_.get(), 1);  // also for who polls fd() outside of the library
  // The bells belong to the publishers, so their value cannot be changed from here: a sleeper that has looked at
  // event_seq but is not yet asleep would miss one wake. So wake until it has said that it is awake.
  while (sleepers_.some_left(before)) {
    if (uses_fd()) ::eventfd_write(event_fd_.get(), 1);  // a sleeper may have emptied it just before its poll
    futex::wake(sleepers_.event_seq, INT_MAX);
    for (auto& slot : streams_)
      if (const Stream* s = slot.load(std::memory_order_relaxed)) futex::wake(s->bell().phase, INT_MAX);
    for (const Stream* s : retiring_) futex::wake(s->bell().phase, INT_MAX);
    ::usleep(20);
  }
}

void SubscriberCore::check_deadlines(std::int64_t now) {
  const std::int64_t deadline = options_.deadline.count();
  if (deadline <= 0) return;
  std::int64_t newest = 0;
  int pid = 0;
  std::optional<uid_t> whose;
  for (auto& slot : streams_) {
    const Stream* s = slot.load(std::memory_order_relaxed);
    if (s == nullptr) continue;
    const std::int64_t beat = s->last_sign_of_life(now);
    if (beat > newest) {
      newest = beat;
      pid = s->peer_pid();
      whose = stranger_of(*s);
    }
  }
  // What stands there can change between two looks, so when to look again follows from this one. Once a gap is told, it
  // is at the deadline's own rhythm until the stream lives again; no publisher makes us look or tell more often.
  const bool missed = newest != 0 && now - newest >= deadline;
  const std::int64_t next = missed ? now : newest;
  deadline_check_ns_ = newest == 0                                                  ? 0
                       : next > std::numeric_limits<std::int64_t>::max() - deadline ? next
                                                                                    : next + deadline;
  if (!missed || deadline_told_ns_ == newest || (deadline_told_at_ != 0 && now - deadline_told_at_ < deadline)) return;
  deadline_told_ns_ = newest;  // once for each gap
  deadline_told_at_ = now;
  emit({Event::Kind::DeadlineMissed, pid,
        fmt::format("nothing on '{}' for {:.1f} ms, its deadline is {:.1f} ms (pid {})", topic_,
                    static_cast<double>(now - newest) / 1e6, static_cast<double>(deadline) / 1e6, pid)},
       whose);
}

std::int64_t SubscriberCore::end_asides(std::int64_t now) {
  const std::int64_t until = aside_until_ns_.load(std::memory_order_acquire);
  if (until == 0 || now < until) return until;
  aside_until_ns_.store(0, std::memory_order_release);
  for (auto& slot : streams_)
    if (Stream* s = slot.load(std::memory_order_relaxed)) s->aside.store(false, std::memory_order_release);
  kick();
  return 0;
}

std::int64_t SubscriberCore::next_deadline() const { return options_.deadline.count() <= 0 ? 0 : deadline_check_ns_; }

int SubscriberCore::fd() {
  refuse_forked_child();
  {
    const std::lock_guard lock(mutex_);
    if (!epoll_) {
      Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
      Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));  // readable at first: the first look is free
      if (!epoll || !event)
        throw Error(ErrorCode::Limit,
                    fmt::format("cannot make a descriptor for '{}': {}", topic_, std::strerror(errno)),
                    "raise ulimit -n");
      epoll_event e{.events = EPOLLIN, .data = {.u64 = 0}};
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.get(), &e);
      epoll_ = std::move(epoll);
      event_fd_ = std::move(event);
      epoll_fd_.store(epoll_.get(), std::memory_order_release);
    }
  }
  poke_helper();  // which connects the streams that are there
  return epoll_.get();
}

void SubscriberCore::connect_notify(Stream& stream) {
  if (stream.notify) return;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    emit({Event::Kind::Refused, stream.peer_pid(),
          fmt::format("no descriptor left to be notified of '{}': {}; raise ulimit -n", topic_, std::strerror(errno))});
    return;
  }
  stream.notify = Fd(pair[0]);
  stream.notify_fd.store(pair[0], std::memory_order_release);
  epoll_event e{.events = EPOLLIN, .data = {.u64 = 0}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pair[0], &e);
  hand_over_notify(stream, pair[1]);
  ::eventfd_write(event_fd_.get(), 1);  // something may have come before
}

void SubscriberCore::connect_all() {
  for (auto& slot : streams_)
    if (Stream* s = slot.load(std::memory_order_relaxed)) connect_notify(*s);
}

bool SubscriberCore::copy_latest(ObservedSample& into) {
  refuse_forked_child();
  Stream* best = nullptr;
  {
    const Inside inside(*this);
    std::int64_t best_time = 0;
    for (const auto& slot : streams_) {
      Stream* s = slot.load(std::memory_order_seq_cst);
      if (s == nullptr) continue;
      const protocol::Entry newest = protocol::unpack(Native::load<Site::R1>(*s->ring.latest));
      const std::uint32_t there = s->slots_there();
      if (newest.sequence == 0 ||
          (newest.slot >= there && (s->find_more_slots(there) != Stream::More::Yes || newest.slot >= s->slots_there())))
        continue;
      std::int64_t time = s->our_time(s->meta(newest.slot).publish_ns);
      if (time > steady_now()) time = 0;  // a lie, which would be the newest for ever
      if (best != nullptr && time <= best_time) continue;
      best = s;
      best_time = time;
    }
    if (best == nullptr) return false;
    best->add_reference();
  }
  const bool copied = detail::copy_latest(*best, into);
  best->drop_reference();
  return copied;
}

bool SubscriberCore::rearm() noexcept {
  eventfd_t ignored = 0;
  ::eventfd_read(event_fd_.get(), &ignored);
  {
    const Inside inside(*this);
    for (const auto& slot : streams_) {
      const Stream* s = slot.load(std::memory_order_seq_cst);
      if (s == nullptr) continue;
      const int fd = s->notify_fd.load(std::memory_order_acquire);
      if (fd < 0) continue;
      char token = 0;
      for (int i = 0; i < 16 && ::recv(fd, &token, 1, MSG_DONTWAIT) >= 0;
           ++i) {  // an honest publisher leaves one at most
      }
      protocol::arm<Native>(s->page().armed);
    }
  }
  return ready_streams();
}

}  // namespace detail
}  // namespace cardan
