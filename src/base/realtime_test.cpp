// SPDX-License-Identifier: Apache-2.0
#include "cardan/realtime.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "cardan/error.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::RealtimeOptions;
using cardan::RealtimeReport;

/// In its own process, because rights, limits and locks are the process's. Returns what `body` returns (0: as
/// expected).
int apart(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// No rights at all: an ordinary user whose limits are 0.
void give_up_rights() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_RTPRIO, &none);
  ::setrlimit(RLIMIT_MEMLOCK, &none);
  ::setrlimit(RLIMIT_NICE, &none);
  if (::geteuid() == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(99);
  }
}

int first_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof(set), &set);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) return i;
  return 0;
}

TEST(Realtime, NothingAskedNothingDone) {
  const RealtimeReport report = cardan::realtime({});
  EXPECT_TRUE(report.grants.empty());
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.text(), "");
}

TEST(Realtime, ImpossibleOptionsThrow) {
  EXPECT_THROW(cardan::realtime({.priority = 100}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.priority = -1}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.nice = 20}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.nice = -21}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.cpus = {-1}}), cardan::Error);
  const auto deadline = RealtimeOptions::Policy::Deadline;
  EXPECT_THROW(cardan::realtime({.policy = deadline}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.policy = deadline, .runtime = 2ms, .period = 1ms}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.priority = 1, .policy = deadline, .runtime = 1ms, .period = 2ms}), cardan::Error);
  EXPECT_THROW(cardan::realtime({.cpus = {4096}}), cardan::Error);
}

TEST(Realtime, PinsTheCallingThreadOnly) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ::sched_getaffinity(0, sizeof(before), &before);
  const int cpu = first_cpu();
  std::thread([&] {
    EXPECT_TRUE(cardan::realtime({.cpus = {cpu}}).complete());
    EXPECT_EQ(::sched_getcpu(), cpu);
  }).join();
  cpu_set_t after;
  CPU_ZERO(&after);
  ::sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Realtime, RefusalsSayWhatToGrant) {
  EXPECT_EQ(apart([] {
              give_up_rights();
              const RealtimeReport report = cardan::realtime({.priority = 50, .lock_memory = true});
              if (report.complete() || report.grants.size() != 2) return 1;
              if (report.grants[0].granted || report.grants[0].remedy.find("MEMLOCK") == std::string::npos) return 2;
              if (report.grants[1].granted || report.grants[1].remedy.find("rtprio 50") == std::string::npos) return 3;
              if (report.grants[1].cause.find("CAP_SYS_NICE") == std::string::npos) return 4;
              return report.text().find("refused") != std::string::npos && ::sched_getscheduler(0) == SCHED_OTHER ? 0
                                                                                                                  : 5;
            }),
            0);
}

TEST(Realtime, NiceIsOfTheCallingThreadAndTheSecondChoice) {
  EXPECT_EQ(apart([] {
              give_up_rights();
              const auto nice_of = [](pid_t thread) { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread)); };
              int there = 0;
              std::thread([&] {
                if (!cardan::realtime({.nice = 7}).complete()) return;
                there = nice_of(::gettid());
              }).join();
              if (there != 7 || nice_of(::gettid()) != 0) return 1;  // above 0 without any right, and no other thread's
              const RealtimeReport refused = cardan::realtime({.priority = 5, .nice = -5});
              if (refused.grants.size() != 2 || refused.grants[1].granted) return 2;
              if (refused.grants[1].remedy.find("LimitNICE=-5") == std::string::npos) return 3;
              const RealtimeReport second = cardan::realtime({.priority = 5, .nice = 3});
              if (second.grants.size() != 2 || !second.grants[1].granted) return 4;
              return nice_of(::gettid()) == 3 ? 0 : 5;
            }),
            0);
}

TEST(Realtime, GrantsOrSaysWhyNot) {
  EXPECT_EQ(apart([] {
              for (const auto policy : {RealtimeOptions::Policy::Fifo, RealtimeOptions::Policy::RoundRobin}) {
                const RealtimeReport report = cardan::realtime({.priority = 3, .policy = policy});
                const int expected = policy == RealtimeOptions::Policy::Fifo ? SCHED_FIFO : SCHED_RR;
                if (report.complete() != (::sched_getscheduler(0) == expected)) return 1;
                if (!report.complete() && report.grants[0].remedy.empty()) return 2;
              }
              return 0;
            }),
            0);
}

TEST(Realtime, ADeadlineIsGrantedOrSaysWhyNot) {
  EXPECT_EQ(apart([] {
              constexpr int kDeadline = 6;
              const RealtimeOptions asked{.policy = RealtimeOptions::Policy::Deadline, .runtime = 1ms, .period = 10ms};
              const RealtimeReport report = cardan::realtime(asked);
              if (report.complete() != ((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == kDeadline)) return 1;
              if (!report.complete()) return report.grants.at(0).remedy.empty() ? 2 : 0;
              std::thread([] {}).join();  // it may start threads
              return 0;
            }),
            0);
  EXPECT_EQ(apart([] {
              give_up_rights();
              const RealtimeReport report =
                  cardan::realtime({.policy = RealtimeOptions::Policy::Deadline, .runtime = 1ms, .period = 10ms});
              return !report.complete() && report.text().find("CAP_SYS_NICE") != std::string::npos ? 0 : 1;
            }),
            0);
}

TEST(Realtime, LockedMemoryDoesNotBringReservedSpaceIn) {
  EXPECT_EQ(apart([] {
              constexpr std::size_t kReserved = std::size_t{64} << 20;
              void* const reserved =
                  ::mmap(nullptr, kReserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              const RealtimeReport report = cardan::realtime({.lock_memory = true});
              if (!report.complete()) return report.grants.at(0).remedy.empty() ? 1 : 0;
              std::vector<unsigned char> there(kReserved / 4096);
              if (::mincore(reserved, kReserved, there.data()) != 0) return 2;
              for (const unsigned char page : there)
                if ((page & 1U) != 0) return 3;
              return 0;
            }),
            0);
}

TEST(Realtime, ACpuOutsideTheCpusetIsReported) {
  const long configured = ::sysconf(_SC_NPROCESSORS_CONF);
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof(set), &set);
  if (CPU_COUNT(&set) == configured) GTEST_SKIP() << "every CPU of this computer is open to this process";
  for (int cpu = 0; cpu < configured; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) continue;
    std::thread([cpu] {
      const RealtimeReport report = cardan::realtime({.cpus = {cpu}});
      // A mask set by taskset may be widened again, a cpuset may not.
      if (!report.complete()) {
        EXPECT_NE(report.grants[0].remedy.find("cpuset"), std::string::npos);
      }
    }).join();
    return;
  }
}

}  // namespace
