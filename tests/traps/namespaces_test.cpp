// SPDX-License-Identifier: Apache-2.0
// Containers that share only the run directory, users that the other side does not know, clocks that run elsewhere.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace {

using namespace std::chrono_literals;
using cardan::Error;
using cardan::test::Big;
using cardan::test::Child;

constexpr std::size_t kFrameWords = 50'000;
constexpr cardan::Topic<Big> kThere{"/there", {.max_bytes = kFrameWords * 8, .depth = 2}};
constexpr cardan::Topic<Big> kOpen{"/open",
                                   {.max_bytes = kFrameWords * 8, .depth = 2, .access = cardan::Access::Everyone}};
constexpr cardan::Topic<Big> kBack{"/back", {.max_bytes = kFrameWords * 8, .depth = 2}};

void write_file(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(119);
  ::close(fd);
}

class Namespaces : public cardan::test::OwnRunDirectory {
 protected:
  void SetUp() override { SKIP_UNLESS_ROOT(); }
};

}  // namespace

// container ROLE: what a container has of its own: users, mounts, processes, IPC, network, host name, /proc, /dev/shm.
// Only the run directory is shared.
CARDAN_ROLE(container) {
  const unsigned uid = ::geteuid();
  const unsigned gid = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) {
    cardan::test::say("forbidden");
    return 0;
  }
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1");
  write_file("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
  if (::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS) != 0) {
    cardan::test::say("forbidden");
    return 0;
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 1;
  const pid_t inner = ::fork();  // the first process of the new container; input and output are inherited
  if (inner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::mount("proc", "/proc", "proc", 0, nullptr) != 0 || ::mount("shm", "/dev/shm", "tmpfs", 0, nullptr) != 0)
      ::_exit(118);
    ::execl("/proc/self/exe", "/proc/self/exe", "--role", args[0].c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(inner, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

CARDAN_ROLE(sends) {
  cardan::Publisher out{kThere};
  cardan::Subscriber in{kBack};
  cardan::test::say("ready");
  if (cardan::test::hear().empty()) return 1;
  int good = 0;
  for (int i = 0; i < 200; ++i) {
    if (!cardan::test::publish_next(out, 1, kFrameWords)) break;
    const auto answer = in.wait(10s);
    if (!answer || !cardan::test::intact(answer) || answer.age() < 0ns || answer.age() > 10s) break;
    ++good;
  }
  cardan::test::say("round trips " + std::to_string(good));
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(answers) {
  cardan::Publisher out{kBack};
  std::atomic<bool> died{false};
  cardan::Subscriber in{
      kThere, {.on_event = [&](const cardan::Event& e) { died = died || e.kind == cardan::Event::Kind::Died; }}};
  cardan::test::say("ready");
  while (!died) {
    const auto sample = in.wait(100ms);
    if (!sample) continue;
    if (!cardan::test::intact(sample) || sample.age() < 0ns || sample.age() > 10s)
      cardan::test::say("wrong age or frame");
    cardan::test::publish_next(out, 2, kFrameWords);
  }
  cardan::test::say("died");
  return 0;
}

namespace {

/// 200 round trips of `a` with `b`, then a is killed and b is told.
void play(Child& a, Child& b) {
  for (auto* c : {&a, &b}) {
    const auto line = c->line();
    if (line == "forbidden") GTEST_SKIP() << "skipped: user namespaces are forbidden here";
    ASSERT_EQ(line.value_or("(nothing)"), "ready");
  }
  std::this_thread::sleep_for(100ms);  // each finds the other
  a.say("go");
  EXPECT_EQ(a.expect("round trips", 60s), "200");
  a.kill();
  EXPECT_EQ(b.line(10s), "died");
  EXPECT_EQ(b.end(), 0);
}

/// The monotonic clock of a time namespace `seconds` ahead, for the process itself.
std::function<void()> clock_ahead(long seconds) {
  return [seconds] {
    if (::unshare(CLONE_NEWTIME) != 0) ::_exit(117);
    write_file("/proc/self/timens_offsets", "monotonic " + std::to_string(seconds) + " 0");
    const int fd = ::open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::setns(fd, CLONE_NEWTIME) != 0) ::_exit(116);
  };
}

TEST_F(Namespaces, TwoContainersThatShareOnlyTheRunDirectory) {
  Child a("container", {"sends"});
  Child b("container", {"answers"});
  play(a, b);
}

TEST_F(Namespaces, AContainerAndItsHost) {
  Child a("sends");
  Child b("container", {"answers"});
  play(a, b);
}

TEST_F(Namespaces, AnotherTimeNamespaceHasItsStampsCorrected) {
  for (const long seconds : {100'000L, 5L}) {
    Child a("sends", {}, clock_ahead(seconds));
    const auto line = a.line();
    if (!line) GTEST_SKIP() << "skipped: time namespaces are forbidden here";
    ASSERT_EQ(*line, "ready");
    Child b("answers");
    ASSERT_EQ(b.line(), "ready");
    std::this_thread::sleep_for(100ms);
    a.say("go");
    EXPECT_EQ(a.expect("round trips", 60s), "200") << seconds << " s ahead";
    a.kill();
    EXPECT_EQ(b.line(10s), "died");
  }
}

}  // namespace

CARDAN_ROLE(unmapped_asks) {  // here everybody, also oneself, is user 65534
  if (::geteuid() != 65534) return 1;
  cardan::set_log([](auto, const auto&) {});
  try {
    cardan::Subscriber<Big> in{kThere};
    const auto event = in.event();
    cardan::test::say(in.publishers() == 0 && event && event->kind == cardan::Event::Kind::Refused
                          ? "refused " + event->text
                          : "attached " + std::to_string(in.publishers()));
  } catch (const Error& e) {
    cardan::test::say(std::string("refused ") + e.what());
  }
  return 0;
}

CARDAN_ROLE(unmapped_offers) {
  const cardan::Publisher<Big> out{kBack};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(offers_to_all) {
  cardan::Publisher<Big> out{kOpen};
  cardan::test::say("ready");
  while (!cardan::test::hear().empty()) cardan::test::publish_next(out, 1, kFrameWords);
  return 0;
}

/// Waits by its descriptor, as an event loop does.
CARDAN_ROLE(polls) {
  cardan::Subscriber in{kOpen};
  pollfd there{.fd = in.fd(), .events = POLLIN, .revents = 0};
  if (!cardan::test::eventually([&] { return in.publishers() == 1; })) return 1;
  std::this_thread::sleep_for(100ms);  // the helper threads hand the socket over
  while (::poll(&there, 1, 50) > 0)
    while (in.take()) {
    }
  cardan::test::say("ready");
  cardan::test::say("woken " + std::to_string(::poll(&there, 1, 3000)));
  return 0;
}

CARDAN_ROLE(polls_as_another_user_later) {
  cardan::Subscriber in{kOpen};
  if (!cardan::test::eventually([&] { return in.publishers() == 1; })) return 1;
  if (::setuid(47140) != 0) return 1;  // as a service does once it has its devices open
  pollfd there{.fd = in.fd(), .events = POLLIN, .revents = 0};
  std::this_thread::sleep_for(100ms);
  while (::poll(&there, 1, 50) > 0)
    while (in.take()) {
    }
  cardan::test::say("ready");
  cardan::test::say("woken " + std::to_string(::poll(&there, 1, 3000)));
  return 0;
}

TEST_F(Namespaces, AnUnmappedUsersDescriptorIsRung) {
  ::chmod(cardan::test::run_directory().c_str(), 01777);
  Child out("offers_to_all", {}, [] {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(115);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "0 0 1");
    write_file("/proc/self/gid_map", "0 0 1");
  });
  const auto line = out.line();
  if (!line) GTEST_SKIP() << "skipped: user namespaces are forbidden here";
  ASSERT_EQ(*line, "ready");
  Child reader("polls", {}, cardan::test::as_user(47140));
  ASSERT_EQ(reader.line(), "ready");
  out.say("publish");
  EXPECT_EQ(reader.expect("woken"), "1");
  EXPECT_EQ(reader.end(), 0);
}

TEST_F(Namespaces, AProcessThatGivesUpItsRightsLaterIsRungToo) {
  cardan::Publisher<Big> out{kOpen};
  Child reader("polls_as_another_user_later");
  ASSERT_EQ(reader.line(), "ready");
  cardan::test::publish_next(out, 1, kFrameWords);
  EXPECT_EQ(reader.expect("woken"), "1");
  EXPECT_EQ(reader.end(), 0);
}

TEST_F(Namespaces, AnUnmappedUserIsNobody) {
  const auto unmapped = [] {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(115);
  };
  const cardan::Publisher<Big> out{kThere};
  Child asks("unmapped_asks", {}, unmapped);
  const auto line = asks.line();
  const int code = asks.end();
  if (!line && code == 115) GTEST_SKIP() << "skipped: user namespaces are forbidden here";
  EXPECT_TRUE(line && line->starts_with("refused")) << line.value_or("(nothing)");
  EXPECT_EQ(code, 0);
  Child offers("unmapped_offers", {}, unmapped);
  offers.expect("ready");
  EXPECT_THROW(cardan::Subscriber<Big>{kBack}, Error) << "to the publisher we are nobody";
  EXPECT_EQ(offers.end(), 0);
}

namespace {
const cardan::Topic<Big> kDoors[] = {{"/door0", {.max_bytes = 64, .access = cardan::Access::Everyone}},
                                     {"/door1", {.max_bytes = 64, .access = cardan::Access::Everyone}}};
}

CARDAN_ROLE(rings_on_request) {
  cardan::Publisher<Big> zero{kDoors[0]};
  cardan::Publisher<Big> one{kDoors[1]};
  cardan::test::say("ready");
  for (std::string word = cardan::test::hear(); !word.empty(); word = cardan::test::hear())
    cardan::test::publish_next(word == "0" ? zero : one, 1, 8);
  return 0;
}

CARDAN_ROLE(sleeps_at_two_doors) {
  cardan::Subscriber<Big> in[] = {cardan::Subscriber<Big>{kDoors[0]}, cardan::Subscriber<Big>{kDoors[1]}};
  for (int i = 0; i < 6; ++i) {
    cardan::test::say("asleep " + std::to_string(i % 2));
    const auto sample = in[i % 2].wait(20s);
    cardan::test::say(sample && sample.age() < 5s ? "woken" : "overslept");
  }
  return 0;
}

TEST_F(Namespaces, AReaderThatIsUnmappedAtThePublisherIsWokenOnEachTopic) {
  ::chmod(cardan::test::run_directory().c_str(), 01777);
  Child publisher("rings_on_request", {}, [] {  // a user namespace that knows root alone
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(115);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "0 0 1");
  });
  const auto line = publisher.line();
  if (!line) GTEST_SKIP() << "skipped: user namespaces are forbidden here";
  ASSERT_EQ(*line, "ready");
  Child reader("sleeps_at_two_doors", {}, cardan::test::as_user(47115));
  for (int i = 0; i < 6; ++i) {
    const std::string door = reader.expect("asleep");
    std::this_thread::sleep_for(100ms);
    publisher.say(door);
    EXPECT_EQ(reader.line(), "woken") << "door " << door;
  }
  EXPECT_EQ(reader.end(), 0);
  EXPECT_EQ(publisher.end(), 0);
}

CARDAN_ROLE(rootless) {  // an ordinary user is root in its container, and the run directory's owner has no name there
  const std::string uid = std::to_string(::geteuid());
  const std::string gid = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER) != 0) return 115;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", "0 " + uid + " 1");
  write_file("/proc/self/gid_map", "0 " + gid + " 1");
  ::execl("/proc/self/exe", "/proc/self/exe", "--role", "rings_on_request", nullptr);
  return 127;
}

TEST_F(Namespaces, ARootlessContainerUsesARunDirectoryOfTheRootOutside) {
  ::chmod(cardan::test::run_directory().c_str(), 01777);
  Child publisher("rootless", {}, cardan::test::as_user(47115));
  const auto line = publisher.line();
  if (!line) GTEST_SKIP() << "skipped: user namespaces are forbidden here";
  ASSERT_EQ(*line, "ready");
  cardan::Subscriber<Big> in{kDoors[0]};
  EXPECT_EQ(in.publishers(), 1U);
  publisher.say("0");
  EXPECT_TRUE(in.wait(10s));
  EXPECT_EQ(publisher.end(), 0);
}
