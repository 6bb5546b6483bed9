// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/subscriber_helper.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <limits>

#include "cardan/error.hpp"
#include "src/base/futex.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {
namespace {

std::optional<uid_t> stranger_of(const Stream& stream) {
  return stream.foreign() ? std::optional(stream.owner()) : std::nullopt;
}

std::string text_of_end(const Stream& stream, Stream::End end) {
  switch (end) {
    case Stream::End::Left:
      return "ended";
    case Stream::End::Died:
    case Stream::End::Lost:
      return "died";
    default:
      return stream.refusals.enough() ? "was cut off: it published only damaged or malformed messages"
                                      : "was cut off: its pages contain data that an honest publisher never writes";
  }
}

Event::Kind kind_of_end(Stream::End end) {
  switch (end) {
    case Stream::End::Left:
      return Event::Kind::Left;
    case Stream::End::Died:
    case Stream::End::Lost:
      return Event::Kind::Died;
    default:
      return Event::Kind::Misbehaved;
  }
}

}  // namespace

SubscriberHelper::SubscriberHelper(SubscriberCore& core) noexcept
    : core_(core), events_(core.topic_, core.endpoint_.on_event) {}

void SubscriberHelper::add_stream(Stream* stream) {
  const std::string& topic = core_.topic();
  for (std::uint32_t i = 0; i < kMaxStreams; ++i) {
    if (core_.streams_[i].load(std::memory_order_relaxed) != nullptr) continue;
    if (core_.uses_fd()) connect_notify(*stream);
    core_.streams_[i].store(stream, std::memory_order_seq_cst);
    if (core_.stream_end_.load(std::memory_order_relaxed) < i + 1)
      core_.stream_end_.store(i + 1, std::memory_order_seq_cst);
    core_.note_lines();
    emit({Event::Kind::Joined, stream->peer_pid(),
          fmt::format("publisher of '{}' joined: {} (pid {})", topic, stream->peer_name(), stream->peer_pid())},
         stranger_of(*stream));
    if (const std::uint32_t wanted = core_.wanted_depth(); wanted > stream->ring.depth)
      emit({Event::Kind::Shallow, stream->peer_pid(),
            fmt::format("publisher of '{}' keeps the last {} samples, but this reader requests the last {}: {} (pid "
                        "{}); a late subscriber loses the older ones — raise the topic's depth at the publisher, or "
                        "lower it at the subscriber",
                        topic, stream->ring.depth, wanted, stream->peer_name(), stream->peer_pid())},
           stranger_of(*stream));
    kick();  // sleeping threads must sleep on the new bell too
    if (on_joined) on_joined(*stream);
    return;
  }
  const std::string who =
      fmt::format("publisher of '{}' refused: {} (pid {}): this subscriber already has {} publishers", topic,
                  stream->peer_name(), stream->peer_pid(), kMaxStreams);
  const int pid = stream->peer_pid();
  const std::optional<uid_t> whose = stranger_of(*stream);
  if (on_lost) on_lost(stream->tag());
  stream->drop_reference();
  emit({Event::Kind::Refused, pid, who}, whose);
}

void SubscriberHelper::end_stream(std::uint64_t stream_id, Stream::End end) {
  Stream* stream = find_stream(stream_id);
  if (stream == nullptr) return;
  auto running = Stream::End::Running;
  stream->end.compare_exchange_strong(running, end, std::memory_order_acq_rel);
  if (!stream->something_new()) stream->drained.store(true, std::memory_order_release);
  collect_ended();
  kick();
}

Stream* SubscriberHelper::find_stream(std::uint64_t stream_id) const noexcept {
  for (Stream& s : core_.streams())
    if (s.id == stream_id) return &s;
  return nullptr;
}

void SubscriberHelper::cut_stream(Stream& stream) {
  if (find_stream(stream.id) == nullptr) return;
  auto running = Stream::End::Running;
  stream.end.compare_exchange_strong(running, Stream::End::Lost, std::memory_order_acq_rel);
  stream.drained.store(true, std::memory_order_release);
  collect_ended();
  kick();
}

