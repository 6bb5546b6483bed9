// SPDX-License-Identifier: Apache-2.0
// The cost of one publish that another user can cause: of the threads asleep on its bell a publish wakes a bounded
// number, its descriptors are rung by the helper thread, and a reliable reader that catches up again and again costs
// fewer and fewer time-outs.
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>

#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/hostile/attack.hpp"

namespace {

using namespace std::chrono_literals;
using namespace cardan::test;

constexpr int kCrowd = 400;
constexpr cardan::Topic<Big> kReliable{
    "/ping",
    {.max_bytes = kPingWords * 8, .reliable = true, .reliable_timeout = 20ms, .access = cardan::Access::Everyone}};

/// From here on this thread may not send on a socket.
void forbid_sending() {
  sock_filter program[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                           {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_sendto},
                           {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_sendmsg},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{.len = std::size(program), .filter = program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(100);
}

}  // namespace

/// Many threads asleep on the bell of one attachment that announced one; says how many a publish woke.
CARDAN_ROLE(crowd_on_the_bell) {
  const Attack a = attach();
  if (!a.connected()) return 1;
  void* map = ::mmap(nullptr, 65536, PROT_READ, MAP_SHARED, a.fds[1].get(), 0);
  if (map == MAP_FAILED) return 1;
  const auto* bell = reinterpret_cast<const std::uint32_t*>(static_cast<const std::byte*>(map) + a.bell * 64);
  const std::uint32_t phase = *bell;
  a.words().waiting = kCrowd;
  std::atomic<int> asleep{0}, woken{0};
  std::vector<std::thread> crowd;
  for (int i = 0; i < kCrowd; ++i)
    crowd.emplace_back([&] {
      ++asleep;
      if (::syscall(SYS_futex, bell, FUTEX_WAIT, phase, nullptr, nullptr, 0) == 0) ++woken;
    });
  while (asleep < kCrowd) ::usleep(1000);
  ::usleep(200'000);
  say("attached");
  hear();
  ::usleep(300'000);
  say("woken " + std::to_string(woken.load()));
  ::_exit(0);  // the others sleep on
}

CARDAN_ROLE(publishes_without_sending) {
  cardan::Publisher<Big> out{kPing};
  say("ready");
  hear();
  if (!publish_next(out, 1, kPingWords)) return 1;  // its reader has emptied its descriptor
  forbid_sending();
  say("forbidden");
  for (int i = 0; i < 20; ++i) {
    hear();
    if (!publish_next(out, 1, kPingWords)) return 2;
    say("published");
  }
  return 0;
}

CARDAN_ROLE(polls_its_descriptor) {
  cardan::Subscriber<Big> in{kPing};
  pollfd p{.fd = in.fd(), .events = POLLIN, .revents = 0};
  while (in.take()) {
  }
  say("ready");
  int taken = 0;
  while (!heard()) {
    if (::poll(&p, 1, 100) <= 0) continue;
    while (in.take()) say("taken " + std::to_string(++taken));
  }
  return 0;
}

/// Stops taking until it is demoted, catches up, stops again.
CARDAN_ROLE(catches_up_again) {
  const Attack a = attach();
  if (!a.connected()) return 1;
  void* map = ::mmap(nullptr, a.bytes, PROT_READ, MAP_SHARED, a.fds[0].get(), 0);
  if (map == MAP_FAILED) return 1;
  cardan::layout::Header h{};
  std::memcpy(&h, map, sizeof(h));
  const auto& latest =
      *reinterpret_cast<const cardan::Atomic<std::uint64_t>*>(static_cast<const std::byte*>(map) + h.front_offset);
  say("attached");
  while (!heard()) {
    a.words().cursor = cardan::protocol::unpack(latest.load()).sequence;  // caught up; now it waits for the time-out
    ::usleep(1000);
    if (a.peer->receive_op("demoted", 50ms)) continue;
  }
  return 0;
}

namespace {

class HostileCost : public AttackTest {};

TEST_F(HostileCost, APublishWakesABoundedNumberOfAnotherUsersThreads) {
  SKIP_UNLESS_ROOT();
  cardan::Publisher<Big> out{kPing};
  Child crowd = stranger("crowd_on_the_bell");
  crowd.expect("attached");
  ASSERT_TRUE(publish_next(out, 1, kPingWords));
  crowd.say("published");
  const int woken = std::stoi(crowd.expect("woken"));
  EXPECT_GE(woken, 1);
  EXPECT_LE(woken, cardan::detail::kForeignWakes);
  std::printf("  %d of %d threads woken\n", woken, kCrowd);
}

TEST_F(HostileCost, DescriptorsOfOtherUsersAreRungByTheHelperThread) {
  SKIP_UNLESS_ROOT();
  Child publisher("publishes_without_sending");
  publisher.expect("ready");
  Child reader = stranger("polls_its_descriptor");
  reader.expect("ready");
  publisher.say("go");
  publisher.expect("forbidden");
  reader.expect("taken");
  for (int i = 0; i < 20; ++i) {
    publisher.say("go");
    publisher.expect("published");
    EXPECT_EQ(reader.expect("taken"), std::to_string(i + 2)) << "the descriptor was not rung";
  }
  EXPECT_EQ(publisher.end(), 0);
  EXPECT_EQ(reader.end(), 0);
}

TEST_F(HostileCost, AReliableReaderThatCatchesUpAgainAndAgainCostsFewerTimeOuts) {
  cardan::Publisher<Big> out{kReliable};
  ASSERT_TRUE(publish_next(out, 1, kPingWords));
  Child reader = stranger("catches_up_again");
  reader.expect("attached");
  const auto until = std::chrono::steady_clock::now() + 2s;
  int late = 0;
  int all = 0;
  while (std::chrono::steady_clock::now() < until) {
    auto loan = out.loan();
    ASSERT_TRUE(loan);
    loan->key = 1;
    if (!out.publish(std::move(loan))) ++late;
    ++all;
    ::usleep(500);
  }
  // Time-outs of 20 ms, and 0, 40, 80, 160, 320, 640 ms until the next one can come: 7 in 2 s. Without a pause, a third
  // of the time.
  EXPECT_LE(late, 10) << "of " << all;
  EXPECT_GE(late, 1);
  reader.close_input();
  EXPECT_EQ(reader.end(), 0);
}

}  // namespace
