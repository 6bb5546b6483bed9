// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/endpoint/waiting.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <limits>

#include "cardan/base/clock.hpp"
#include "cardan/base/futex.hpp"
#include "cardan/transport/endpoint/subscriber_core.hpp"
#include "cardan/transport/protocol/bell_protocol.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::detail {

/// One sleep of one thread: announces itself to every publisher and helper concerned, and takes that back when it ends.
class Sleep {
 public:
  static constexpr std::size_t kMaxWords = 128;

  Sleep(std::span<SubscriberCore* const> subscribers, bool prewake, futex::Watch own) noexcept
      : subscribers_(subscribers), prewake_(prewake), own_(own) {
    // First the helpers, who may add and end streams, then the streams: so no change is missed (the counterpart is
    // kick()).
    for (std::size_t i = 0; i < subscribers_.size() && i < kMaxWords; ++i) {
      SubscriberCore& core = *subscribers_[i];
      if (!core.sleepers_.begin(entries_[i].generation)) changed_ = true;
    }
    for (SubscriberCore* core : subscribers_) gather(*core);
  }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;
  ~Sleep() {
    for (std::size_t i = 0; i < count_; ++i) {
      layout::SubscriberPage& page = entries_[i].stream->page();
      if (prewake_) page.prewake.fetch_sub(1, std::memory_order_relaxed);
      protocol::end_wait<Native>(page.waiting);
    }
    for (std::size_t i = 0; i < subscribers_.size() && i < kMaxWords; ++i)
      subscribers_[i]->sleepers_.end(entries_[i].generation);
    for (std::size_t i = 0; i < count_; ++i) entries_[i].stream->drop_reference();
  }

  /// Sleeps unless something is there already.
  void run(std::span<Foreign> foreign, std::int64_t deadline_ns) noexcept;

 private:
  [[nodiscard]] bool some_ready() const noexcept {
    for (SubscriberCore* core : subscribers_)
      if (core->ready()) return true;
    return false;
  }

  void gather(SubscriberCore& core) noexcept {
    const SubscriberCore::Inside inside(core);
    const std::uint32_t end = core.stream_end_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < end; ++i) {
      Stream* s = core.streams_[i].load(std::memory_order_seq_cst);
      if (s == nullptr) continue;
      if (count_ == kMaxWords) {
        too_many_ = true;
        return;
      }
      s->add_reference();
      entries_[count_].phase = protocol::read_bell<Native>(s->bell().phase);
      entries_[count_++].stream = s;
      if (prewake_) s->page().prewake.fetch_add(1, std::memory_order_relaxed);
      protocol::announce_wait<Native>(s->page().waiting);
    }
  }

  void count_sleep() noexcept {
    for (std::size_t i = 0; i < count_; ++i) entries_[i].stream->page().sleeps.fetch_add(1, std::memory_order_relaxed);
  }

  void sleep_on_many(std::int64_t deadline_ns) noexcept {
    std::array<futex::Watch, kMaxWords> words;
    std::size_t n = 0;
    for (std::size_t i = 0; i < count_; ++i) words[n++] = {&entries_[i].stream->bell().phase, entries_[i].phase};
    for (std::size_t i = 0; i < subscribers_.size(); ++i)
      words[n++] = {&subscribers_[i]->sleepers_.event_seq, entries_[i].generation};
    if (own_.word != nullptr) words[n++] = own_;
    count_sleep();
    if (futex::has_wait_many())
      futex::wait_many({words.data(), n}, deadline_ns);
    else
      poll_all({}, deadline_ns);
  }

  void poll_all(std::span<Foreign> foreign, std::int64_t deadline_ns) noexcept {
    std::array<pollfd, 256> fds;
    nfds_t n = 0;
    bool ready = false;
    const auto no_later_than = [&deadline_ns](std::int64_t at) {
      deadline_ns = deadline_ns == 0 ? at : std::min(deadline_ns, at);
    };
    if (own_.word != nullptr && foreign.empty()) no_later_than(steady_now() + 1'000'000);  // it has no descriptor
    for (SubscriberCore* core : subscribers_) {
      int fd = -1;
      try {
        fd = core->fd();
      } catch (...) {
        no_later_than(steady_now() + 1'000'000);
        continue;  // no descriptor left: look every millisecond instead
      }
      if (core->rearm()) ready = true;
      if (n < fds.size()) fds[n++] = {.fd = fd, .events = POLLIN, .revents = 0};
    }
    const nfds_t first_foreign = n;
    for (const Foreign& f : foreign)
      if (n < fds.size()) fds[n++] = {.fd = f.fd, .events = POLLIN, .revents = 0};
    timespec left{};
    const timespec* until = nullptr;
    if (ready || deadline_ns != 0) {
      const std::int64_t ns = ready ? 0 : std::max<std::int64_t>(0, deadline_ns - steady_now());
      left = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
      until = &left;
    }
    if (::ppoll(fds.data(), n, until, nullptr) < 0) return;
    for (nfds_t i = first_foreign; i < n; ++i) foreign[i - first_foreign].ready = fds[i].revents != 0;
  }

  std::span<SubscriberCore* const> subscribers_;
  bool prewake_;
  futex::Watch own_;
  bool changed_ = false;
  bool too_many_ = false;
  std::size_t count_ = 0;
  struct Entry {
    Stream* stream;
    std::uint32_t phase;       ///< of this stream's bell
    std::uint32_t generation;  ///< of the subscriber with this index: in the same line, for most sleeps are one
                               ///< subscriber's on one stream
  };
  std::array<Entry, kMaxWords> entries_;
};

