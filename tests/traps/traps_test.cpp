// SPDX-License-Identifier: Apache-2.0
// The known traps of the design: lifetimes, invalid areas, fork, core dumps, memory limits, missing system calls.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "cardan/component.hpp"
#include "cardan/wait_any.hpp"
#include "src/base/area.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/traps/traps.hpp"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace {

using namespace std::chrono_literals;
using cardan::Error;
using cardan::ErrorCode;
using cardan::Fd;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::error_line;
using cardan::test::kBig;
using cardan::test::kSmall;
using cardan::test::kTrapWords;
using cardan::test::report;
using cardan::test::Small;
using cardan::test::Traps;

}  // namespace

// ---------------------------------------------------------------- lifetimes

CARDAN_ROLE(big_publisher) {
  cardan::Publisher<Big> out{kBig};
  cardan::test::say("ready");
  for (std::string word = cardan::test::hear(); !word.empty(); word = cardan::test::hear())
    for (int i = 0; i < 50; ++i) cardan::test::publish_next(out, 1, kTrapWords);
  return 0;
}

TEST_F(Traps, SampleOutlivesItsSubscriberAndItsPublishersProcess) {
  Child publisher("big_publisher");
  publisher.expect("ready");
  cardan::Sample<Big> kept;
  {
    cardan::Subscriber in{kBig};
    publisher.say("go");
    kept = in.wait(10s);
  }
  ASSERT_TRUE(kept);
  publisher.say("go");  // the subscriber has gone, its sample not: the slot must not be filled again
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(cardan::test::intact(kept));
  publisher.kill();
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(cardan::test::intact(kept));
}

CARDAN_ROLE(holds_and_dies) {
  cardan::Subscriber in{kBig, {.holds = 5}};
  std::vector<cardan::Sample<Big>> held;
  cardan::test::say("ready");
  while (held.size() < 5)
    if (auto s = in.wait(10s)) held.push_back(std::move(s));
  cardan::test::say("holding");
  cardan::test::hear();
  return 0;
}

TEST_F(Traps, SlotsOfADeadHolderComeBack) {
  cardan::Publisher out{kBig};
  for (int i = 0; i < 5; ++i) {
    Child holder("holds_and_dies");
    holder.expect("ready");
    for (int n = 0; n < 5; ++n) {
      EXPECT_TRUE(cardan::test::publish_next(out, 1, kTrapWords));
      std::this_thread::sleep_for(20ms);
    }
    holder.expect("holding");
    holder.kill();
    EXPECT_TRUE(cardan::test::eventually([&] { return out.subscribers() == 0; }));
  }
  for (int n = 0; n < 100; ++n) EXPECT_TRUE(cardan::test::publish_next(out, 1, 100));
  EXPECT_LT(cardan::test::number_in("/proc/self/status", "RssShmem"), 64 * 1024);
}

// ---------------------------------------------------------------- invalid areas