/// Removes the stream from its place, and adds its counts to the sums of those that are gone.
void SubscriberHelper::let_go(Atomic<Stream*>& place, Stream& stream) {
  const std::lock_guard lock(mutex_);
  place.store(nullptr, std::memory_order_seq_cst);
  wait_for_takers();  // the thread that took its last sample may still be counting it
  const layout::SubscriberPage& p = stream.page();
  retired_.missed += p.missed.load(std::memory_order_relaxed);
  retired_.received += p.received.load(std::memory_order_relaxed);
  retired_.bad += p.bad.load(std::memory_order_relaxed);
  retired_.spin_ns += p.spin_ns.load(std::memory_order_relaxed);
  retiring_.push_back(&stream);
  if (on_lost) on_lost(stream.tag());
}

void SubscriberHelper::collect_ended() {
  for (auto& place : core_.streams_) {
    Stream* s = place.load(std::memory_order_relaxed);
    if (s == nullptr || !s->drained.load(std::memory_order_acquire)) continue;
    const Stream::End end = s->end.load(std::memory_order_acquire);
    if (end == Stream::End::Running) continue;
    let_go(place, *s);
    emit({kind_of_end(end), s->peer_pid(),
          fmt::format("publisher of '{}' {}: {} (pid {})", core_.topic(), text_of_end(*s, end), s->peer_name(),
                      s->peer_pid())},
         stranger_of(*s));
  }
  if (retiring_.empty()) return;
  kick();
  wait_for_takers();
  while (!retiring_.empty()) {
    retiring_.back()->drop_reference();
    retiring_.pop_back();
  }
}

/// Waits until no thread reads a stream that was removed before. With one counter, several polling threads would hardly
/// ever leave it at zero. The turns are not needed for safety, only for progress.
void SubscriberHelper::wait_for_takers() noexcept {
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t turn = core_.inside_turn_.fetch_add(1, std::memory_order_seq_cst);
    while (core_.inside_[turn % 2].load(std::memory_order_seq_cst) != 0) ::usleep(20);
  }
}

void SubscriberHelper::remove_all_streams() {
  for (auto& place : core_.streams_)
    if (Stream* s = place.load(std::memory_order_relaxed)) let_go(place, *s);
  kick();
  collect_ended();
}

void SubscriberHelper::emit(Event event, std::optional<uid_t> whose) {
  if (events_.emit(std::move(event), whose) && core_.events_end_wait_) kick();
}

void SubscriberHelper::kick() {
  const std::uint32_t before = core_.sleepers_.raise();
  if (core_.uses_fd()) ::eventfd_write(event_fd_.get(), 1);  // also for code that polls fd() outside the library
  // The bells belong to the publishers, so their value cannot be changed from here: a sleeper that has read event_seq
  // but is not asleep yet would miss a single wake. So wake until it has reported that it is awake.
  while (core_.sleepers_.some_left(before)) {
    if (core_.uses_fd()) ::eventfd_write(event_fd_.get(), 1);  // a sleeper may have emptied it just before its poll
    futex::wake(core_.sleepers_.event_seq, INT_MAX);
    for (const Stream& s : core_.streams()) futex::wake(s.bell().phase, INT_MAX);
    for (const Stream* s : retiring_) futex::wake(s->bell().phase, INT_MAX);
    ::usleep(20);
  }
}

void SubscriberHelper::check_deadlines(std::int64_t now) {
  const std::int64_t deadline = core_.options().deadline.count();
  if (deadline <= 0) return;
  std::int64_t newest = 0;
  const Stream* newest_stream = nullptr;
  for (const Stream& s : core_.streams())
    if (const std::int64_t beat = s.last_sign_of_life(now); beat > newest) {
      newest = beat;
      newest_stream = &s;
    }
  // The stamp can change between two looks, so the time of the next look follows from this one. Once a gap is reported,
  // the looks keep the deadline's own rhythm until the stream lives again. No publisher makes us look or report more
  // often.
  const bool missed = newest != 0 && now - newest >= deadline;
  const std::int64_t next = missed ? now : newest;
  deadline_check_ns_ = newest == 0                                                  ? 0
                       : next > std::numeric_limits<std::int64_t>::max() - deadline ? next
                                                                                    : next + deadline;
  if (!missed || deadline_told_ns_ == newest || (deadline_told_at_ != 0 && now - deadline_told_at_ < deadline)) return;
  deadline_told_ns_ = newest;  // once for each gap
  deadline_told_at_ = now;
  emit({Event::Kind::DeadlineMissed, newest_stream->peer_pid(),
        fmt::format("nothing on '{}' for {:.1f} ms, its deadline is {:.1f} ms (pid {})", core_.topic(),
                    static_cast<double>(now - newest) / 1e6, static_cast<double>(deadline) / 1e6,
                    newest_stream->peer_pid())},
       stranger_of(*newest_stream));
}

