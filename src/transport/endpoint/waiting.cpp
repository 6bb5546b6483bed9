// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/waiting.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <limits>

#include "cardan/clock.hpp"
#include "cardan/detail/stop_flag.hpp"
#include "src/base/futex.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "src/transport/endpoint/trace.hpp"
#include "src/transport/protocol/bell_protocol.hpp"

namespace cardan::detail {

/// One sleep of one thread. Announces it to every publisher and helper concerned, and withdraws the announcement when
/// it ends.
class Sleep {
 public:
  static constexpr std::size_t kMaxWords = 128;

  Sleep(std::span<SubscriberCore* const> subscribers, bool prewake, futex::Watch own) noexcept
      : subscribers_(subscribers), prewake_(prewake), own_(own) {
    // First the helpers, because they may add and end streams, then the streams. This way no change is missed (the
    // counterpart is kick()).
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

  /// Sleeps unless a sample or an event is there already.
  void run(std::span<Foreign> foreign, std::int64_t deadline_ns) noexcept;

 private:
  [[nodiscard]] bool some_ready() const noexcept {
    for (SubscriberCore* core : subscribers_)
      if (core->ready()) return true;
    return false;
  }

  void gather(SubscriberCore& core) noexcept {
    const SubscriberCore::Inside inside(core);
    const std::int64_t now = core.waiting().kind == Waiting::Kind::Follow ? steady_now() : 0;
    for (Stream& s : core.streams()) {
      if (const std::int64_t until = core.quiet_until(s, now); until != 0) {
        if (quiet_until_ == 0 || until < quiet_until_) quiet_until_ = until;
        continue;
      }
      if (count_ == kMaxWords) {
        too_many_ = true;
        return;
      }
      s.add_reference();
      entries_[count_].phase = protocol::read_bell<Native>(s.bell().phase);
      entries_[count_++].stream = &s;
      if (prewake_) s.page().prewake.fetch_add(1, std::memory_order_relaxed);
      protocol::announce_wait<Native>(s.page().waiting);
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
        continue;  // no descriptor left: check every millisecond instead
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
  std::int64_t quiet_until_ = 0;  ///< when a subscriber looks by itself at a stream that does not wake it; 0: never
  std::size_t count_ = 0;
  struct Entry {
    Stream* stream;
    std::uint32_t phase;       ///< of this stream's bell
    std::uint32_t generation;  ///< of the subscriber with this index; in the same line, because most sleeps are on one
                               ///< stream of one subscriber
  };
  std::array<Entry, kMaxWords> entries_;
};

CARDAN_TAKE_PATH void Sleep::run(std::span<Foreign> foreign, std::int64_t deadline_ns) noexcept {
  if (quiet_until_ != 0) deadline_ns = deadline_ns == 0 ? quiet_until_ : std::min(deadline_ns, quiet_until_);
  const bool ready = changed_ || stop_is_requested() || some_ready();
  if (foreign.empty() && ready) return;
  const trace::Asleep asleep;
  const std::size_t words = count_ + subscribers_.size() + (own_.word != nullptr ? 1 : 0);
  if (own_.word != nullptr && words == 1 && foreign.empty()) {
    futex::wait(*own_.word, own_.expected, deadline_ns);
  } else if (!foreign.empty() || too_many_ || words > kMaxWords ||
             ((words > 2 || (count_ == 1 && entries_[0].stream->foreign())) && !futex::has_wait_many())) {
    poll_all(foreign, ready ? 1 : deadline_ns);
  } else if (count_ == 1 && words == 2 && !entries_[0].stream->foreign()) {
    // Another user's bell is never the only thing to sleep on: that user can move its sleepers away (FUTEX_REQUEUE),
    // and then no kick() would reach us.
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

}  // namespace cardan::detail