TEST_F(Traps, OnlySealedMemoryOfTheExactSizeIsMapped) {
  constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | 0x0010;
  const auto memfd = [](unsigned flags, off_t bytes, int seals) {
    Fd fd(::memfd_create("odd", MFD_CLOEXEC | flags));
    if (!fd || ::ftruncate(fd.get(), bytes) != 0) return Fd();
    if (seals != 0) ::fcntl(fd.get(), F_ADD_SEALS, seals);
    return fd;
  };
  const auto refused = [](const Fd& fd, std::size_t bytes) {
    try {
      cardan::detail::map_read_only(fd, bytes);
      return false;
    } catch (const Error& e) {
      return e.code() == ErrorCode::Incompatible && !e.remedy().empty();
    }
  };
  EXPECT_FALSE(refused(memfd(MFD_ALLOW_SEALING, 8192, kAll), 8192)) << "a good one is accepted";
  for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL, 0x0010})
    EXPECT_TRUE(refused(memfd(MFD_ALLOW_SEALING, 8192, kAll & ~missing), 8192)) << missing;
  EXPECT_TRUE(refused(memfd(0, 8192, 0), 8192));
  EXPECT_TRUE(refused(memfd(MFD_ALLOW_SEALING, 4096, kAll), 8192)) << "short";
  EXPECT_TRUE(refused(memfd(MFD_ALLOW_SEALING, 12288, kAll), 8192)) << "long";
  EXPECT_TRUE(refused(memfd(MFD_ALLOW_SEALING, 0, kAll), 0)) << "empty";
  if (const Fd huge = memfd(MFD_ALLOW_SEALING | MFD_HUGETLB, 2 << 20, kAll)) {
    EXPECT_TRUE(refused(huge, 2 << 20)) << "huge pages";
  }
  EXPECT_TRUE(refused(Fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 4096)) << "a file on disk";
  EXPECT_TRUE(refused(Fd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)), 4096));
  const std::string shm = "/dev/shm/cardan-test-" + std::to_string(::getpid());
  if (const Fd file(::open(shm.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      file) {  // tmpfs with a size limit: SIGBUS when it is full
    ::unlink(shm.c_str());
    EXPECT_EQ(::ftruncate(file.get(), 8192), 0);
    EXPECT_TRUE(refused(file, 8192)) << "a file of tmpfs";
  }
}

TEST_F(Traps, AreasAreNeitherDumpedNorInherited) {
  const cardan::Publisher out{kBig};
  const cardan::Subscriber in{kBig};
  Child publisher("big_publisher");
  publisher.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 2; }));
  std::ifstream smaps("/proc/self/smaps");
  int areas = 0;
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < 17 && line.find(' ') > line.find('-') && line[0] != 'V')
      ours = line.find("/memfd:cardan:") != std::string::npos;
    if (!ours || !line.starts_with("VmFlags:")) continue;
    ++areas;
    EXPECT_NE(line.find(" dd"), std::string::npos) << "in core dumps: " << line;
    EXPECT_NE(line.find(" dc"), std::string::npos) << "inherited by fork: " << line;
  }
  EXPECT_GE(areas, 4) << "own area, own bells, a page, another's area";
}

// ---------------------------------------------------------------- fork

CARDAN_ROLE(forks) {
  const bool exits = args[0] == "exit";
  cardan::Publisher out{kSmall};
  cardan::Subscriber in{kSmall};
  cardan::test::publish_next(out, 1, 0);
  auto loan = out.loan();
  cardan::Sample<Small> sample = in.take();
  const pid_t child = ::fork();
  if (child == 0) {
    int wrong = 0;
    try {
      const cardan::Publisher<Small> another{kSmall};
      wrong |= 1;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::Forked) wrong |= 1;
    }
    try {
      const cardan::Subscriber<Small> another{kSmall};
      wrong |= 2;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::Forked) wrong |= 2;
    }
    if (in.take() || in.reason() != cardan::Reason::Forked) wrong |= 4;
    if (in.wait() || in.reason() != cardan::Reason::Forked) wrong |= 8;
    if (out.loan()) wrong |= 16;
    if (out.publish(std::move(loan))) wrong |= 32;
    wrong |= 64;
    try {
      (void)in.fd();
    } catch (const Error&) {
      wrong &= ~64;
    }
    if (exits) std::exit(wrong);  // runs destructors
    ::close(STDIN_FILENO);
    cardan::test::say("child " + std::to_string(::getpid()) + " " + std::to_string(wrong));
    for (;;) ::pause();  // lives on when its parent has died
  }
  if (exits) {
    int status = -1;
    ::waitpid(child, &status, 0);
    cardan::test::say("exited " + std::to_string(status));
  }
  loan = {};
  sample.reset();
  while (!cardan::test::heard()) {
    if (!cardan::test::publish_next(out, 1, 0) || !cardan::test::intact(in.take())) cardan::test::say("hurt");
    std::this_thread::sleep_for(2ms);
  }
  return 0;
}

TEST_F(Traps, ForkedChildIsToldAndItsExitHurtsNobody) {
  Child parent("forks", {"exit"});
  EXPECT_EQ(parent.expect("exited"), "0");
  cardan::Subscriber in{kSmall};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(cardan::test::intact(in.wait(5s)));
  EXPECT_EQ(parent.end(), 0);
  EXPECT_FALSE(parent.line(0ms)) << "the parent was hurt";
}