CARDAN_TAKE_PATH void Sleep::run(std::span<Foreign> foreign, std::int64_t deadline_ns) noexcept {
  const bool ready = changed_ || stopping() || some_ready();
  if (foreign.empty() && ready) return;
  const std::size_t words = count_ + subscribers_.size() + (own_.word != nullptr ? 1 : 0);
  if (own_.word != nullptr && words == 1 && foreign.empty()) {
    futex::wait(*own_.word, own_.expected, deadline_ns);
  } else if (!foreign.empty() || too_many_ || words > kMaxWords ||
             ((words > 2 || (count_ == 1 && entries_[0].stream->foreign())) && !futex::has_wait_many())) {
    poll_all(foreign, ready ? 1 : deadline_ns);
  } else if (count_ == 1 && words == 2 && !entries_[0].stream->foreign()) {
    // Another user's bell is never slept on alone: it can move its sleepers away (FUTEX_REQUEUE), and then no kick()
    // would reach us.
    count_sleep();
    futex::wait(entries_[0].stream->bell().phase, entries_[0].phase, deadline_ns,
                prewake_ ? prewake_bit(::sched_getcpu()) : kNoPrewakeBit);
    subscribers_[0]->warm();
  } else if (count_ == 0 && words == 1) {
    futex::wait(subscribers_[0]->sleepers_.event_seq, entries_[0].generation, deadline_ns);
  } else {
    sleep_on_many(deadline_ns);
  }
}

CARDAN_TAKE_PATH void sleep_on(std::span<SubscriberCore* const> subscribers, std::span<Foreign> foreign,
                               std::int64_t deadline_ns, bool prewake, futex::Watch own) noexcept {
  Sleep sleep(subscribers, prewake, own);
  sleep.run(foreign, deadline_ns);
}

bool can_watch_word(std::size_t subscribers) noexcept {
  return subscribers == 0 || (futex::has_wait_many() && 2 * subscribers + 1 <= Sleep::kMaxWords);
}

CARDAN_TAKE_PATH void SubscriberCore::sleep(std::int64_t deadline_ns, bool prewake) noexcept {
  SubscriberCore* const self = this;
  sleep_on({&self, 1}, {}, deadline_ns, prewake);
}

CARDAN_TAKE_PATH SampleBlock* SubscriberCore::wait(std::int64_t deadline_ns) noexcept {
  for (;;) {
    if (SampleBlock* block = take()) return block;
    if (reason() != Reason::None) return nullptr;
    if (stopping()) {
      reason_.store(Reason::Stopped, std::memory_order_relaxed);
      return nullptr;
    }
    if (events_end_wait_ && has_event_.load(std::memory_order_acquire)) {
      reason_.store(Reason::Event, std::memory_order_relaxed);
      return nullptr;
    }
    if (deadline_ns != 0 && steady_now() >= deadline_ns) {
      reason_.store(Reason::TimedOut, std::memory_order_relaxed);
      return nullptr;
    }
    pause(deadline_ns);
  }
}

CARDAN_TAKE_PATH void SubscriberCore::pause(std::int64_t deadline_ns) noexcept {
  const Waiting how = waiting();
  switch (how.kind) {
    case Waiting::Kind::Block:
      return sleep(deadline_ns, false);
    case Waiting::Kind::Prewake:
      return prewake_next(deadline_ns);
    case Waiting::Kind::Anticipate:
      return anticipate_next(deadline_ns);
    case Waiting::Kind::Spin:
      break;
  }
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
  if (how.limit.count() < until / 2) until = steady_now() + how.limit.count();
  if (deadline_ns != 0) until = std::min(until, deadline_ns);
  if (!spin(until, false)) sleep(deadline_ns, false);
}

CARDAN_TAKE_PATH bool SubscriberCore::filling() noexcept {
  const std::uint32_t end = stream_end_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < end; ++i)
    if (const Stream* s = streams_[i].load(std::memory_order_seq_cst);
        s != nullptr && protocol::is_filling<Native>(s->hot().filling))
      return true;
  return false;
}

