// SPDX-License-Identifier: Apache-2.0
// The helper thread when its surroundings are against it: standard error that nobody reads, refusals at full speed, no
// descriptor left, connections that are cut, and fork() in the middle of anything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/stop.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/hostile/by_hand.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Error;
using cardan::ErrorCode;
using cardan::Event;
using cardan::Fd;
using cardan::test::Child;
using cardan::test::FalseProcess;
using cardan::test::is_op;
using cardan::test::kOpen;
using cardan::test::RawPeer;
using cardan::test::Small;

class HostileHelper : public cardan::test::OwnRunDirectory {};

/// Attaches that are refused, one after the other.
void be_refused(const RawPeer& peer, const cardan::test::Target& target, std::uint64_t times) {
  for (std::uint64_t id = 1; id <= times; ++id) {
    peer.send(cardan::test::attach_with(cardan::test::attach_to(target, "/open", id), R"("holds":0,"threads":0)"));
    if (!peer.receive_op("refused", 1s)) return;
  }
}

}  // namespace

CARDAN_ROLE(logs_into_a_full_pipe) {
  int pipes[2];
  if (::pipe2(pipes, O_CLOEXEC) != 0) return 1;
  ::fcntl(pipes[1], F_SETPIPE_SZ, 4096);
  ::fcntl(pipes[1], F_SETFL, O_NONBLOCK);
  const std::string filling(4096, '.');
  while (::write(pipes[1], filling.data(), filling.size()) > 0) {
  }
  ::fcntl(pipes[1], F_SETFL, 0);  // as in an application: a write waits now
  ::dup2(pipes[1], STDERR_FILENO);
  cardan::stop_on_signals();
  cardan::Publisher<Small> out{kOpen};
  cardan::Subscriber<Small> in{cardan::Topic<Small>{"/nothing", {}}};
  cardan::test::say("ready");
  while (!in.wait() && in.reason() != cardan::Reason::Stopped) {
  }
  return 0;
}

CARDAN_ROLE(attaches_without_descriptors) {
  cardan::set_log([](auto, const auto&) {});
  cardan::test::limit_descriptors(64);
  {
    const cardan::Subscriber<Small> first{cardan::Topic<Small>{"/other", {}}};
  }  // the process is there
  std::vector<Fd> all = cardan::test::use_up_descriptors();
  try {
    const cardan::Subscriber<Small> in{kOpen};
    cardan::test::say("nothing");
  } catch (const Error& e) {
    cardan::test::say((e.code() == ErrorCode::Limit ? "limit " : "other ") + std::string(e.what()));
  }
  return 0;
}

CARDAN_ROLE(finds_it_later) {  // a publisher comes while no descriptor is free; then one is
  cardan::set_log([](auto, const auto&) {});
  cardan::test::limit_descriptors(64);
  cardan::Subscriber<Small> in{kOpen};
  std::vector<Fd> all = cardan::test::use_up_descriptors();
  cardan::test::say("none left");
  cardan::test::hear();
  std::string told = "nothing";
  cardan::test::eventually(
      [&] {
        while (const auto e = in.event())
          if (e->kind == Event::Kind::Refused && e->text.find("ulimit -n") != std::string::npos) told = "ulimit";
        return told != "nothing";
      },
      2s);
  cardan::test::say("told " + told);
  all.clear();
  cardan::test::say("found " + std::to_string(cardan::test::eventually([&] { return in.publishers() == 1; }) ? 1 : 0));
  return 0;
}

CARDAN_ROLE(lacks_them_for_the_answer) {  // descriptors are used up between the question and the answer
  cardan::set_log([](auto, const auto&) {});
  cardan::test::limit_descriptors(64);
  const cardan::Subscriber<Small> in{kOpen};
  cardan::test::say("waits");
  cardan::test::hear();  // the publisher has been asked
  std::vector<Fd> all = cardan::test::use_up_descriptors();
  cardan::test::say("used up");
  cardan::test::hear();  // it has answered
  all.clear();
  cardan::test::say("attached " +
                    std::to_string(cardan::test::eventually([&] { return in.publishers() == 1; }) ? 1 : 0));
  return 0;
}