TEST_F(Traps, DeathIsNoticedAlthoughAForkedChildLives) {
  Child parent("forks", {"stay"});
  std::istringstream told(parent.expect("child"));
  pid_t child = 0;
  int wrong = -1;
  told >> child >> wrong;
  EXPECT_EQ(wrong, 0);
  std::atomic<int> died{0};
  cardan::Subscriber in{
      kSmall, {.on_event = [&](const cardan::Event& e) { died += e.kind == cardan::Event::Kind::Died ? 1 : 0; }}};
  EXPECT_TRUE(in.wait(5s));
  parent.kill();
  EXPECT_TRUE(cardan::test::eventually(
      [&] {
        while (in.take()) {
        }
        return died == 1;
      },
      5s));
  EXPECT_EQ(::kill(child, 0), 0) << "the forked child should still be there";
  ::kill(child, SIGKILL);
}

// ---------------------------------------------------------------- memory

CARDAN_ROLE(wants_memory) {
  return report(
      [&] { const cardan::Publisher<Big> out{cardan::Topic<Big>{"/much", {.max_bytes = std::stoull(args[0])}}}; });
}

TEST_F(Traps, TooMuchMemoryIsAnErrorNotAKill) {
  ::setenv("CARDAN_MEMORY_LIMIT", "100000000", 1);
  Child much("wants_memory", {"200000000"});
  Child little("wants_memory", {"1000000"});
  ::unsetenv("CARDAN_MEMORY_LIMIT");
  const auto line = much.line();
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with(error_line(ErrorCode::NoMemory))) << *line;
  EXPECT_NE(line->find("max_bytes"), std::string::npos) << "it names no remedy: " << *line;
  EXPECT_EQ(little.line(), "fine");
  EXPECT_EQ(much.end(), 0);
}

TEST_F(Traps, ACgroupsLimitIsAnErrorNotAKill) {
  SKIP_UNLESS_ROOT();
  const bool unified = ::access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0;
  const std::string group =
      std::string("/sys/fs/cgroup/") + (unified ? "" : "memory/") + "cardan-test-" + std::to_string(::getpid());
  const std::string limit = group + (unified ? "/memory.max" : "/memory.limit_in_bytes");
  if (::access((unified ? "/sys/fs/cgroup/cgroup.procs" : "/sys/fs/cgroup/memory/cgroup.procs"), W_OK) != 0 ||
      ::mkdir(group.c_str(), 0755) != 0)
    GTEST_SKIP() << "skipped: no writable cgroup here";
  bool limited = false;
  if (::access(limit.c_str(), W_OK) == 0) {
    std::ofstream out(limit);
    limited = static_cast<bool>(out << "150000000" << std::flush);
  }
  if (limited) {
    Child much("wants_memory", {"200000000"}, [&] {
      const int fd = ::open((group + "/cgroup.procs").c_str(), O_WRONLY);
      if (fd < 0 || ::write(fd, "0", 1) != 1) ::_exit(121);
      ::close(fd);
    });
    const auto line = much.line();
    EXPECT_TRUE(line && line->starts_with(error_line(ErrorCode::NoMemory))) << line.value_or("(killed)");
    EXPECT_EQ(much.end(), 0);
  }
  ::rmdir(group.c_str());
  if (!limited) GTEST_SKIP() << "skipped: the memory controller is not delegated here";
}

// ---------------------------------------------------------------- missing system calls

struct Counting : cardan::Component {
  void on_start(cardan::Context& context) override {
    for (const char* name : {"/a", "/b"})
      context.input(cardan::Topic<Small>{name, {.depth = 4}}, [this](const cardan::Sample<Small>&) { ++samples; });
  }
  std::atomic<int> samples{0};
};

