// SPDX-License-Identifier: Apache-2.0
// The known traps of the design: lifetimes, areas that are none, fork, core dumps, memory limits, missing system calls, limits of the system.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "cardan/memory/area.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/transport/log.hpp"
#include "cardan/transport/wait_any.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

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
using cardan::test::Small;

constexpr std::size_t kWords = 50'000;
constexpr cardan::Topic<Small> kSmall{"/small", {.depth = 2}};
constexpr cardan::Topic<Big> kBig{"/big", {.max_bytes = kWords * 8}};

class Traps : public cardan::test::OwnRunDirectory {
 protected:
  [[nodiscard]] std::string folder() const { return cardan::test::run_directory() + "/" + domain_; }
};

/// Runs `f` and prints what it threw: `CODE what`, or `fine`.
template <class F>
int report(F f) {
  try {
    f();
    cardan::test::say("fine");
  } catch (const Error& e) {
    cardan::test::say("error " + std::to_string(static_cast<int>(e.code())) + " " + e.what());
  }
  return 0;
}
std::string error_line(ErrorCode code) { return "error " + std::to_string(static_cast<int>(code)); }

}  // namespace

// ---------------------------------------------------------------- lifetimes

CARDAN_ROLE(big_publisher) {
  cardan::Publisher<Big> out{kBig};
  cardan::test::say("ready");
  for (std::string word = cardan::test::hear(); !word.empty(); word = cardan::test::hear())
    for (int i = 0; i < 50; ++i) cardan::test::publish_next(out, 1, kWords);
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
      EXPECT_TRUE(cardan::test::publish_next(out, 1, kWords));
      std::this_thread::sleep_for(20ms);
    }
    holder.expect("holding");
    holder.kill();
    EXPECT_TRUE(cardan::test::eventually([&] { return out.subscribers() == 0; }));
  }
  for (int n = 0; n < 100; ++n) EXPECT_TRUE(cardan::test::publish_next(out, 1, 100));
  EXPECT_LT(cardan::test::number_in("/proc/self/status", "RssShmem"), 64 * 1024);
}

