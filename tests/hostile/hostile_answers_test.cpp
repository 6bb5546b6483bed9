// SPDX-License-Identifier: Apache-2.0
// Peers' messages, and names that anybody can put into the run directory: neither ends a process, nor is it an error of
// ours, nor does it make a look at the domain endless.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/observer.hpp"
#include "tests/hostile/by_hand.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Event;
using cardan::test::as_stranger;
using cardan::test::Child;
using cardan::test::FalseProcess;
using cardan::test::is_op;
using cardan::test::kOpen;
using cardan::test::kOwn;
using cardan::test::kStranger;
using cardan::test::RawPeer;
using cardan::test::Small;

constexpr cardan::Topic<Small> kAlone{"/alone", {.access = cardan::Access::Everyone, .exclusive = true}};

class HostileAnswers : public cardan::test::OwnRunDirectory {
 protected:
  HostileAnswers() { ::chmod(cardan::test::run_directory().c_str(), 01777); }
  ~HostileAnswers() override { cardan::set_log({}); }
};

}  // namespace

CARDAN_ROLE(publishes_open) {
  cardan::Publisher<Small> out{kOpen};
  cardan::test::say("ready");
  while (!cardan::test::heard()) {
    cardan::test::publish_next(out, 1, 0);
    std::this_thread::sleep_for(1ms);
  }
  return 0;
}

/// Announces a topic and refuses every subscriber, in the words of args[1].
CARDAN_ROLE(refuses_all) {
  FalseProcess me;
  me.announce(args[0]);
  cardan::test::say("ready");
  me.serve(
      [&](const RawPeer& peer, const cardan::socket::Message& m) {
        if (is_op(m, "hello")) cardan::test::greet(peer);
        if (is_op(m, "attach"))
          peer.send(R"({"op":"refused","id":)" + std::to_string(cardan::test::id_of(m)) + R"(,"code":")" + args[1] +
                    R"(","why":"because","remedy":"none"})");
        return true;
      },
      cardan::test::heard);
  return 0;
}

CARDAN_ROLE(has_a_name_that_a_terminal_obeys) {
  ::prctl(PR_SET_NAME, "\x1b[31mred\x1b]0;");
  const cardan::Publisher<Small> out{kAlone};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

CARDAN_ROLE(lists_without_end) {
  FalseProcess me;
  me.announce("/endless");
  cardan::test::say("ready");
  std::uint64_t next = 0;
  const std::string filling(60'000, 'x');
  me.serve(
      [&](const RawPeer& peer, const cardan::socket::Message& m) {
        if (is_op(m, "hello")) cardan::test::greet(peer);
        if (is_op(m, "list"))
          peer.send(R"({"op":"topics","next":)" + std::to_string(++next) + R"(,"topics":[{"topic":"/endless","x":")" +
                    filling + R"("}]})");
        return true;
      },
      cardan::test::heard);
  return 0;
}

CARDAN_ROLE(looks_around) {
  const auto report = cardan::look_around({.timeout = 2s});
  cardan::test::say("publishers " + std::to_string(report.publishers.size()));
  cardan::test::say("resident " + std::to_string(cardan::test::number_in("/proc/self/status", "VmHWM")));
  return 0;
}

CARDAN_ROLE(silent_sockets) {  // that listen and answer nothing
  std::vector<std::unique_ptr<FalseProcess>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::make_unique<FalseProcess>());
    all.back()->announce("/silent");
  }
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

namespace {

TEST_F(HostileAnswers, ANameCutInTheMiddleOfALetterEndsNobody) {
  Child publisher("publishes_open");
  publisher.expect("ready");
  const auto target = cardan::test::target_of(kOpen.name);
  const RawPeer peer(target.socket);
  ASSERT_TRUE(peer && peer.hello(std::string(63, 'a') + "é"));
  const cardan::detail::Area page = cardan::test::subscriber_page();
  ASSERT_TRUE(peer.send(cardan::test::attach_to(target, kOpen.name, 1), {page.read_only_fd()}));
  ASSERT_TRUE(peer.receive_op("attached"));
  const auto report = cardan::look_around();
  ASSERT_EQ(report.publishers.size(), 1U) << "the publisher did not survive the question";
  ASSERT_EQ(report.publishers[0].subscribers.size(), 1U);
  EXPECT_EQ(report.publishers[0].subscribers[0].name, std::string(63, 'a'));
  EXPECT_EQ(publisher.end(), 0);
}

TEST_F(HostileAnswers, NamesArriveWithoutWhatATerminalWouldObey) {
  const cardan::Publisher<Small> out{kOpen};
  const auto target = cardan::test::target_of(kOpen.name);
  const RawPeer peer(target.socket);
  ASSERT_TRUE(peer && peer.hello("a\xc2\x9b"
                                 "31m\xe2\x80\xae"
                                 "b\xef\xbb\xbf"
                                 "c"));
  const cardan::detail::Area page = cardan::test::subscriber_page();
  ASSERT_TRUE(peer.send(cardan::test::attach_to(target, kOpen.name, 1), {page.read_only_fd()}));
  ASSERT_TRUE(peer.receive_op("attached"));
  const auto report = cardan::look_around();
  ASSERT_EQ(report.publishers.at(0).subscribers.size(), 1U);
  EXPECT_EQ(report.publishers[0].subscribers[0].name, "a?31m?b?c");
}

TEST_F(HostileAnswers, TheHolderOfTheNameIsReportedInPrintableText) {
  Child other("has_a_name_that_a_terminal_obeys", {}, as_stranger());
  other.expect("ready");
  try {
    const cardan::Publisher<Small> out{kAlone};
    ADD_FAILURE() << "the topic is for one publisher";
  } catch (const cardan::Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.code(), cardan::ErrorCode::NameTaken) << text;
    EXPECT_NE(text.find("?[31mred?]0;"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  }
  EXPECT_EQ(other.end(), 0);
}

TEST_F(HostileAnswers, ExceptionsOfCallbacksEndNobody) {
  std::atomic<int> lines{0};
  cardan::set_log([&](auto, const auto&) {
    ++lines;
    throw std::runtime_error("a sink that throws");
  });
  std::atomic<int> events{0};
  cardan::Subscriber<Small> in{kOpen, {.on_event = [&](const Event&) {
                                 ++events;
                                 throw 7;
                               }}};
  cardan::Publisher<Small> out{kOpen};
  Child another("publishes_open");
  another.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 2; })) << "the helper thread does not live";
  EXPECT_GE(events, 2);
  EXPECT_GE(lines, 1);
  EXPECT_EQ(another.end(), 0);
}