CARDAN_ROLE(waits) {  // every way of waiting, on one and on several, with a stop at the end; then a component
  const cardan::Topic<Small> a{"/a", {.depth = 4}};
  const cardan::Topic<Small> b{"/b", {.depth = 4}};
  const cardan::Waiting ways[] = {cardan::block(), cardan::spin_then_block(50us), cardan::prewake(),
                                  cardan::anticipate()};
  cardan::Subscriber in_b{b};
  cardan::test::say("ready");
  int got = 0;
  for (const auto& way : ways) {
    cardan::Subscriber in_a{a, {.waiting = way}};
    for (int i = 0; i < 20; ++i) got += in_a.wait(20s) ? 1 : 0;
    for (int i = 0; i < 20; ++i) {
      const std::size_t which = cardan::wait_any_for(20s, in_a, in_b);
      got += which == 0 && in_a.take() ? 1 : which == 1 && in_b.take() ? 1 : 0;
    }
    cardan::Timer timer{2ms};
    for (int i = 0; i < 20; ++i) {
      const std::size_t which = cardan::wait_any_for(20s, in_a, timer);
      got += which == 0 && in_a.take() ? 1 : which == 1 && timer.expired() != 0 ? 1 : 0;
    }
    pollfd p{.fd = in_a.fd(), .events = POLLIN, .revents = 0};
    for (int i = 0; i < 20;) {
      if (::poll(&p, 1, 20'000) != 1) return 1;
      while (in_a.take()) ++i, ++got;
    }
  }
  const auto component = std::make_shared<Counting>();
  cardan::Runtime runtime;
  runtime.add({.name = "counting"}, component);
  runtime.start();
  for (int i = 0; i < 20'000 && component->samples < 20; ++i) std::this_thread::sleep_for(1ms);
  runtime.stop();
  cardan::test::say("got " + std::to_string(got >= 4 * 80 && component->samples >= 20));
  return 0;
}

class MissingCalls : public Traps {
 protected:
  void run(Child waiter) {
    waiter.expect("ready");
    cardan::Publisher a{cardan::Topic<Small>{"/a", {.depth = 4}}};
    cardan::Publisher a2{cardan::Topic<Small>{"/a", {.depth = 4}}};  // two streams: more than one bell to sleep on
    cardan::Publisher b{cardan::Topic<Small>{"/b", {.depth = 4}}};
    std::atomic<bool> end{false};
    std::thread publisher([&] {
      for (std::uint64_t n = 0; !end; ++n) {
        cardan::test::publish_next(n % 3 == 0 ? b : n % 3 == 1 ? a : a2, 1, 0);
        std::this_thread::sleep_for(1ms);
      }
    });
    EXPECT_EQ(waiter.expect("got", 60s), "1");
    EXPECT_EQ(waiter.end(), 0);
    end = true;
    publisher.join();
  }
};

/// System calls that a container's filter does not know are answered with `error`.
void forbid(int error, std::initializer_list<long> calls) {
  std::vector<sock_filter> program{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
  for (const long call : calls) {
    program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(call)});
    program.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)});
  }
  program.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(122);
}

TEST_F(MissingCalls, EverythingThere) { run(Child("waits")); }
TEST_F(MissingCalls, NoFutexWaitvByTheSwitch) {
  ::setenv("CARDAN_NO_FUTEX_WAITV", "1", 1);
  Child waiter("waits");
  ::unsetenv("CARDAN_NO_FUTEX_WAITV");
  run(std::move(waiter));
}
TEST_F(MissingCalls, EpermForNewCalls) {
  run(Child("waits", {}, [] {
    forbid(EPERM, {SYS_futex_waitv, SYS_membarrier, SYS_io_uring_setup, SYS_mbind, SYS_pidfd_open, SYS_close_range,
                   SYS_epoll_pwait2});
  }));
}
TEST_F(MissingCalls, EnosysForNewCalls) {
  run(Child("waits", {}, [] {
    forbid(ENOSYS, {SYS_futex_waitv, SYS_membarrier, SYS_io_uring_setup, SYS_mbind, SYS_pidfd_open, SYS_close_range,
                    SYS_epoll_pwait2});
  }));
}