CARDAN_ROLE(exits_in_children) {  // while other threads are in the middle of something
  std::atomic<bool> end{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&end, i] {
      for (int n = 0; !end; ++n) {
        cardan::PublisherOptions options;
        options.domain = "d" + std::to_string(i) + "-" + std::to_string(n % 500);
        try {
          const cardan::Publisher<Small> out{kOpen, options};
        } catch (const Error&) {
          return;
        }
      }
    });
  int hung = 0;
  for (int i = 0; i < 60 && hung == 0; ++i) {
    const pid_t child = ::fork();
    if (child == 0) std::exit(0);
    int status = 0;
    if (!cardan::test::eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }, 60s)) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      ++hung;
    }
  }
  end = true;
  for (auto& thread : busy) thread.join();
  cardan::test::say("hung " + std::to_string(hung));
  return 0;
}

CARDAN_ROLE(exits_after_an_error) {
  const cardan::Publisher<Small> good{kOpen};
  try {
    const cardan::Publisher<Small> bad{kOpen, {.domain = "no/domain"}};
  } catch (const Error&) {
    return 0;
  }
  return 1;
}

CARDAN_ROLE(forks_while_areas_are_made) {
  cardan::Publisher<Small> first{kOpen};
  std::atomic<bool> end{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i)
    busy.emplace_back([&end] {
      while (!end) {
        const cardan::detail::Area area("made meanwhile", 4096);
        const Fd name(::open("/proc/self/ns/user", O_PATH | O_CLOEXEC));
      }
    });
  int kept = 0;
  for (int i = 0; i < 150; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      char path[64];
      char text[128];
      for (int fd = 3; fd < 256; ++fd) {
        std::snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        const ssize_t n = ::readlink(path, text, sizeof(text) - 1);
        if (n <= 0) continue;
        text[n] = '\0';
        if (std::string_view(text).starts_with("/memfd:cardan")) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    kept += WEXITSTATUS(status);
  }
  end = true;
  for (auto& thread : busy) thread.join();
  cardan::test::say("kept " + std::to_string(kept));
  return 0;
}

namespace {

TEST_F(HostileHelper, AFullPipeAsStandardErrorStopsNobody) {
  Child publisher("logs_into_a_full_pipe");
  publisher.expect("ready");
  const auto target = cardan::test::target_of("/open");
  for (int i = 0; i < 40; ++i) {  // more users than one would fill it faster; more causes do too
    const RawPeer peer(target.socket);
    if (!peer || !peer.hello(std::string(60, 'n'))) break;
    be_refused(peer, target, 20);
  }
  const cardan::Subscriber<Small> in{kOpen};
  EXPECT_EQ(in.publishers(), 1U) << "the helper thread waits for the reader of standard error";
  publisher.signal(SIGTERM);
  EXPECT_EQ(publisher.end(5s), 0) << "SIGTERM does not end it";
}

TEST_F(HostileHelper, RefusalsAtFullSpeedAreAFewLines) {
  std::atomic<int> lines{0};
  cardan::set_log([&](auto, const auto&) { ++lines; });
  const cardan::Publisher<Small> out{kOpen};
  const auto target = cardan::test::target_of("/open");
  const RawPeer peer(target.socket);
  ASSERT_TRUE(peer && peer.hello());
  be_refused(peer, target, 1000);
  cardan::set_log({});
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 10);
}

TEST_F(HostileHelper, WithoutADescriptorTheConstructorSaysSo) {
  Child publisher("finds_it_later");
  publisher.expect("none left");
  Child blind("attaches_without_descriptors");
  const auto line = blind.line();
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with("limit ")) << *line;
  EXPECT_NE(line->find("ulimit -n"), std::string::npos) << *line;
  EXPECT_EQ(blind.end(), 0);
}

TEST_F(HostileHelper, APublisherThatCouldNotBeReachedIsFoundLater) {
  Child subscriber("finds_it_later");
  subscriber.expect("none left");
  const cardan::Publisher<Small> out{kOpen};
  subscriber.say("published");
  EXPECT_EQ(subscriber.expect("told"), "ulimit");
  EXPECT_EQ(subscriber.expect("found"), "1");
  EXPECT_EQ(subscriber.end(), 0);
}