TEST_F(HostileAnswers, ARefusalByAnotherUserIsAnEvent) {
  SKIP_UNLESS_ROOT();
  for (const char* code : {"type", "access", "limit", "memory"}) {
    Child liar("refuses_all", {"/open", code}, as_stranger());
    liar.expect("ready");
    try {
      cardan::Subscriber<Small> in{kOpen};
      EXPECT_TRUE(cardan::test::eventually([&] { return in.event().has_value(); })) << code;
    } catch (const cardan::Error& e) {
      ADD_FAILURE() << code << ": another user's answer became our error: " << e.what();
    }
    EXPECT_EQ(liar.end(), 0);
  }
}

TEST_F(HostileAnswers, ARefusalByOurOwnUsersPublisherIsAnError) {
  Child other("refuses_all", {"/open", "type"});
  other.expect("ready");
  EXPECT_THROW(cardan::Subscriber<Small>{kOpen}, cardan::Error);
  EXPECT_EQ(other.end(), 0);
}

TEST_F(HostileAnswers, APlantedNameIsAnEventAndNobodyIsAsked) {
  SKIP_UNLESS_ROOT();
  Child planter("refuses_all", {"/own", "access"}, as_stranger());
  planter.expect("ready");
  try {
    cardan::Subscriber<Small> in{kOwn};
    const auto event = in.event();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, Event::Kind::Refused);
    EXPECT_NE(event->text.find("user " + std::to_string(kStranger)), std::string::npos) << event->text;
    const cardan::Publisher<Small> out{kOwn};
    EXPECT_EQ(in.publishers(), 1U);
  } catch (const cardan::Error& e) {
    ADD_FAILURE() << "one name in a folder that all can write: " << e.what();
  }
  EXPECT_EQ(planter.end(), 0);
}

TEST_F(HostileAnswers, AListWithoutEndEnds) {
  Child endless("lists_without_end");
  endless.expect("ready");
  Child looks("looks_around");
  const auto line = looks.line(10s);
  ASSERT_TRUE(line) << "it still listens";
  EXPECT_LT(std::stol(looks.expect("resident")), 200'000) << "KiB";
  EXPECT_EQ(looks.end(), 0);
  EXPECT_EQ(endless.end(), 0);
}

TEST_F(HostileAnswers, AHundredSilentProcessesCostALookTwoTimeouts) {
  SKIP_UNLESS_ROOT();
  Child silent("silent_sockets", {}, as_stranger());
  silent.expect("ready");
  const cardan::Publisher<Small> own{kOpen};
  const auto began = std::chrono::steady_clock::now();
  const auto report = cardan::look_around({.timeout = 100ms});
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  EXPECT_EQ(report.publishers.size(), 1U);
  EXPECT_FALSE(report.problems.empty());
  EXPECT_EQ(silent.end(), 0);
}

TEST_F(HostileAnswers, AListOfManyLongNamesSaysHowManyItLeftOut) {
  const cardan::Publisher<Small> out{cardan::Topic<Small>{"/open", {.depth = 1}}};
  const auto target = cardan::test::target_of("/open");
  const cardan::detail::Area page = cardan::test::subscriber_page();
  std::vector<RawPeer> peers;
  std::size_t attached = 0;
  for (int i = 0; i < 250; ++i) {
    peers.emplace_back(target.socket);
    if (!peers.back()) break;
    std::string quotes;
    for (int k = 0; k < 64; ++k) quotes += "\\\"";
    if (!peers.back().hello(quotes)) break;
    peers.back().send(cardan::test::attach_to(target, "/open", 1), {page.read_only_fd()});
    if (!peers.back().receive_op("attached")) break;
    ++attached;
  }
  ASSERT_GT(attached, 200U);
  const auto report = cardan::look_around();
  ASSERT_EQ(report.publishers.size(), 1U) << "there was no answer: it was too long";
  const auto& all = report.publishers[0];
  EXPECT_GT(all.subscribers.size(), 50U);
  EXPECT_EQ(all.subscribers.size() + all.left_out, attached);
}

}  // namespace