std::int64_t SubscriberHelper::next_deadline() const {
  return core_.options().deadline.count() <= 0 ? 0 : deadline_check_ns_;
}

std::int64_t SubscriberHelper::end_asides(std::int64_t now) {
  const std::int64_t until = core_.aside_until_ns_.load(std::memory_order_acquire);
  if (until == 0 || now < until) return until;
  core_.aside_until_ns_.store(0, std::memory_order_release);
  for (Stream& s : core_.streams()) s.aside.store(false, std::memory_order_release);
  kick();
  return 0;
}

int SubscriberHelper::fd() {
  refuse_forked_child();
  {
    const std::lock_guard lock(mutex_);
    if (!epoll_) {
      Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
      Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));  // readable at first: the first look costs nothing
      if (!epoll || !event)
        throw Error(ErrorCode::Limit,
                    fmt::format("cannot make a descriptor for '{}': {}", core_.topic(), std::strerror(errno)),
                    "raise ulimit -n");
      epoll_event e{.events = EPOLLIN, .data = {.u64 = 0}};
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.get(), &e);
      if (core_.waiting().kind == Waiting::Kind::Follow) {  // without it the publisher rings as always
        timer_fd_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (timer_fd_) ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, timer_fd_.get(), &e);
      }
      epoll_ = std::move(epoll);
      event_fd_ = std::move(event);
      core_.epoll_fd_.store(epoll_.get(), std::memory_order_release);
    }
  }
  core_.poke_helper();  // it connects the existing streams
  return epoll_.get();
}

bool SubscriberHelper::ring_at(std::int64_t until_ns) noexcept {
  if (!timer_fd_) return false;
  std::uint64_t ignored = 0;
  // A timer that has not run out is left alone: what it costs is one look.
  if (::read(timer_fd_.get(), &ignored, sizeof ignored) < 0 && until_ns == 0) return false;
  const itimerspec at{.it_interval = {},
                      .it_value = {.tv_sec = until_ns / 1'000'000'000, .tv_nsec = until_ns % 1'000'000'000}};
  return ::timerfd_settime(timer_fd_.get(), TFD_TIMER_ABSTIME, &at, nullptr) == 0 && until_ns != 0;
}

void SubscriberHelper::connect_notify(Stream& stream) {
  if (stream.notify) return;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    emit({Event::Kind::Refused, stream.peer_pid(),
          fmt::format("no descriptor left to be notified of '{}': {}; raise ulimit -n", core_.topic(),
                      std::strerror(errno))});
    return;
  }
  stream.notify = Fd(pair[0]);
  stream.notify_fd.store(pair[0], std::memory_order_release);
  epoll_event e{.events = EPOLLIN, .data = {.u64 = 0}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pair[0], &e);
  hand_over_notify(stream, pair[1]);
  ::eventfd_write(event_fd_.get(), 1);  // a sample may have come before
}

void SubscriberHelper::connect_all() {
  for (Stream& s : core_.streams()) connect_notify(s);
}

SubscriberHelper::Sums SubscriberHelper::sums() const {
  const std::lock_guard lock(mutex_);
  Sums all = retired_;
  for (const Stream& s : core_.streams()) {
    all.missed += s.page().missed.load(std::memory_order_relaxed);
    all.received += s.page().received.load(std::memory_order_relaxed);
    all.bad += s.page().bad.load(std::memory_order_relaxed);
    all.spin_ns += s.page().spin_ns.load(std::memory_order_relaxed);
  }
  return all;
}

}  // namespace cardan::detail