/// True when something is there; false when it is time to sleep (or nothing is being filled any more). Spins on streams
/// that it holds a reference to, not as a thread inside: a long spin must not keep the helper from letting an ended
/// stream go.
CARDAN_TAKE_PATH bool SubscriberCore::spin(std::int64_t until, bool only_while_filling) noexcept {
  std::array<Stream*, kMaxStreams> watched;
  std::size_t count = 0;
  const std::uint32_t generation = sleepers_.event_seq.load(std::memory_order_seq_cst);
  {
    const Inside inside(*this);
    const std::uint32_t end = stream_end_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < end; ++i) {
      Stream* s = streams_[i].load(std::memory_order_seq_cst);
      if (s == nullptr) continue;
      s->add_reference();
      watched[count++] = s;
    }
  }
  const std::int64_t begin = steady_now();
  const auto some_new = [&]() noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (watched[i]->something_new()) return true;
    return false;
  };
  const auto some_filling = [&]() noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (protocol::is_filling<Native>(watched[i]->hot().filling)) return true;
    return false;
  };
  bool found = false;
  std::int64_t last_look = begin;
  for (std::uint32_t turn = 1;; ++turn) {
    found = some_new();
    if (found) break;
    cpu_relax();
    if (turn % 16 != 0) continue;
    if (turn % 256 == 16) warm();  // a spin of milliseconds shares its caches with others
    if (sleepers_.event_seq.load(std::memory_order_relaxed) != generation || stopping()) break;
    last_look = steady_now();
    if (last_look >= until) break;
    if (only_while_filling && !some_filling()) {
      found = some_new();  // `filling` falls right after the publish
      break;
    }
  }
  const std::int64_t spent =
      last_look - begin;  // of the last look at the clock: another one would cost the sample 40 ns
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0) watched[i]->page().spin_ns.fetch_add(spent, std::memory_order_relaxed);
    watched[i]->drop_reference();
  }
  return found;
}

CARDAN_TAKE_PATH void SubscriberCore::prewake_next(std::int64_t deadline_ns) noexcept {
  constexpr std::uint32_t kTooMany = 8;    // wasted spins in a row
  constexpr std::uint32_t kLeaveOut = 64;  // sleeps without, before the next try
  if (wasted_prewakes_.load(std::memory_order_relaxed) >= kTooMany) {
    if (prewakes_left_out_.fetch_add(1, std::memory_order_relaxed) < kLeaveOut) return sleep(deadline_ns, false);
    prewakes_left_out_.store(0, std::memory_order_relaxed);
  }
  sleep(deadline_ns, true);
  spin_while_filling(deadline_ns);
}

CARDAN_TAKE_PATH void SubscriberCore::spin_while_filling(std::int64_t deadline_ns) noexcept {
  bool spin_now = false;
  {
    const Inside inside(*this);
    spin_now = filling();
  }
  if (!spin_now || ready()) return;
  std::int64_t until = steady_now() + waiting().limit.count();
  if (deadline_ns != 0) until = std::min(until, deadline_ns);
  if (spin(until, true))
    wasted_prewakes_.store(0, std::memory_order_relaxed);
  else
    wasted_prewakes_.fetch_add(1, std::memory_order_relaxed);
}

void SubscriberCore::anticipate_next(std::int64_t deadline_ns) noexcept {
  constexpr std::int64_t kShortest = 300'000;  // below that a sleep is not worth its wake-up
  std::int64_t now = steady_now();
  std::int64_t expected = 0;
  std::int64_t deviation = 0;
  std::int64_t period = 0;
  {
    const Inside inside(*this);
    const std::uint32_t end = stream_end_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < end; ++i) {
      const Stream* s = streams_[i].load(std::memory_order_seq_cst);
      if (s == nullptr) continue;
      const std::int64_t at = s->expected_ns.load(std::memory_order_relaxed);
      const std::int64_t off = s->deviation_ns.load(std::memory_order_relaxed);
      const std::int64_t rhythm = s->period_ns.load(std::memory_order_relaxed);
      // A stream without a rhythm, or whose stamps are not of our time, must not hide another one's.
      if (at == 0 || rhythm < kShortest || off > rhythm / 8 || at < now - rhythm || at > now + 2 * rhythm) continue;
      if (expected != 0 && at >= expected) continue;
      expected = at;
      deviation = off;
      period = rhythm;
    }
  }
  if (expected == 0) return sleep(deadline_ns, false);

  const std::int64_t margin = waiting().limit.count() + std::min(2 * deviation, period / 40);
  const std::int64_t late = std::min(wake_late_ns_.load(std::memory_order_relaxed), period / 40);
  const std::int64_t wake_at = expected - margin - late;
  if (deadline_ns != 0 && deadline_ns <= wake_at) return sleep(deadline_ns, false);
  if (now < wake_at) {
    sleep(wake_at, false);
    if (ready()) return;
    now = steady_now();
    if (now < wake_at) return;  // an event or a signal
    // Follow the wake-up's own lateness from above: quick to grow, slow to shrink.
    const std::int64_t was = wake_late_ns_.load(std::memory_order_relaxed);
    const std::int64_t is = now - wake_at;
    wake_late_ns_.store(was + (is > was ? (is - was) / 2 : (is - was) / 32), std::memory_order_relaxed);
  }
  std::int64_t until = expected + margin;
  if (deadline_ns != 0) until = std::min(until, deadline_ns);
  if (now >= until || !spin(until, false)) sleep(deadline_ns, false);
}

}  // namespace cardan::detail
