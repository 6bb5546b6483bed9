// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/ringer.hpp"

#include <sched.h>
#include <sys/socket.h>

#include <climits>
#include <thread>
#include <utility>

#include "cardan/clock.hpp"
#include "src/base/futex.hpp"
#include "src/base/warm.hpp"
#include "src/transport/endpoint/waiting.hpp"
#include "src/transport/protocol/bell_protocol.hpp"

namespace cardan::detail {
namespace {

constexpr std::uint32_t kPrewakesPerSecond = 1000;
constexpr std::int64_t kBetweenRings = 1'000'000;  // ns, by the helper thread, for each bell
/// A ring of another user's bell that takes longer is slow: its queue in the kernel is longer than that of an honest
/// user. After kSlowRings slow rings within a second the helper thread rings for kSlowFor (docs/security.md).
constexpr std::int64_t kSlowRing = 200'000;  // ns
constexpr std::uint32_t kSlowRings = 4;
constexpr std::int64_t kSlowFor = 10'000'000'000;  // ns

template <class T>
void count_one(Atomic<T>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void send_token(int fd) noexcept { ::send(fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL); }

CARDAN_PUBLISH_PATH void ask_helper(PublisherTable& table, layout::Hot& hot) noexcept {
  if (table.ask_helper()) count_one(hot.wakes);
}

/// Another user's queue may be arbitrarily long, and the kernel walks it. So the number of woken threads is bounded. A
/// user whose queue is slow all the same waits for the helper thread.
CARDAN_PUBLISH_PATH void wake_others(BellLine& bell, int count, std::uint32_t bits, PublisherTable& table,
                                     layout::Hot& hot) noexcept {
  const std::int64_t begin = steady_now();
  if (begin < bell.helper_until_ns) {
    bell.due.store(true, std::memory_order_seq_cst);
    return ask_helper(table, hot);
  }
  futex::wake(bell.word(), count, bits);
  if (steady_now() - begin <= kSlowRing) return;
  if (begin - bell.slow_since_ns > 1'000'000'000) {
    bell.slow_since_ns = begin;
    bell.slow_rings = 0;
  }
  if (++bell.slow_rings >= kSlowRings) bell.helper_until_ns = begin + kSlowFor;
}

}  // namespace

/// The subscribers' side for the protocol: either the background subscribers or all others.
struct Ringer::Sleepers {
  Ringer& ringer;
  PublisherTable& table;
  layout::Hot& hot;
  bool background;
  bool& some_left_out;

