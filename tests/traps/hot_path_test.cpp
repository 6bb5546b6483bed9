// SPDX-License-Identifier: Apache-2.0
// Loan, publish and take, and marking a cycle, allocate nothing, and when nobody sleeps they make no system call: the
// kernel kills a thread that does.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <thread>

#include "cardan/cycle.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace {
thread_local std::uint64_t allocations = 0;
}

// Every allocation of this program, counted for each thread.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* at = std::malloc(bytes)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* at = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

namespace {

using namespace std::chrono_literals;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::Small;

constexpr std::size_t kWords = 2000;
constexpr cardan::Topic<Small> kSmall{"/hot/small", {.depth = 4}};
constexpr cardan::Topic<Big> kBig{"/hot/big", {.max_bytes = kWords * 8}};
constexpr cardan::Topic<Big> kChecked{"/hot/checked", {.max_bytes = kWords * 8, .lifespan = 10s, .checksum = true}};

/// From here on this thread may only leave. (Where clock_gettime is not a system call, it need not be allowed, but a
/// virtual machine's clock source may need it.)
void forbid_system_calls() {
  sock_filter program[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                           {BPF_JMP | BPF_JEQ | BPF_K, 3, 0, SYS_exit_group},
                           {BPF_JMP | BPF_JEQ | BPF_K, 2, 0, SYS_clock_gettime},
                           {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_exit},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{.len = std::size(program), .filter = program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(100);
}

}  // namespace

CARDAN_ROLE(polls) {
  cardan::Subscriber small{kSmall};
  cardan::Subscriber big{kBig};
  cardan::test::say("ready");
  while (!cardan::test::heard())
    for (int i = 0; i < 1000; ++i) {
      (void)small.take();
      (void)big.take();
    }
  return 0;
}

CARDAN_ROLE(
    publishes_strictly) {  // with a polling reader in another process and one here; the exit code says what went wrong
  cardan::Publisher small{kSmall};
  cardan::Publisher big{kBig};
  const cardan::Subscriber<Small> idle{kSmall};
  cardan::Cycle cycle{"hot", 1ms};
  const cardan::Subscriber<cardan::CycleHint> recorder{cardan::kCycles};
  cardan::test::say("ready");
  if (cardan::test::hear().empty() || small.subscribers() != 2) ::_exit(101);
  const auto one_round = [&](int i) {
    const auto run = cycle.run();
    if (!cardan::test::publish_next(small, 1, 0)) ::_exit(102);
    auto loan = big.loan();
    if (!loan) ::_exit(103);
    loan->key = 1;
    if (!loan->words.try_resize(static_cast<std::size_t>(i) % kWords)) ::_exit(104);
    loan.soon();
    if (i % 7 == 0) return;  // abandoned
    if (!big.publish(std::move(loan))) ::_exit(105);
  };
  for (int i = 0; i < 100; ++i) one_round(i);
  forbid_system_calls();
  const std::uint64_t before = allocations;
  for (int i = 0; i < 20'000; ++i) one_round(i);
  ::_exit(allocations == before ? 0 : 106);
}

CARDAN_ROLE(publishes_freely) {
  cardan::Publisher small{kSmall};
  cardan::Publisher big{kBig};
  cardan::Publisher checked{kChecked};
  cardan::test::say("ready");
  while (!cardan::test::heard()) {
    cardan::test::publish_next(small, 1, 0);
    cardan::test::publish_next(big, 1, kWords);
    cardan::test::publish_next(checked, 1, 100);
  }
  return 0;
}

CARDAN_ROLE(takes_strictly) {
  cardan::Subscriber small{kSmall, {.holds = 2}};
  cardan::Subscriber big{kBig, {.holds = 2, .waiting = cardan::spin_then_block(10s)}};
  cardan::Subscriber checked{kChecked, {.holds = 2}};
  if (!small.wait(10s) || !big.wait(10s) || !checked.wait(10s)) ::_exit(101);
  (void)big.wait(0ns);
  forbid_system_calls();
  const std::uint64_t before = allocations;
  int got = 0;
  cardan::Sample<Small> kept;
  while (got < 500) {
    if (auto s = small.take()) {
      if (!cardan::test::intact(s)) ::_exit(102);
      kept = s;  // a copy
      ++got;
    }
    if (const auto s = checked.take(); s && !cardan::test::intact(s)) ::_exit(104);
    if (const auto s = big.wait(5s); !s || !cardan::test::intact(s)) ::_exit(103);  // spins: no system call either
  }
  (void)small.reason();
  (void)small.publishers();
  kept.reset();
  ::_exit(allocations == before ? 0 : 106);
}

class HotPath : public cardan::test::OwnRunDirectory {};

TEST_F(HotPath, LoanAndPublishMakeNoSystemCallWhenNobodySleeps) {
  Child publisher("publishes_strictly");
  publisher.expect("ready");
  Child reader("polls");
  reader.expect("ready");
  publisher.say("go");
  EXPECT_EQ(publisher.end(60s), 0) << "-31: killed for a system call";
  EXPECT_EQ(reader.end(), 0);
}

TEST_F(HotPath, TakeAndSpinningWaitMakeNoSystemCall) {
  Child publisher("publishes_freely");
  publisher.expect("ready");
  Child reader("takes_strictly");
  EXPECT_EQ(reader.end(60s), 0) << "-31: killed for a system call";
  EXPECT_EQ(publisher.end(), 0);
}