// ---------------------------------------------------------------- areas that are none

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
      cardan::map_read_only(fd, bytes);
      return false;
    } catch (const Error& e) {
      return e.code() == ErrorCode::Incompatible && !e.remedy().empty();
    }
  };
  EXPECT_FALSE(refused(memfd(MFD_ALLOW_SEALING, 8192, kAll), 8192)) << "a good one is accepted";
  for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL, 0x0010}) EXPECT_TRUE(refused(memfd(MFD_ALLOW_SEALING, 8192, kAll & ~missing), 8192)) << missing;
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
  if (const Fd file(::open(shm.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); file) {  // tmpfs with a size limit: SIGBUS when it is full
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
    if (line.find('-') < 17 && line.find(' ') > line.find('-') && line[0] != 'V') ours = line.find("/memfd:cardan:") != std::string::npos;
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
    try {
      (void)in.fd();
      wrong |= 64;
    } catch (const Error&) {
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
  cardan::Subscriber in{kSmall, {.on_event = [&](const cardan::Event& e) { died += e.kind == cardan::Event::Kind::Died ? 1 : 0; }}};
  EXPECT_TRUE(in.wait(5s));
  parent.kill();
  EXPECT_TRUE(cardan::test::eventually([&] {
    while (in.take()) {
    }
    return died == 1;
  }, 5s));
  EXPECT_EQ(::kill(child, 0), 0) << "the forked child should still be there";
  ::kill(child, SIGKILL);
}

// ---------------------------------------------------------------- memory

CARDAN_ROLE(wants_memory) {
  return report([&] { const cardan::Publisher<Big> out{cardan::Topic<Big>{"/much", {.max_bytes = std::stoull(args[0])}}}; });
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
  const std::string group = "/sys/fs/cgroup/cardan-test-" + std::to_string(::getpid());
  if (::access("/sys/fs/cgroup/cgroup.controllers", R_OK) != 0 || ::mkdir(group.c_str(), 0755) != 0) GTEST_SKIP() << "skipped: no writable cgroup v2 here";
  bool limited = false;
  if (::access((group + "/memory.max").c_str(), W_OK) == 0) {
    std::ofstream max(group + "/memory.max");
    limited = static_cast<bool>(max << "150000000" << std::flush);
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

CARDAN_ROLE(waits) {  // every way of waiting, on one and on several, with a stop at the end
  const cardan::Topic<Small> a{"/a", {.depth = 4}};
  const cardan::Topic<Small> b{"/b", {.depth = 4}};
  const cardan::Waiting ways[] = {cardan::block(), cardan::spin_then_block(50us), cardan::prewake(), cardan::anticipate()};
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
  cardan::test::say("got " + std::to_string(got >= 4 * 80));
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
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(122);
}

TEST_F(MissingCalls, EverythingThere) { run(Child("waits")); }
TEST_F(MissingCalls, NoFutexWaitvByTheSwitch) {
  ::setenv("CARDAN_NO_FUTEX_WAITV", "1", 1);
  Child waiter("waits");
  ::unsetenv("CARDAN_NO_FUTEX_WAITV");
  run(std::move(waiter));
}
TEST_F(MissingCalls, EpermForNewCalls) {
  run(Child("waits", {}, [] { forbid(EPERM, {SYS_futex_waitv, SYS_membarrier, SYS_io_uring_setup, SYS_mbind, SYS_pidfd_open, SYS_close_range}); }));
}
TEST_F(MissingCalls, EnosysForNewCalls) {
  run(Child("waits", {}, [] { forbid(ENOSYS, {SYS_futex_waitv, SYS_membarrier, SYS_io_uring_setup, SYS_mbind, SYS_pidfd_open, SYS_close_range}); }));
}

// ---------------------------------------------------------------- limits of the system

CARDAN_ROLE(both_ends) {
  return report([] {
    cardan::Publisher out{kSmall};
    cardan::Subscriber in{kSmall};
    (void)in.fd();
    cardan::test::publish_next(out, 1, 0);
    if (!in.wait(5s)) throw std::runtime_error("nothing came");
  });
}

TEST_F(Traps, TooFewDescriptorsIsAnErrorWithTheRemedy) {
  int fine = 0;
  for (rlim_t limit = 3; limit <= 24; ++limit) {
    Child few("both_ends", {}, [limit] {
      const rlimit r{limit, limit};
      ::setrlimit(RLIMIT_NOFILE, &r);
    });
    const auto line = few.line();
    const int code = few.end();
    if (code == 127 || !line) {
      EXPECT_LT(limit, 6U) << "exit " << code;  // not even the loader could open its files
      continue;
    }
    fine += *line == "fine" ? 1 : 0;
    EXPECT_EQ(code, 0) << limit << ": " << *line;
    if (*line != "fine") {
      EXPECT_TRUE(line->starts_with(error_line(ErrorCode::Limit)) || line->starts_with(error_line(ErrorCode::Unavailable))) << limit << ": " << *line;
    }
  }
  EXPECT_GE(fine, 1);
}

CARDAN_ROLE(exhausts_inotify) {
  const auto limit = rlimit{65536, 65536};
  ::setrlimit(RLIMIT_NOFILE, &limit);
  int taken = 0;
  while (::inotify_init1(IN_CLOEXEC) >= 0 && taken < 60'000) ++taken;
  int refused = 0;
  cardan::set_log([](auto, const auto&) {});
  cardan::Subscriber in{kSmall, {.on_event = [&](const cardan::Event& e) {
                          refused += e.kind == cardan::Event::Kind::Incompatible || e.kind == cardan::Event::Kind::Refused ? 1 : 0;
                        }}};
  cardan::test::say("ready");
  const bool got = static_cast<bool>(in.wait(20s));
  std::this_thread::sleep_for(1s);
  cardan::test::say("got " + std::to_string(got) + " refused " + std::to_string(refused));
  return 0;
}

TEST_F(Traps, WithoutInotifyPublishersAreFoundAllTheSame) {
  SKIP_UNLESS_ROOT();  // it uses up all instances of a user: not of the one who runs this
  ::chmod(cardan::test::run_directory().c_str(), 01777);
  Child blind("exhausts_inotify", {}, cardan::test::as_user(47113));
  blind.expect("ready");
  const cardan::Topic<Big> other{kSmall.name, {.access = cardan::Access::Everyone}};
  const cardan::Publisher<Big> misfit{other};  // another type: told once, not at each look
  Child good("open_publisher", {}, cardan::test::as_user(47113));
  EXPECT_EQ(blind.expect("got", 40s), "1 refused 1");
  EXPECT_EQ(blind.end(), 0);
}

CARDAN_ROLE(open_publisher) {
  cardan::Publisher out{kSmall};
  while (!cardan::test::heard()) {
    cardan::test::publish_next(out, 1, 0);
    std::this_thread::sleep_for(5ms);
  }
  return 0;
}

TEST_F(Traps, TooLongASocketPathNamesTheRemedy) {
  const std::string deep_folder = cardan::test::run_directory() + "/" + std::string(90, 'x');
  std::filesystem::create_directories(deep_folder);
  ::setenv("CARDAN_RUN_DIR", deep_folder.c_str(), 1);
  Child c("both_ends");
  ::setenv("CARDAN_RUN_DIR", cardan::test::run_directory().c_str(), 1);
  const auto line = c.line().value_or("");
  EXPECT_TRUE(line.starts_with(error_line(ErrorCode::Limit))) << line;
  EXPECT_NE(line.find("CARDAN_RUN_DIR"), std::string::npos) << line;
}

TEST_F(Traps, AnUnusableRunDirectoryNamesPathAndRemedy) {
  const std::string root = cardan::test::run_directory();
  const auto try_with = [&](const std::string& folder, const std::function<void()>& before = {}) {
    ::setenv("CARDAN_RUN_DIR", folder.c_str(), 1);
    Child c("both_ends", {}, before);
    ::setenv("CARDAN_RUN_DIR", root.c_str(), 1);
    const auto line = c.line().value_or("");
    EXPECT_TRUE(line.starts_with(error_line(ErrorCode::Unavailable))) << line;
    EXPECT_NE(line.find(folder), std::string::npos) << line;
    EXPECT_NE(line.find("CARDAN_RUN_DIR"), std::string::npos) << line;
    EXPECT_EQ(c.end(), 0);
  };
  std::ofstream(root + "/file") << "no folder";
  try_with(root + "/file");
  try_with("/proc/cardan");
  if (cardan::test::is_root()) {
    std::filesystem::create_directories(root + "/closed");
    ::chmod(root.c_str(), 0755);
    ::chmod((root + "/closed").c_str(), 0755);
    try_with(root + "/closed", cardan::test::as_user(47114));
  }
}

TEST_F(Traps, WhatAKilledProcessLeftIsRemovedByTheNext) {
  Child killed("big_publisher");
  killed.expect("ready");
  EXPECT_EQ(cardan::test::names_in(folder()), 2U) << "a socket and an entry";
  killed.kill();
  EXPECT_EQ(cardan::test::names_in(folder()), 2U);
  Child next("big_publisher");
  next.expect("ready");
  EXPECT_EQ(cardan::test::names_in(folder()), 2U) << "its own two";
  EXPECT_EQ(next.end(), 0);
  EXPECT_EQ(cardan::test::names_in(folder()), 0U);
}

TEST_F(Traps, AnEntryThatOnlyLooksLikeOursIsNotOurs) {
  const cardan::Publisher real{kSmall};
  // The same hash, another name: as if two names collided; and an entry of a process that is none.
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(cardan::detail::hash_name(kSmall.name)));
  const std::string process = std::filesystem::path(cardan::test::sockets_in(folder()).at(0)).filename().string().substr(2);
  EXPECT_EQ(::symlink("/another/name", (folder() + "/t." + hash + "." + process + ".77").c_str()), 0);
  EXPECT_EQ(::symlink(kSmall.name, (folder() + "/t." + hash + ".00000000deadbeef.1").c_str()), 0);
  EXPECT_EQ(::symlink(kSmall.name, (folder() + "/t." + hash + "." + process + ".78").c_str()), 0);
  Child reader("one_sample");
  reader.expect("ready");
  EXPECT_EQ(reader.expect("publishers"), "1");
  EXPECT_EQ(reader.end(), 0);
}

CARDAN_ROLE(one_sample) {
  const cardan::Subscriber in{kSmall};
  cardan::test::say("ready");
  std::this_thread::sleep_for(100ms);
  cardan::test::say("publishers " + std::to_string(in.publishers()));
  return 0;
}