  template <class F>
  void look(std::uint32_t, const Attached* a, F&& f) const noexcept {
    if (a->bell->background == background)
      f(*a->page);
    else
      some_left_out = true;
  }
  void waits(Attached* a) const noexcept { ringer.ring(*a->bell, table, hot); }
  void looked(Attached* a, const layout::SubscriberPage& page) const noexcept {
    ringer.ring_descriptor(*a, page, table, hot);
  }
};

CARDAN_PUBLISH_PATH void Ringer::wake(PublisherTable& table, layout::Hot& hot, HandOver here, int slot) noexcept {
  ++round_;
  // A wake costs tens of microseconds, and the first woken thread gets the idle core. A recorder must not be the first.
  bool some_in_background = false;
  protocol::wake<Native>(table.entries(), Sleepers{*this, table, hot, false, some_in_background});
  if (here.call != nullptr) here.call(here.self, slot);
  bool others = false;
  if (some_in_background) protocol::wake<Native>(table.entries(), Sleepers{*this, table, hot, true, others});
  ring_followers(table, hot);
}

CARDAN_PUBLISH_PATH void Ringer::ring(BellLine& bell, PublisherTable& table, layout::Hot& hot) noexcept {
  if (bell.rung_round == round_) return;
  bell.rung_round = round_;
  protocol::ring<Native>(bell.word(), bell.phase, [&]() noexcept {
    if (bell.foreign)
      wake_others(bell, kForeignWakes, futex::kAnyone, table, hot);
    else
      futex::wake(bell.word(), INT_MAX);
  });
  count_one(hot.wakes);
}

CARDAN_PUBLISH_PATH void Ringer::ring_descriptor(Attached& a, const layout::SubscriberPage& page, PublisherTable& table,
                                                 layout::Hot& hot) noexcept {
  const int fd = a.notify.load(std::memory_order_acquire);
  if (fd < 0 || !protocol::wants_token<Native>(page.armed, a.rung)) return;
  if (!a.foreign && !a.follows) {
    send_token(fd);
    return count_one(hot.wakes);
  }
  if (!a.foreign && follower_ == nullptr) {
    follower_ = &a;
    return;
  }
  a.token_due.store(true, std::memory_order_seq_cst);
  if (a.foreign) return ask_helper(table, hot);
  several_followers_ = true;
}

/// Bridges and monitors of a stream that starts again all want to be rung at the same publication. That costs it one
/// system call, however many they are: it rings one itself, and leaves several to the helper thread.
CARDAN_PUBLISH_PATH void Ringer::ring_followers(PublisherTable& table, layout::Hot& hot) noexcept {
  Attached* const first = std::exchange(follower_, nullptr);
  if (first == nullptr) return;
  if (!std::exchange(several_followers_, false)) {
    send_token(first->notify.load(std::memory_order_relaxed));
    return count_one(hot.wakes);
  }
  first->token_due.store(true, std::memory_order_seq_cst);
  ask_helper(table, hot);
}

CARDAN_PUBLISH_PATH void Ringer::prewake(PublisherTable& table, layout::Hot& hot, std::uint64_t n) noexcept {
  static const int processors = static_cast<int>(std::thread::hardware_concurrency());
  if (processors < 2) return;
  const auto welcomes = [](const Attached* a) noexcept {
    return a->page->prewake.load(std::memory_order_relaxed) != 0;
  };
  bool anyone = false;
  table.entries().for_each([&](std::uint32_t, const Attached* a) noexcept { anyone = anyone || welcomes(a); });
  if (!anyone) return;
  const std::int64_t now = steady_now();
  if (now - prewake_window_ > 1'000'000'000) {
    prewake_window_ = now;
    prewakes_in_window_ = 0;
  }
  if (++prewakes_in_window_ > kPrewakesPerSecond) return;
  Native::store<Site::L1>(hot.filling, static_cast<std::uint32_t>(n) | 1U);
  ++round_;
  table.entries().for_each([&](std::uint32_t, Attached* a) noexcept {
    BellLine& bell = *a->bell;
    if (!welcomes(a) || bell.rung_round == round_) return;
    bell.rung_round = round_;
    protocol::ring<Native>(bell.word(), bell.phase, [&]() noexcept {
      const std::uint32_t bits = prewake_bits_except(::sched_getcpu());
      if (bell.foreign)
        wake_others(bell, processors - 1, bits, table, hot);
      else
        futex::wake(bell.word(), processors - 1, bits);
    });
    count_one(hot.prewakes);
  });
}

/// For another user the cost of both depends on that user: the kernel walks its queue, and notifies everything that
/// polls its descriptor. Our own followers are rung at once.
bool Ringer::ring_for_others(const std::vector<std::unique_ptr<Attached>>& attached, HelperTime& time,
                             std::int64_t now) {
  bool all = true;
  for (const auto& a : attached) {
    BellLine& bell = *a->bell;
    const bool token = a->token_due.load(std::memory_order_acquire);
    if (token && !bell.foreign && a->token_due.exchange(false, std::memory_order_seq_cst))
      send_token(a->notify_socket.get());
    if (!bell.foreign || (!token && !bell.due.load(std::memory_order_acquire))) continue;
    if ((bell.woken_ns != now && now - bell.woken_ns < kBetweenRings) || time.opens_at(a->uid, now) != 0) {
      all = false;
      continue;
    }
    const std::int64_t began = thread_time();
    bell.woken_ns = now;
    if (token && a->token_due.exchange(false, std::memory_order_seq_cst)) send_token(a->notify_socket.get());
    if (bell.due.exchange(false, std::memory_order_seq_cst)) futex::wake(bell.word(), kForeignWakes);
    time.spend(a->uid, thread_time() - began, now);
  }
  return all;
}

}  // namespace cardan::detail