TEST_F(HostileHelper, AnAnswerThatFindsNoDescriptorIsAskedForAgain) {
  // In this process: a publisher's area and bells to hand over.
  FalseProcess process;
  const cardan::detail::PublisherCore core("/open", cardan::detail::message_type_of<Small>(), kOpen.options, {});
  const cardan::detail::BellBoard bells;
  Child subscriber("lacks_them_for_the_answer");
  subscriber.expect("waits");
  process.announce("/open");
  int asked = 0;
  bool attached = false;
  const auto until = std::chrono::steady_clock::now() + 20s;
  process.serve(
      [&](const RawPeer& peer, const cardan::socket::Message& m) {
        if (is_op(m, "hello")) cardan::test::greet(peer);
        if (!is_op(m, "attach")) return true;
        if (++asked == 1) {
          subscriber.say("asked");
          subscriber.expect("used up");
        }
        cardan::test::send_attached(peer, m, core, bells);
        if (asked == 1) {
          std::this_thread::sleep_for(100ms);
          subscriber.say("answered");
        }
        attached = asked > 1;
        return true;
      },
      [&] { return attached || std::chrono::steady_clock::now() > until; });
  EXPECT_EQ(subscriber.expect("attached"), "1") << "asked " << asked << " times";
  EXPECT_EQ(subscriber.end(), 0);
}

TEST_F(HostileHelper, ASubscriberThatWasCutOffAttachesAgain) {
  FalseProcess process;
  process.announce("/open");
  cardan::detail::PublisherCore core("/open", cardan::detail::message_type_of<Small>(), kOpen.options, {});
  const cardan::detail::BellBoard bells;
  const auto publish = [&] {
    const int slot = core.loan();
    ASSERT_GE(slot, 0);
    auto* message = new (core.message(slot)) Small;
    cardan::test::fill(*message, cardan::test::key_of(1, core.published() + 1), 0);
    core.publish(slot, 0, 0);
  };
  std::atomic<int> asked{0};
  std::atomic<bool> cut{false};
  std::atomic<bool> end{false};
  std::thread serving([&] {
    process.serve(
        [&](const RawPeer& peer, const cardan::socket::Message& m) {
          if (is_op(m, "hello")) cardan::test::greet(peer);
          if (!is_op(m, "attach")) return true;
          ++asked;
          cardan::test::send_attached(peer, m, core, bells, true);
          return true;
        },
        [&] { return end || cut.exchange(false); });
  });
  std::atomic<int> died{0};
  std::atomic<int> joined{0};
  cardan::Subscriber<Small> in{kOpen, {.on_event = [&](const Event& e) {
                                 died += e.kind == Event::Kind::Died ? 1 : 0;
                                 joined += e.kind == Event::Kind::Joined ? 1 : 0;
                               }}};
  ASSERT_EQ(in.publishers(), 1U);
  publish();
  publish();
  std::vector<std::uint64_t> numbers;
  const auto take = [&] {
    while (const auto sample = in.take()) numbers.push_back(sample.sequence());
  };
  take();
  // The flood: its connection is closed, while the process lives. Meanwhile seven more are published, of which the ring
  // keeps four.
  cut = true;
  serving.join();
  process.hang_up_on_all();
  EXPECT_TRUE(cardan::test::eventually([&] { return died == 1; }));
  for (int i = 0; i < 7; ++i) publish();
  serving = std::thread([&] {
    process.serve(
        [&](const RawPeer& peer, const cardan::socket::Message& m) {
          if (is_op(m, "hello")) cardan::test::greet(peer);
          if (!is_op(m, "attach")) return true;
          ++asked;
          cardan::test::send_attached(peer, m, core, bells, true);
          return true;
        },
        [&] { return end.load(); });
  });
  EXPECT_TRUE(cardan::test::eventually([&] { return joined == 2; })) << "it waits for ever";
  EXPECT_TRUE(cardan::test::eventually([&] {
    take();
    return numbers.size() == 6;
  }));
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 2, 6, 7, 8, 9})) << "each at most once";
  EXPECT_EQ(in.missed(), 3U);
  end = true;
  serving.join();
}

TEST_F(HostileHelper, ExitInAForkedChildDoesNotHang) {
  Child parent("exits_in_children");
  EXPECT_EQ(parent.expect("hung", 60s), "0");
  EXPECT_EQ(parent.end(), 0);
}

TEST_F(HostileHelper, ExitAfterADomainThatCouldNotBeUsedIsOrderly) {
  Child exits("exits_after_an_error");
  EXPECT_EQ(exits.end(), 0);
}

TEST_F(HostileHelper, AForkedChildKeepsNoAreaThatIsBeingMade) {
  Child parent("forks_while_areas_are_made");
  EXPECT_EQ(parent.expect("kept"), "0");
  EXPECT_EQ(parent.end(), 0);
}

}  // namespace
